import { expect, it } from 'vitest';
import { headline } from './headline';

it('keeps a short result in large type', () => {
  const text = 'puma is 1.13 × faster than unicorn.';
  expect(headline(text)).toEqual({ text, rest: '', is_short: true });
});

it('breaks a long result after a sentence, a clause, or a word', () => {
  const words = 'word '.repeat(24).trim();
  expect(headline(`${words}. ${words}. ${words}`)).toEqual({
    text: `${words}.`,
    rest: `${words}. ${words}`,
    is_short: false,
  });
  expect(headline(`${words}, ${words}, ${words}`).text).toBe(`${words},`);
  const { text, rest } = headline('word '.repeat(200).trim());
  expect(text.endsWith('word')).toBe(true);
  expect(`${text} ${rest}`).toBe('word '.repeat(200).trim());
});

it('keeps a text without breaks', () => {
  const text = 'x'.repeat(5000);
  expect(headline(text)).toEqual({ text, rest: '', is_short: false });
});
