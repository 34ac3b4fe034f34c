/** Ticks are round, in order and inside; places are inside the room. */

import { describe, expect, it } from 'vitest';
import { band, fromZero, logarithmic, niceStep, ratios, tickText } from './scale';

const room = { from: 0, to: 400 };
const texts = (scale: { ticks: { text: string }[] }): string[] => scale.ticks.map((tick) => tick.text);

describe('from zero', () => {
  it('begins at zero and ends at a round figure', () => {
    const scale = fromZero(1281, 'per_s', room);
    expect(scale.at(0)).toBe(0);
    expect(scale.at(scale.high)).toBe(400);
    expect(texts(scale)).toEqual(['0', '500/s', '1,000/s', '1,500/s']);
  });
  it('stands figures that are all zero, or none', () => {
    expect(fromZero(0, 'share', room).high).toBe(1);
    expect(fromZero(Number.NaN, 'share', room).at(0)).toBe(0);
    expect(fromZero(Infinity, 'ms', room).high).toBe(1);
  });
  it('takes powers of two for bytes', () => {
    expect(texts(fromZero(300 * 2 ** 20, 'bytes', room))).toEqual(['0', '100 MiB', '200 MiB', '300 MiB']);
    expect(texts(fromZero(1.9 * 2 ** 20, 'bytes', room))).toEqual([
      '0',
      '512 KiB',
      '1 MiB',
      '1.5 MiB',
      '2 MiB',
    ]);
  });
  it('has no halves of things that are counted', () => {
    expect(niceStep(3, 10, 'count')).toBe(1);
  });
  it('writes shares as percentages', () => {
    expect(texts(fromZero(0.0004, 'share', room))).toEqual(['0', '0.01 %', '0.02 %', '0.03 %', '0.04 %']);
  });
});

describe('logarithmic', () => {
  it('ends at steps of 1, 2 and 5', () => {
    const scale = logarithmic(7.3, 96, 'ms', room);
    expect([scale.low, scale.high]).toEqual([5, 100]);
    expect(texts(scale)).toEqual(['5 ms', '10 ms', '20 ms', '50 ms', '100 ms']);
  });
  it('shows decades only where there are many', () => {
    const scale = logarithmic(0.02, 50_000, 'ms', room);
    expect(texts(scale)).toEqual(['100 µs', '1 ms', '10 ms', '100 ms', '1 s', '10 s']);
  });
  it('puts zero and less at its beginning', () => {
    const scale = logarithmic(1, 10, 'ms', room);
    expect([scale.at(0), scale.at(-3)]).toEqual([0, 0]);
  });
  it('grows upwards as well', () => {
    const scale = logarithmic(1, 100, 'ms', { from: 300, to: 20 });
    expect(scale.at(1)).toBe(300);
    expect(scale.at(10)).toBeCloseTo(160);
    expect(scale.at(100)).toBe(20);
  });
  it('stands one figure, and none that can be drawn', () => {
    expect(logarithmic(5, 5, 'ms', room).ticks.length).toBeGreaterThan(0);
    expect(logarithmic(0, 0, 'ms', room).ticks.length).toBeGreaterThan(0);
    expect(logarithmic(Infinity, -Infinity, 'ms', room).high).toBeGreaterThan(0);
  });
});

describe('ratios', () => {
  it('always have a tick at one', () => {
    for (const [low, high] of [
      [0.99, 1.02],
      [1.3, 1.5],
      [0.2, 0.4],
      [1, 1],
      [0.001, 900],
    ] as const) {
      expect(texts(ratios(low, high, room))).toContain('1 ×');
    }
  });
  it('are finer where they differ little', () => {
    expect(texts(ratios(0.97, 1.03, room))).toContain('1.02 ×');
    expect(texts(ratios(0.6, 4, room))).toContain('2.00 ×');
    expect(texts(ratios(0.97, 1.28, room))).toEqual(['1 ×', '1.10 ×', '1.20 ×']);
  });
});

describe('places in a row', () => {
  it('are the centres of equal parts', () => {
    const places = band(4, room);
    expect([places.at(0), places.at(3), places.width]).toEqual([50, 350, 100]);
  });
});

describe('ticks', () => {
  it('take the unit of the whole axis', () => {
    expect(tickText(500, 'ms', 20_000)).toBe('0.5 s');
    expect(tickText(0.25, 'ms', 0.5)).toBe('250 µs');
    expect(tickText(2_500_000, 'count', 5e6)).toBe('2.5M');
  });
});
