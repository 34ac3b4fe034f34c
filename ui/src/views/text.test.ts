/** Texts are cut where they end, and places stay apart and in order. */

import { describe, expect, it } from 'vitest';
import { apart, cut, textWidth } from './text';

describe('texts', () => {
  it('that fit stay whole, others end with an ellipsis', () => {
    expect(cut('puma', 100, 12)).toBe('puma');
    const short = cut('puma workers=2 threads=4', 60, 12);
    expect(short.endsWith('…')).toBe(true);
    expect(textWidth(short, 12)).toBeLessThanOrEqual(60);
  });
  it('are not cut within a letter, and wide letters count', () => {
    expect(cut('😀😀😀😀😀😀', 30, 12)).toMatch(/^😀+…$/u);
    expect(textWidth('天秤', 10)).toBe(20);
  });
});

describe('places', () => {
  it('move apart, in their order, within the room', () => {
    expect(apart([10, 11, 50], 15, 0, 100)).toEqual([10, 25, 50]);
    expect(apart([98, 99], 15, 0, 100)).toEqual([85, 100]);
    expect(apart([50, 10], 15, 0, 100)).toEqual([50, 10]);
    expect(apart([], 15, 0, 100)).toEqual([]);
  });
});
