/** Which runs stand side by side over time: at first a typical run of the best setting of the best two systems. */

import type { Load, Report, Run } from '../report';
import { figure } from '../format';

/** Runs of a row that have something to show over time, in order of blocks; rows without any are left out. */
export interface Choosable {
  /** A place in `Load.rows`. */
  row: number;
  /** Places in `Report.runs`. */
  runs: number[];
}

export function choosable(report: Report, load: Load): Choosable[] {
  return load.rows.flatMap((each, row) => {
    const runs = each.runs.filter((run) => (report.runs[run]?.series?.bins ?? 0) > 0);
    return runs.length > 0 ? [{ row, runs }] : [];
  });
}

/**
 * The run whose metric is in the middle of the valid ones (the lower of two), or of all where none is valid; the first where
 * none has figures. A lucky run would flatter its variant.
 */
export function middleRun(report: Report, runs: readonly number[]): number {
  const measured = runs.flatMap((place) => {
    const run = report.runs[place];
    const metric = run?.figures?.metric ?? null;
    return run && metric !== null ? [{ place, metric, isValid: run.standing === 'valid' }] : [];
  });
  const valid = measured.filter(({ isValid }) => isValid);
  const among = (valid.length > 0 ? valid : measured).toSorted((a, b) => a.metric - b.metric);
  return among[Math.floor((among.length - 1) / 2)]?.place ?? runs[0] ?? 0;
}

/** At most two runs, the better one first; runs that are no study keep their order. */
export function firstChoice(report: Report, load: Load): number[] {
  const all = choosable(report, load);
  const rows = report.kind === 'study' ? ranked(load, all) : all;
  return rows.slice(0, 2).map(({ runs }) => middleRun(report, runs));
}

/** The best against each other as the report has them, then the best of the other systems, then the rest. */
function ranked(load: Load, all: Choosable[]): Choosable[] {
  const [pair] = load.pairs;
  const order = pair ? [pair.first, pair.second] : [];
  const sign = load.metric.higher_is_better ? -1 : 1;
  const worth = (row: number): number => {
    const median = load.rows[row]?.metric?.median;
    return median === undefined ? Infinity : sign * median;
  };
  const place = (row: number): number => {
    const known = order.indexOf(row);
    if (known >= 0) return known;
    return load.rows[row]?.is_best ? 2 : 3;
  };
  return all.toSorted((a, b) => place(a.row) - place(b.row) || compare(worth(a.row), worth(b.row)));
}

function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Where a run stands among those of its row: `block 3 · 1,281.1/s · in the middle`. */
export function runWords(report: Report, load: Load, row: number, run: number): string {
  const it = report.runs[run];
  const mine = load.rows[row]?.runs ?? [];
  const metric = it?.figures?.metric ?? null;
  // Of two runs neither is in the middle.
  const isMiddle = mine.length > 2 && middleRun(report, mine) === run && metric !== null;
  return [
    place(mine, run, it?.block ?? null),
    metric === null ? null : figure(metric, load.metric.unit),
    it ? standing(it) : null,
    isMiddle ? 'in the middle' : null,
  ]
    .filter((part) => part !== null)
    .join(' · ');
}

function place(all: readonly number[], run: number, block: number | null): string | null {
  if (block !== null) return `block ${block + 1}`;
  return all.length > 1 ? `run ${all.indexOf(run) + 1}` : null;
}

/** What must be known of a run before its figures are looked at; null if there is nothing. */
export function standing(run: Run): string | null {
  if (run.standing === 'cut_short') return 'cut short';
  if (run.standing !== 'valid') return run.standing;
  return run.validity === 'valid' ? null : run.validity;
}
