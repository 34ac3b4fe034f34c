/** Ticks are round, ordered, and inside the range. */

import { describe, expect, it } from 'vitest';
import { band, differences, fromZero, logarithmic, niceStep, ratios, tickText } from './scale';

const room = { from: 0, to: 400 };
const texts = (scale: { ticks: { text: string }[] }): string[] => scale.ticks.map((tick) => tick.text);

describe('from zero', () => {
  it('starts at zero and ends at a round value', () => {
    const scale = fromZero(1281, 'per_s', room);
    expect(scale.at(0)).toBe(0);
    expect(scale.at(scale.high)).toBe(400);
    expect(texts(scale)).toEqual(['0', '500/s', '1,000/s', '1,500/s']);
  });
  it('accepts zero and missing values', () => {
    expect(fromZero(0, 'share', room).high).toBe(1);
    expect(fromZero(Number.NaN, 'share', room).at(0)).toBe(0);
    expect(fromZero(Infinity, 'ms', room).high).toBe(1);
  });
  it('uses powers of two for bytes', () => {
    expect(texts(fromZero(300 * 2 ** 20, 'bytes', room))).toEqual(['0', '100 MiB', '200 MiB', '300 MiB']);
    expect(texts(fromZero(1.9 * 2 ** 20, 'bytes', room))).toEqual([
      '0',
      '512 KiB',
      '1 MiB',
      '1.5 MiB',
      '2 MiB',
    ]);
  });
  it('uses whole numbers for counts', () => {
    expect(niceStep(3, 10, 'count')).toBe(1);
  });
  it('formats shares as percentages', () => {
    expect(texts(fromZero(0.0004, 'share', room))).toEqual(['0', '0.01 %', '0.02 %', '0.03 %', '0.04 %']);
  });
});

describe('logarithmic', () => {
  it('ends at steps of 1, 2, and 5', () => {
    const scale = logarithmic(7.3, 96, 'ms', room);
    expect([scale.low, scale.high]).toEqual([5, 100]);
    expect(texts(scale)).toEqual(['5 ms', '10 ms', '20 ms', '50 ms', '100 ms']);
  });
  it('shows only powers of ten over a wide range', () => {
    const scale = logarithmic(0.02, 50_000, 'ms', room);
    expect(texts(scale)).toEqual(['100 µs', '1 ms', '10 ms', '100 ms', '1 s', '10 s']);
  });
  it('clamps zero and negative values to its start', () => {
    const scale = logarithmic(1, 10, 'ms', room);
    expect([scale.at(0), scale.at(-3)]).toEqual([0, 0]);
  });
  it('can be vertical', () => {
    const scale = logarithmic(1, 100, 'ms', { from: 300, to: 20 });
    expect(scale.at(1)).toBe(300);
    expect(scale.at(10)).toBeCloseTo(160);
    expect(scale.at(100)).toBe(20);
  });
  it('accepts a single value and invalid ranges', () => {
    expect(logarithmic(5, 5, 'ms', room).ticks.length).toBeGreaterThan(0);
    expect(logarithmic(0, 0, 'ms', room).ticks.length).toBeGreaterThan(0);
    expect(logarithmic(Infinity, -Infinity, 'ms', room).high).toBeGreaterThan(0);
  });
});

describe('differences', () => {
  it('have signs, and a tick at 0', () => {
    const texts = (low: number, high: number): string[] =>
      differences(low, high, 'ms', { from: 0, to: 500 }).ticks.map((tick) => tick.text);
    expect(texts(-410, 20)).toEqual(['−500 ms', '−400 ms', '−300 ms', '−200 ms', '−100 ms', '0', '+100 ms']);
    expect(texts(0, 0)).toContain('0');
    expect(differences(-410, 20, 'ms', { from: 0, to: 600 }).at(-500)).toBe(0);
    expect(differences(1, 5, 'count', { from: 0, to: 300 }).low).toBe(0);
  });
});

describe('ratios', () => {
  it('always have a tick at 1', () => {
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
  it('have finer ticks for small differences', () => {
    expect(texts(ratios(0.97, 1.03, room))).toContain('1.02 ×');
    expect(texts(ratios(0.6, 4, room))).toContain('2.00 ×');
    expect(texts(ratios(0.97, 1.28, room))).toEqual(['1 ×', '1.10 ×', '1.20 ×']);
  });
});

describe('bands', () => {
  it('return the centers of equal parts', () => {
    const places = band(4, room);
    expect([places.at(0), places.at(3), places.width]).toEqual([50, 350, 100]);
  });
});

describe('ticks', () => {
  it('use one unit for the whole axis', () => {
    expect(tickText(500, 'ms', 20_000)).toBe('0.5 s');
    expect(tickText(0.25, 'ms', 0.5)).toBe('250 µs');
    expect(tickText(2_500_000, 'count', 5e6)).toBe('2.5M');
  });
});
