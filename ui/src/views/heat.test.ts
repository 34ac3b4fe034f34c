import { expect, it } from 'vitest';
import { rgb, shade, strips } from './heat';

it('parses the color formats of style sheets', () => {
  expect(rgb('#fff')).toEqual([255, 255, 255]);
  expect(rgb(' #0a141e ')).toEqual([10, 20, 30]);
  expect(rgb('rgb(1, 2, 3)')).toEqual([1, 2, 3]);
  expect(rgb('')).toEqual([128, 128, 128]);
});

it('interpolates between stops and clamps at the ends', () => {
  const stops = [rgb('#ffffff'), rgb('#0000ff'), rgb('#000000')];
  expect(shade(0, stops)).toBe('rgb(255, 255, 255)');
  expect(shade(0.25, stops)).toBe('rgb(128, 128, 255)');
  expect(shade(0.5, stops)).toBe('rgb(0, 0, 255)');
  expect(shade(1, stops)).toBe('rgb(0, 0, 0)');
  expect([shade(-1, stops), shade(7, stops)]).toEqual([shade(0, stops), shade(1, stops)]);
});

it('lists each strip, or the extremes of many', () => {
  const words = (share: number | null): string => (share === null ? 'n/a' : `${Math.round(share * 100)} %`);
  const few = [
    { label: 'core 0', share: 0.5 },
    { label: 'core 1', share: null },
  ];
  expect(strips(few, words)).toEqual(['core 0: 50 %', 'core 1: n/a']);
  const many = Array.from({ length: 101 }, (_, core) => ({ label: `core ${core}`, share: core / 100 }));
  expect(strips(many, words)).toEqual(['busiest of 101: core 100, 100 %', 'idlest: core 0, 0 %']);
  expect(
    strips(
      Array.from({ length: 40 }, () => ({ label: 'core', share: null })),
      words,
    ),
  ).toEqual(['n/a']);
});
