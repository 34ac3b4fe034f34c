/** How requests ended that did not end ok, as shares of those that were planned. */

import type { Counts, ErrorKind, Load, Row } from '../report';
import { extent, median } from './measures';

/** In the order in which they are stacked. */
export const OUTCOMES = ['rejected', 'failed', 'timed_out', 'not_sent'] as const;

export type Outcome = (typeof OUTCOMES)[number];

export const WORDS: Record<Outcome, string> = {
  rejected: 'rejected',
  failed: 'failed',
  timed_out: 'timed out',
  not_sent: 'not sent',
};

export interface Part {
  outcome: Outcome;
  count: number;
  /** Where it begins and ends, as shares of what was planned. */
  from: number;
  to: number;
}

/** Below each other from zero; without those that did not happen. */
export function parts(counts: Counts): Part[] {
  const planned = Math.max(1, counts.planned);
  let before = 0;
  return OUTCOMES.flatMap((outcome) => {
    const count = counts[outcome];
    if (!(count > 0)) return [];
    const part = { outcome, count, from: before / planned, to: (before + count) / planned };
    before += count;
    return [part];
  });
}

/** Of what was planned, the share that did not end ok; requests in flight at the end are no errors. */
export function amiss(row: Row): number {
  return row.figures?.error_share ?? 0;
}

/** Requests that ended, in all rows. */
export function ended(load: Load): number {
  return load.rows.reduce((sum, row) => sum + (row.figures?.samples ?? 0), 0);
}

/** The kinds of errors, the most frequent first. */
export function kinds(load: Load): ErrorKind[] {
  return [...load.errors].sort((a, b) => b.count - a.count);
}

/** A range as multiples of its middle; null where the middle is zero. */
export interface Relative {
  low: number;
  high: number;
}

export function relative({
  min,
  median: middle,
  max,
}: {
  min: number;
  median: number;
  max: number;
}): Relative | null {
  if (!(middle > 0) || !Number.isFinite(max / middle)) return null;
  return { low: Math.max(0, min / middle), high: max / middle };
}

/** Of several ranges the lowest, the highest, and how far the highest ones typically go. */
export function overall(all: Relative[]): { low: number; high: number; typical: number } | null {
  const low = extent(all.map((one) => one.low));
  const high = extent(all.map((one) => one.high));
  const typical = median(all.map((one) => one.high));
  return low && high && typical !== null ? { low: low[0], high: high[1], typical } : null;
}
