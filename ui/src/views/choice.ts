/** Selects the runs that are shown side by side: at first the median runs of the best variants of the best two systems. */

import type { Load, Report, Run } from '../report';
import { formatValue } from '../format';

/** The runs of a row that have time series, in order of blocks. */
export interface RunChoices {
  /** An index into `Load.rows`. */
  row: number;
  /** Places in `Report.runs`. */
  runs: number[];
}

export function runChoices(report: Report, load: Load): RunChoices[] {
  return load.rows.flatMap((each, row) => {
    const runs = each.runs.filter((run) => (report.runs[run]?.series?.bins ?? 0) > 0);
    return runs.length > 0 ? [{ row, runs }] : [];
  });
}

/** A shorter run has one or two points, which show nothing over time. */
export const CURVE_MIN_S = 2.5;

/** Whether any run is long enough for charts over time. A failed run has its length from its series. */
export function hasCurves(report: Report, load: Load): boolean {
  const lengths = runChoices(report, load).flatMap(({ runs }) => runs.map((run) => length(report.runs[run])));
  return lengths.some((length) => length >= CURVE_MIN_S);
}

function length(run: Run | undefined): number {
  const { bin_s, bins } = run?.series ?? { bin_s: 0, bins: 0 };
  return Math.max(run?.duration_s ?? 0, bin_s * bins - (run?.warm_up_s ?? 0));
}

/** The median run of a row, or its first run if the median run has no time series. The best run would not be representative. */
export function firstChoice(load: Load, { row, runs }: RunChoices): number {
  const median = load.rows[row]?.median_run ?? null;
  return median !== null && runs.includes(median) ? median : (runs[0] ?? 0);
}

/** At most two runs, the better one first; runs outside a study keep their order. */
export function defaultRuns(report: Report, load: Load): number[] {
  const all = runChoices(report, load);
  const rows = report.kind === 'study' ? ranked(load, all) : all;
  return rows.slice(0, 2).map((one) => firstChoice(load, one));
}

/** The first pair of the report, then the best rows of the other systems, then the rest. */
function ranked(load: Load, all: RunChoices[]): RunChoices[] {
  const [pair] = load.pairs;
  const order = pair ? [pair.first, pair.second] : [];
  const sign = load.metric.higher_is_better ? -1 : 1;
  const score = (row: number): number => {
    const median = load.rows[row]?.metric?.median;
    return median === undefined ? Infinity : sign * median;
  };
  const index = (row: number): number => {
    const known = order.indexOf(row);
    if (known >= 0) return known;
    return load.rows[row]?.is_best ? 2 : 3;
  };
  return all.toSorted((a, b) => index(a.row) - index(b.row) || compare(score(a.row), score(b.row)));
}

function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Identifies a run among those of its row: `block 3 · 1,281.1/s · median run of 6`. */
export function runLabel(report: Report, load: Load, row: number, run: number): string {
  const it = report.runs[run];
  const mine = load.rows[row]?.runs ?? [];
  const metric = it?.figures?.metric ?? null;
  // Two runs have no median run.
  const isMedian = mine.length > 2 && load.rows[row]?.median_run === run && metric !== null;
  return [
    index(mine, run, it?.block ?? null),
    metric === null ? null : formatValue(metric, load.metric.unit),
    it ? statusOf(it) : null,
    isMedian ? `median run of ${mine.length}` : null,
  ]
    .filter((part) => part !== null)
    .join(' · ');
}

function index(all: readonly number[], run: number, block: number | null): string | null {
  if (block !== null) return `block ${block + 1}`;
  return all.length > 1 ? `run ${all.indexOf(run) + 1}` : null;
}

/** The status of a run; null if it is valid without warnings. */
export function statusOf(run: Run): string | null {
  if (run.standing === 'cut_short') return 'cut short';
  if (run.standing !== 'valid') return run.standing;
  return run.validity === 'valid' ? null : run.validity;
}
