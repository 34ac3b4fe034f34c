import { expect, it } from 'vitest';
import { apart } from './apart';

it('leaves alone what has room', () => {
  expect(apart([10, 50, 90], 14, 0, 100)).toEqual([10, 50, 90]);
});

it('moves neighbours apart and keeps their order and the ends', () => {
  const places = apart([95, 96, 97, 5], 14, 0, 100);
  expect(places).toEqual([72, 86, 100, 5]);
  expect(apart([10, 11, 50], 15, 0, 100)).toEqual([10, 25, 50]);
  expect(apart([98, 99], 15, 0, 100)).toEqual([85, 100]);
});

it('leaves out what has no room', () => {
  const places = apart(
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
  expect(apart([], 14, 0, 100)).toEqual([]);
});
