/** Texts are cut to a width. */

import { describe, expect, it } from 'vitest';
import { cut, textWidth } from './text';

describe('texts', () => {
  it('end with an ellipsis if they do not fit', () => {
    expect(cut('puma', 100, 12)).toBe('puma');
    const short = cut('puma workers=2 threads=4', 60, 12);
    expect(short.endsWith('…')).toBe(true);
    expect(textWidth(short, 12)).toBeLessThanOrEqual(60);
  });
  it('are not cut within a character, and wide characters count', () => {
    expect(cut('😀😀😀😀😀😀', 30, 12)).toMatch(/^😀+…$/u);
    expect(textWidth('天秤', 10)).toBe(20);
  });
});
