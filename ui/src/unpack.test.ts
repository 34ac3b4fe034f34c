/** Unpacking returns the values that Rust packed, and no input does harm. */

import { expect, test } from 'vitest';
import golden from '../../crates/report/tests/golden/packed.json';
import type { Points } from './report';
import { pointsOf, unpack } from './unpack';

interface Packed {
  name: string;
  letters: string;
  mid: Points['mid'];
  low: Points['mid'] | null;
  high: Points['mid'] | null;
}

const tracks: Packed[] = golden;

/** Values outside the precision or range of the format. */
const CHANGED: Record<string, Points['mid']> = {
  'more than fifteen digits apart': [1.234e12, 0.12, 0],
  'smaller than the smallest': [1e-32, 0, 0],
  'larger than the largest': [null, null, 1e45],
};

test.each(tracks)('$name', ({ name, letters, mid, low, high }) => {
  const points = unpack(letters, mid.length);
  const about = (column: Points['mid'] | null | undefined): unknown =>
    column?.map((one) => one?.toPrecision(12));
  const expected = { mid: CHANGED[name] ?? mid, low, high };
  expect([points.mid, points.low, points.high].map(about)).toEqual(
    [expected.mid, expected.low, expected.high].map(about),
  );
});

test('values are exact decimal numbers', () => {
  const exact = tracks.filter(
    ({ name }) => !(name in CHANGED) && name !== 'the largest' && name !== 'the smallest',
  );
  expect(exact.length).toBeGreaterThan(10);
  for (const { letters, mid, low, high } of exact) {
    const points = unpack(letters, mid.length);
    expect(points).toEqual({ mid, ...(low && { low }), ...(high && { high }) });
  }
});

test('missing or wrong input gives one value or gap per bin', () => {
  for (const letters of ['', '/', '//////', '<script>', '天秤', 'fz+IgEgK', 'fz+IgEgK'.repeat(40)]) {
    const { mid, low, high } = unpack(letters, 5);
    for (const column of [mid, low ?? mid, high ?? mid]) {
      expect(column).toHaveLength(5);
      expect(column.every((one) => one === null || typeof one === 'number')).toBe(true);
    }
  }
});

test('a track is unpacked once, and plain tracks are returned unchanged', () => {
  const plain: Points = { mid: [1, null] };
  const series = { bin_s: 1, bins: 4, tracks: { packed: 'gApJQ', plain } };
  expect(pointsOf(series, 'packed')).toEqual({ mid: [1, 2, 3, 5] });
  expect(pointsOf(series, 'packed')).toBe(pointsOf(series, 'packed'));
  expect(pointsOf(series, 'plain')).toBe(plain);
  expect(pointsOf(series, 'toString')).toBeUndefined();
  expect(pointsOf(series, '__proto__')).toBeUndefined();
});
