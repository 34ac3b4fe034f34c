import { expect, test } from 'vitest';
import { csv, markdown, tsv } from './sheet';

const sheet = (...cells: (string | number | null)[]) => ({ heads: ['a'], rows: cells.map((cell) => [cell]) });

test('texts that a spreadsheet would execute stay texts', () => {
  const texts = ['=1+1', '+1', '-1|x', '@SUM(A1)', '\t=1', '\r=1', '  =1'];
  const lines = tsv(sheet(...texts))
    .split('\n')
    .slice(1, -1);
  expect(lines).toHaveLength(texts.length);
  for (const line of lines) expect(line.startsWith("'")).toBe(true);
  expect(csv(sheet('=1+1'))).toBe("a\r\n'=1+1\r\n");
});

test('numbers stay numbers, without commas between thousands', () => {
  expect(csv(sheet('1,279.3', -0.5, '-3', 12, null, '–'))).toBe(
    'a\r\n1279.3\r\n-0.5\r\n-3\r\n12\r\n\r\n–\r\n',
  );
});

test('CSV quotes special characters', () => {
  expect(csv(sheet('a,b', 'say "x"', 'two\nlines', ' blank'))).toBe(
    'a\r\n"a,b"\r\n"say ""x"""\r\n"two\nlines"\r\n" blank"\r\n',
  );
});

test('TSV cells contain no tabs or line breaks', () => {
  expect(tsv(sheet('a\tb\nc'))).toBe('a\na b c\n');
});

test('Markdown escapes markup', () => {
  const made = markdown(sheet('<img src=x>', '[a](javascript:1)', 'a|b\n| c', '**x** `y` &lt;'));
  expect(made).toContain('\\<img src=x\\>');
  expect(made).toContain('\\[a\\](javascript:1)');
  expect(made).toContain('a\\|b \\| c');
  expect(made).toContain('\\*\\*x\\*\\* \\`y\\` \\&lt;');
  expect(made.split('\n')).toHaveLength(7);
});

test('Markdown aligns numbers to the right', () => {
  const made = markdown({
    heads: ['name', 'ms'],
    rows: [
      ['puma', '1,2'],
      ['unicorn', '12.5'],
      ['x', '–'],
    ].map((row) => row),
  });
  expect(made.split('\n')[1]).toBe('| ------- | ---: |');
  expect(made.split('\n')[3]).toBe('| unicorn | 12.5 |');
});

test('an empty table has its column titles', () => {
  expect(csv(sheet())).toBe('a\r\n');
  expect(markdown(sheet())).toBe('| a   |\n| --- |\n');
});
