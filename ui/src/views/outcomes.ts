/** Outcomes other than ok, as shares of the planned requests. */

import type { Counts, ErrorKind, Load, Row } from '../report';

/** In stacking order. */
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
  /** Start and end, as shares of the planned requests. */
  from: number;
  to: number;
}

/** Stacked from zero, without outcomes that did not occur. */
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

/** The error rate of a row; requests in flight at the end are not errors. */
export function errorShare(row: Row): number {
  return row.figures?.error_share ?? 0;
}

/** The number of completed requests in all rows. */
export function completed(load: Load): number {
  return load.rows.reduce((sum, row) => sum + (row.figures?.samples ?? 0), 0);
}

/** The errors, the most frequent first. */
export function kinds(load: Load): ErrorKind[] {
  return [...load.errors].sort((a, b) => b.count - a.count);
}
