/** What the page says about causes beyond those of bottlenecks: of events, of slower rows, and of statements. */

import type { Cause } from './report';

/** What held requests up while an event was felt. */
export interface EventCauses {
  /** An index into `Load.rows`. */
  row: number;
  /** The most likely first; empty if nobody knows. */
  causes: Cause[];
  /** What they rest on, or why nobody knows. */
  about: string;
}

/** Why a row is slower than another, by the part of the time per request that grew. */
export interface Slower {
  /** Indexes into `Load.rows`: the slower row, and the faster one. */
  row: number;
  than: number;
  sentence: string;
  /** Of the faster and of the slower row, in microseconds per request. */
  us_per_request: [number, number];
  texts: [string, string];
  /** By how much more it is: the ends of the 95 % interval, if there is one. */
  interval_us: [number, number] | null;
  /** Whether it is CPU time, and not a wait. */
  is_cpu: boolean;
}

/** How long a database executed statements, over the runs of a row. */
export interface StatementTimes {
  /** An index into `Load.rows`. */
  row: number;
  runs: number;
  /** The most time first. */
  statements: StatementTime[];
  left_out: number;
}

export interface StatementTime {
  /** Without values. May contain text from the system. */
  statement: string;
  calls: string;
  mean: string;
  total_s: number;
  total: string;
  /** Share of the execution time of all statements. */
  share: number | null;
}
