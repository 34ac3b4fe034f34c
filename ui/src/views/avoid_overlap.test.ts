import { expect, it } from 'vitest';
import { avoidOverlap } from './avoid_overlap';

it('keeps positions that do not overlap', () => {
  expect(avoidOverlap([10, 50, 90], 14, 0, 100)).toEqual([10, 50, 90]);
});

it('moves neighbors apart within the range and keeps their order', () => {
  const places = avoidOverlap([95, 96, 97, 5], 14, 0, 100);
  expect(places).toEqual([72, 86, 100, 5]);
  expect(avoidOverlap([10, 11, 50], 15, 0, 100)).toEqual([10, 25, 50]);
  expect(avoidOverlap([98, 99], 15, 0, 100)).toEqual([85, 100]);
});

it('omits positions that do not fit', () => {
  const places = avoidOverlap(
    Array.from({ length: 40 }, () => 50),
    14,
    0,
    100,
  );
  const shown = places.filter((place) => place !== null).sort((a, b) => a - b);
  expect(shown.length).toBe(8);
  expect(shown.every((place, entry) => entry === 0 || place - (shown[entry - 1] ?? 0) >= 14 - 1e-9)).toBe(
    true,
  );
  expect(avoidOverlap([], 14, 0, 100)).toEqual([]);
});
