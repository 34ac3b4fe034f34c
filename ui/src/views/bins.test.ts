import { describe, expect, it } from 'vitest';
import type { Series, TimeChart } from '../report';
import { isolated, columns, isOfLoad, linesOf, middles, sharedScale, until } from './bins';

const RATE: TimeChart = {
  key: 'rate',
  title: 'Answers',
  unit: 'per_s',
  kind: 'lines',
  tracks: [
    { key: 'planned', label: 'planned', subject: 'load' },
    { key: 'ok', label: 'ok', subject: 'load' },
    { key: 'none', label: 'none', subject: 'load' },
  ],
};

const seconds: Series = {
  bin_s: 1,
  bins: 4,
  tracks: { ok: { mid: [1, null, 3] }, none: { mid: [null, null, null, null] } },
};

const threes: Series = {
  bin_s: 3,
  bins: 2,
  tracks: { ok: { mid: [10, 20], low: [5, 18], high: [12, 90] }, planned: { mid: [20, 20] } },
};

describe('columns', () => {
  it('puts each value into the middle of its bin and keeps gaps', () => {
    expect(middles(threes, 2)).toEqual([-0.5, 2.5]);
    expect(until(threes, 2)).toBe(4);
    expect(columns(linesOf(RATE, seconds), seconds, 0)).toEqual({
      data: [
        [0.5, 1.5, 2.5, 3.5],
        [1, null, 3, null],
      ],
      bands: [],
    });
  });
  it('has bands for bins of several seconds', () => {
    const { data, bands } = columns(linesOf(RATE, threes), threes, 0);
    expect(data.slice(1)).toEqual([
      [20, 20],
      [10, 20],
      [12, 90],
      [5, 18],
    ]);
    expect(bands).toEqual([{ high: 3, low: 4, line: 1 }]);
  });
  it('omits tracks without values, and keeps the indexes of the others', () => {
    expect(linesOf(RATE, seconds).map(({ track, index }) => [track.key, index])).toEqual([['ok', 1]]);
  });
});

describe('sharedScale', () => {
  const room = { from: 160, to: 0 };
  it('starts at zero and covers the bands of all runs', () => {
    const scale = sharedScale(RATE, [seconds, threes], room);
    expect(scale.low).toBe(0);
    expect(scale.high).toBeGreaterThanOrEqual(90);
  });
  it('is logarithmic for times, around the data', () => {
    const chart: TimeChart = { ...RATE, kind: 'times', unit: 'ms' };
    const series = { bin_s: 1, bins: 3, tracks: { ok: { mid: [null, 0.3, 70] } } };
    const scale = sharedScale(chart, [series], room);
    expect(scale.low).toBeGreaterThan(0);
    expect(scale.low).toBeLessThanOrEqual(0.3);
    expect(scale.high).toBeGreaterThanOrEqual(70);
  });
  it('has a separate position for zero on a log scale', () => {
    const chart: TimeChart = { ...RATE, kind: 'times', unit: 'ms' };
    const series = { bin_s: 1, bins: 2, tracks: { ok: { mid: [0, 3] } } };
    const scale = sharedScale(chart, [series], room);
    expect(scale.ticks[0]).toEqual({ value: scale.low, text: '0' });
    expect(scale.low).toBeLessThan(scale.ticks[1]?.value ?? 0);
  });
  it('accepts charts without data', () => {
    expect(sharedScale(RATE, [], room).high).toBeGreaterThan(0);
  });
});

it('finds values without neighbors, which a line would not show', () => {
  expect(isolated([1, null, 2, null, 3, 4, null, 5])).toEqual([0, 2, 7]);
  expect(isolated([1, 2, undefined])).toEqual([]);
});

it('distinguishes charts of the load from charts of resources', () => {
  expect(isOfLoad(RATE)).toBe(true);
  const cpu: TimeChart = { ...RATE, tracks: [{ key: 'cpu', label: 'system', subject: 'system' }] };
  expect(isOfLoad(cpu)).toBe(false);
  expect(isOfLoad({ ...RATE, unit: 'bytes_per_s' })).toBe(false);
});
