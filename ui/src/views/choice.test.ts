import { describe, expect, it } from 'vitest';
import { study } from '../../fixtures/study';
import type { Load, Report } from '../report';
import { bestRun, choosable, firstChoice, runWords } from './choice';

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

describe('bestRun', () => {
  const row = load.pairs[0]?.first ?? 0;
  const runs = load.rows[row]?.runs ?? [];
  const metric = (run: number): number => report.runs[run]?.figures?.metric ?? NaN;
  it('has the best metric', () => {
    const best = bestRun(report, load, runs);
    expect(metric(best)).toBe(Math.max(...runs.map(metric)));
    const low = { ...load, metric: { ...load.metric, higher_is_better: false } };
    expect(metric(bestRun(report, low, runs))).toBe(Math.min(...runs.map(metric)));
  });
  it('is a valid one if there is any', () => {
    const best = bestRun(report, load, runs);
    const without = changed(best, () => ({ standing: 'invalid' }));
    expect(bestRun(without, load, runs)).not.toBe(best);
    expect(bestRun(without, load, [best])).toBe(best);
  });
  it('stands runs without figures', () => {
    const [only = 0] = runs;
    expect(
      bestRun(
        changed(only, () => ({ figures: null })),
        load,
        [only],
      ),
    ).toBe(only);
  });
});

it('says where a run stands', () => {
  const row = load.pairs[0]?.first ?? 0;
  const runs = load.rows[row]?.runs ?? [];
  const best = bestRun(report, load, runs);
  expect(runWords(report, load, row, best)).toMatch(/^block \d · .*\/s · .*best$/);
  const cut = changed(best, () => ({ standing: 'cut_short' }));
  expect(runWords(cut, load, row, best)).toContain('cut short');
});
