import { describe, expect, it } from 'vitest';
import { study } from '../../fixtures/study';
import type { Load, Report } from '../report';
import { choosable, firstChoice, middleRun, runWords } from './choice';

const report = study();
const first = (of: Report): Load => {
  const [load] = of.loads;
  if (!load) throw new Error('a study has a load');
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

describe('firstChoice', () => {
  it('takes the best of two systems, the better one first', () => {
    const rows = firstChoice(report, load).map((run) => report.runs[run]?.row ?? -1);
    expect(rows).toEqual([load.pairs[0]?.first, load.pairs[0]?.second]);
    expect(new Set(rows.map((row) => load.rows[row]?.system)).size).toBe(2);
  });
  it('takes the best settings where nothing was compared', () => {
    const rows = firstChoice(report, { ...load, pairs: [] }).map((run) => report.runs[run]?.row ?? -1);
    expect(rows.every((row) => load.rows[row]?.is_best)).toBe(true);
  });
  it('keeps the order of runs that are no study', () => {
    const side = { ...report, kind: 'runs' as const };
    const rows = firstChoice(side, load).map((run) => report.runs[run]?.row);
    expect(rows).toEqual(
      choosable(report, load)
        .slice(0, 2)
        .map(({ row }) => row),
    );
  });
  it('is empty where no second was kept', () => {
    const bare = { ...report, runs: report.runs.map((run) => ({ ...run, series: null })) };
    expect(firstChoice(bare, load)).toEqual([]);
  });
});

describe('middleRun', () => {
  const row = load.pairs[0]?.first ?? 0;
  const runs = load.rows[row]?.runs ?? [];
  const metric = (run: number): number => report.runs[run]?.figures?.metric ?? NaN;
  it('has as many runs above it as below', () => {
    const middle = metric(middleRun(report, runs));
    const below = runs.filter((run) => metric(run) < middle).length;
    expect(below).toBe(Math.floor((runs.length - 1) / 2));
  });
  it('is a valid one if there is any', () => {
    const middle = middleRun(report, runs);
    const without = changed(middle, () => ({ standing: 'invalid' }));
    expect(middleRun(without, runs)).not.toBe(middle);
    expect(middleRun(without, [middle])).toBe(middle);
  });
  it('stands runs without figures', () => {
    const [only = 0] = runs;
    const without = changed(only, () => ({ figures: null }));
    expect(middleRun(without, [only])).toBe(only);
  });
});

it('calls neither of two runs the one in the middle', () => {
  const rows = load.rows.map((row) => ({ ...row, runs: row.runs.slice(0, 2) }));
  const [run = 0] = rows[0]?.runs ?? [];
  expect(runWords(report, { ...load, rows }, 0, run)).not.toContain('in the middle');
});

it('says where a run stands', () => {
  const row = load.pairs[0]?.first ?? 0;
  const runs = load.rows[row]?.runs ?? [];
  const middle = middleRun(report, runs);
  expect(runWords(report, load, row, middle)).toMatch(/^block \d · .*\/s · .*in the middle$/);
  const cut = changed(middle, () => ({ standing: 'cut_short' }));
  expect(runWords(cut, load, row, middle)).toContain('cut short');
});
