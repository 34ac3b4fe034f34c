/** The order and the names of rows in charts: grouped by system, the best first if there is a ranking. */

import type { Load, Report, Row } from '../report';

export interface Named {
  /** An index into `Load.rows`. */
  at: number;
  row: Row;
  /** Without the system if that is the group heading. */
  label: string;
  /** The system, if any system has several rows; else empty. */
  group: string;
}

/** Systems in order of their best row, and rows in order of the metric; unchanged without a ranking. */
export function ordered(report: Report, load: Load): Named[] {
  const isGrouped =
    report.kind === 'study' && load.rows.some((row) => load.rows.some((other) => isSibling(row, other)));
  const all = load.rows.map((row, at) => ({
    at,
    row,
    label: isGrouped ? row.variant || 'no parameters' : row.name,
    group: isGrouped ? row.system : '',
  }));
  if (report.kind !== 'study') return all;
  const systems = [...new Set(all.map(({ row }) => row.system))];
  const best = new Map(systems.map((system) => [system, bestOf(load, system)]));
  const rank = (one: Named): number => score(load, best.get(one.row.system) ?? null);
  return all.sort(
    (a, b) =>
      rank(b) - rank(a) ||
      systems.indexOf(a.row.system) - systems.indexOf(b.row.system) ||
      score(load, b.row) - score(load, a.row),
  );
}

/** The best row of a system; null if none has a value. */
export function bestOf(load: Load, system: string): Row | null {
  const known = load.rows.filter((row) => row.system === system && row.metric !== null);
  const marked = known.find((row) => row.is_best);
  if (marked) return marked;
  return known.reduce<Row | null>((best, row) => (score(load, row) > score(load, best) ? row : best), null);
}

/** Higher is better; finite for all rows. */
function score(load: Load, row: Row | null): number {
  const value = row?.metric?.median;
  if (value === undefined || !Number.isFinite(value)) return -Number.MAX_VALUE;
  return load.metric.higher_is_better ? value : -value;
}

function isSibling(a: Row, b: Row): boolean {
  return a !== b && a.system === b.system;
}

/** The text in place of a missing value. */
export function missingText(report: Report, row: Row): string {
  const standings = new Set(row.runs.map((run) => report.runs[run]?.standing));
  if (standings.size === 1 && standings.has('failed')) return 'failed';
  if (standings.size === 1 && standings.has('cut_short')) return 'cut short';
  if (row.figures === null && !standings.has('valid')) return 'no valid run';
  return 'n/a';
}
