import { expect, test } from 'vitest';
import { run } from '../../fixtures/run';
import { study } from '../../fixtures/study';
import { unranked, summaryRows } from './summary';

test('the best row of each system, the best first', () => {
  const report = study();
  for (const load of report.loads) {
    const rows = summaryRows(report, load).map((index) => load.rows[index]);
    expect(new Set(rows.map((row) => row?.system)).size).toBe(3);
    const medians = rows.map((row) => row?.metric?.median ?? 0);
    expect(medians).toEqual(medians.toSorted((a, b) => b - a));
  }
});

test('if lower is better the lowest row is first, and rows without a value are last', () => {
  const report = study();
  const [load] = report.loads;
  if (!load) throw new Error('no load');
  const of = (median: number | null) => ({
    ...load.rows[0],
    is_best: true,
    metric: median === null ? null : { n: 1, median, min: median, max: median },
  });
  const rows = [of(null), of(3), of(2)] as typeof load.rows;
  expect(
    summaryRows(report, { ...load, rows, pairs: [], metric: { ...load.metric, higher_is_better: false } }),
  ).toEqual([2, 1, 0]);
  expect(summaryRows(report, { ...load, rows, pairs: [] })).toEqual([1, 2, 0]);
});

test('a single run is included', () => {
  const report = run();
  expect(report.loads.map((load) => summaryRows(report, load))).toEqual([[0]]);
});

test('systems without a ranking are listed with the reason', () => {
  const report = study();
  const [load] = report.loads;
  if (!load) throw new Error('no load');
  expect(unranked(report, load)).toEqual([]);
  const [{ system, runs } = { system: '', runs: [] }] = load.rows;
  const rows = load.rows.map((row) => (row.system === system ? { ...row, is_best: false } : row));
  expect(unranked(report, { ...load, rows })).toEqual([{ system, words: 'not ranked' }]);
  const failed = report.runs.map((run) => ({ ...run, standing: 'failed' as const }));
  const [first] = rows.filter((row) => row.system === system);
  expect(unranked({ ...report, runs: failed }, { ...load, rows: first ? [first] : [] })).toEqual([
    { system, words: `no valid run: ${runs.length} failed` },
  ]);
  const none = rows.map((row) => ({ ...row, runs: [] }));
  expect(unranked(report, { ...load, rows: none })).toEqual([{ system, words: 'not run yet' }]);
});
