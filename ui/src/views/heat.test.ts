import { expect, it } from 'vitest';
import { rgb, shade } from './heat';

it('reads the colours that style sheets have', () => {
  expect(rgb('#fff')).toEqual([255, 255, 255]);
  expect(rgb(' #0a141e ')).toEqual([10, 20, 30]);
  expect(rgb('rgb(1, 2, 3)')).toEqual([1, 2, 3]);
  expect(rgb('')).toEqual([128, 128, 128]);
});

it('goes evenly through its stops and no further', () => {
  const stops = [rgb('#ffffff'), rgb('#0000ff'), rgb('#000000')];
  expect(shade(0, stops)).toBe('rgb(255, 255, 255)');
  expect(shade(0.25, stops)).toBe('rgb(128, 128, 255)');
  expect(shade(0.5, stops)).toBe('rgb(0, 0, 255)');
  expect(shade(1, stops)).toBe('rgb(0, 0, 0)');
  expect([shade(-1, stops), shade(7, stops)]).toEqual([shade(0, stops), shade(1, stops)]);
});
