/** The comparison metric is first, and only metrics with values are offered. */

import { describe, expect, it } from 'vitest';
import { FIXTURES } from '../../fixtures';
import { extent, aggregation, measures, points, positiveExtent, rowValue, titled } from './measures';

const study = FIXTURES.study();
const [load] = study.loads;
if (!load) throw new Error('no load');

describe('measures', () => {
  it('start with the comparison metric', () => {
    expect(measures(study, load)[0]?.key).toBe('throughput');
    const metric = { ...load.metric, name: 'p99', unit: 'ms', higher_is_better: false } as const;
    expect(measures(study, { ...load, metric })[0]).toMatchObject({ key: 'p99', is_log: true });
    const other = { ...load.metric, name: 'joules', words: 'energy' };
    expect(measures(study, { ...load, metric: other })[0]).toMatchObject({ key: 'joules', words: 'energy' });
  });
  it('include only metrics with values', () => {
    const silent = { ...study, runs: [] };
    expect(measures(silent, { ...load, rows: [] })).toEqual([]);
  });
  it('have a value per row and a point per run', () => {
    const [one] = measures(study, load);
    const row = load.rows[0];
    if (!one || !row) throw new Error('no row');
    expect(rowValue(load, row, one)).toBe(row.metric?.median);
    expect(aggregation(load, one)).toBe('median of runs');
    expect(points(study, row, one).map((point) => point.index)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(points(study, { ...row, runs: [-1, 1e9] }, one)).toEqual([]);
  });
});

describe('figures', () => {
  it('have extents that ignore missing values', () => {
    expect(extent([3, null, 1, Number.NaN])).toEqual([1, 3]);
    expect(extent([])).toBeNull();
    expect(positiveExtent([0, -1, 4, 2])).toEqual([2, 4]);
    expect(positiveExtent([0])).toEqual([1, 10]);
  });
  it('have titles', () => {
    expect([titled('throughput'), titled('p99 response time')]).toEqual(['Throughput', 'p99 response time']);
  });
});
