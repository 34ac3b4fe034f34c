import { describe, expect, it } from 'vitest';
import { study } from '../../fixtures/study';
import type { Load, Report } from '../report';
import { runChoices, defaultRuns, firstChoice, hasCurves, runLabel } from './choice';

const report = study();
const first = (of: Report): Load => {
  const [load] = of.loads;
  if (!load) throw new Error('no load');
  return load;
};
const load = first(report);

/** The report with one run changed. */
function changed(
  run: number,
  change: (run: Report['runs'][number]) => Partial<Report['runs'][number]>,
): Report {
  return {
    ...report,
    runs: report.runs.map((each, place) => (place === run ? { ...each, ...change(each) } : each)),
  };
}

describe('defaultRuns', () => {
  it('selects the best rows of two systems, the better one first', () => {
    const rows = defaultRuns(report, load).map((run) => report.runs[run]?.row ?? -1);
    expect(rows).toEqual([load.pairs[0]?.first, load.pairs[0]?.second]);
    expect(new Set(rows.map((row) => load.rows[row]?.system)).size).toBe(2);
  });
  it('selects the best configurations if nothing was compared', () => {
    const rows = defaultRuns(report, { ...load, pairs: [] }).map((run) => report.runs[run]?.row ?? -1);
    expect(rows.every((row) => load.rows[row]?.is_best)).toBe(true);
  });
  it('keeps the order of runs outside a study', () => {
    const side = { ...report, kind: 'runs' as const };
    const rows = defaultRuns(side, load).map((run) => report.runs[run]?.row);
    expect(rows).toEqual(
      runChoices(report, load)
        .slice(0, 2)
        .map(({ row }) => row),
    );
  });
  it('is empty without time series', () => {
    const bare = { ...report, runs: report.runs.map((run) => ({ ...run, series: null })) };
    expect(defaultRuns(bare, load)).toEqual([]);
  });
});

describe('hasCurves', () => {
  const lasting = (duration_s: number | null, bins: number): boolean => {
    const runs = report.runs.map((run) => ({
      ...run,
      duration_s,
      series: run.series && { ...run.series, bin_s: 1, bins },
      warm_up_s: 1,
    }));
    return hasCurves({ ...report, runs }, load);
  };
  it('is false where every run is short', () => {
    expect([lasting(1.5, 2), lasting(3, 4)]).toEqual([false, true]);
  });
  it('knows the length of a run that ended early from its series', () => {
    expect([lasting(null, 3), lasting(null, 9)]).toEqual([false, true]);
  });
});

describe('firstChoice', () => {
  const row = load.pairs[0]?.first ?? 0;
  const runs = load.rows[row]?.runs ?? [];
  const median = load.rows[row]?.median_run ?? NaN;
  it('is the median run of the report', () => {
    expect(firstChoice(load, { row, runs })).toBe(median);
  });
  it('is the first run if the median run has no time series', () => {
    const others = runs.filter((run) => run !== median);
    expect(firstChoice(load, { row, runs: others })).toBe(others[0]);
  });
  it('accepts rows without a median run', () => {
    const rows = load.rows.map((each) => ({ ...each, median_run: null }));
    expect(firstChoice({ ...load, rows }, { row, runs })).toBe(runs[0]);
  });
});

it('calls neither of two runs the median run', () => {
  const rows = load.rows.map((row) => ({ ...row, runs: row.runs.slice(0, 2) }));
  const [run = 0] = rows[0]?.runs ?? [];
  expect(runLabel(report, { ...load, rows }, 0, run)).not.toContain('median');
});

it('labels a run with its block, metric, and status', () => {
  const row = load.pairs[0]?.first ?? 0;
  const middle = load.rows[row]?.median_run ?? NaN;
  expect(runLabel(report, load, row, middle)).toMatch(/^block \d · .*\/s · .*median run of \d+$/);
  const cut = changed(middle, () => ({ standing: 'cut_short' }));
  expect(runLabel(cut, load, row, middle)).toContain('cut short');
});
