import { expect, it } from 'vitest';
import { headline } from './headline';

it('keeps a short result in large type', () => {
  const text = 'puma is 1.13 × as fast as unicorn.';
  expect(headline(text)).toEqual({ text, rest: '', is_short: true });
});

it('ends with the first clause, and has the qualifications below', () => {
  expect(headline('puma is 1.13 × as fast as unicorn: 797.0 ok/s; no valid run of node (8 failed).')).toEqual(
    {
      text: 'puma is 1.13 × as fast as unicorn: 797.0 ok/s.',
      rest: 'no valid run of node (8 failed).',
      is_short: true,
    },
  );
  expect(headline('None of 4,282 requests ended ok; p50 30.4 µs.').text).toBe(
    'None of 4,282 requests ended ok.',
  );
});

it('breaks a long clause so that it fits two lines', () => {
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
