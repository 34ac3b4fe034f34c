import { expect, test } from 'vitest';
import { bytes, count, digits, duration, formatValue } from './format';

test('values have units', () => {
  expect(formatValue(1281.07, 'per_s')).toBe('1,281.1/s');
  expect(formatValue(7.374, 'ms')).toBe('7.37 ms');
  expect([0, 0.0001, 0.0123, 0.4472, 0.9995, 1].map((share) => formatValue(share, 'share'))).toEqual([
    '0.00 %',
    '0.0100 %',
    '1.23 %',
    '44.7 %',
    '99.95 %',
    '100.0 %',
  ]);
  expect(formatValue(70.3 * 2 ** 20, 'bytes')).toBe('70.3 MiB');
  expect(formatValue(1.3, 'cores')).toBe('1.30 cores');
  expect(formatValue(52.5, 'us')).toBe('52.50 µs');
});

test('missing values are never printed as numbers', () => {
  for (const value of [null, NaN, Infinity]) expect(formatValue(value, 'ms')).toBe('n/a');
});

test('durations use the unit that fits their size', () => {
  expect(duration(0)).toBe('0 ms');
  expect(duration(0.0004)).toBe('400 ns');
  expect(duration(0.0213)).toBe('21.3 µs');
  expect(duration(99.94)).toBe('99.9 ms');
  expect(duration(1234)).toBe('1,234 ms');
  expect(duration(12_340)).toBe('12.3 s');
});

test('a value that rounds up to 1,000 switches to the next unit', () => {
  expect(duration(0.9999)).toBe('1.00 ms');
  expect(duration(99.99)).toBe('100 ms');
  expect(bytes(1023.6)).toBe('1.0 KiB');
  expect(bytes(2 ** 20 - 1)).toBe('1.0 MiB');
});

test('values have three to five significant digits', () => {
  expect(digits(0)).toBe('0');
  expect(digits(0.01234)).toBe('0.0123');
  expect(digits(12_345.6)).toBe('12,346');
  expect(count(1234567)).toBe('1,234,567');
});
