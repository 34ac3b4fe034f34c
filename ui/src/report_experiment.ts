/** What the page says about experiments. */

import type { Fact, Table } from './report';

/** What an experiment changed, one thing at a time, and what came of it. */
export interface Experiment {
  /** The variant. */
  about: string;
  /** A row for the control, and one for each change; the last column is the finding. */
  table: Table;
  /** The noise, the next limit, and what was left. */
  facts: Fact[];
  /** What each change did, the control again first. */
  effects: EffectOfChange[];
  /** Throughput by users; null if other numbers of them were not tried. */
  scaling: Scaling | null;
}

/** Throughput with a change ÷ that of the control. */
export interface EffectOfChange {
  /** What was changed; `none` of the control again. */
  name: string;
  in_blocks: number[];
  ratio: number | null;
  interval: [number, number] | null;
  /** What it would be if it were the limit; null of the control again. */
  predicted: number | null;
  /** Empty of the control again. */
  finding: '' | 'confirmed' | 'contributing' | 'refuted' | 'undecided';
}

/** How throughput grows with the users. */
export interface Scaling {
  /** Fewest users first. */
  steps: { users: number; per_s: number; per_user_per_s: number; runs: number }[];
  /** Users and throughput per second of the scalability law; empty if it does not fit. */
  law: [number, number][];
  /** From so many users on throughput grows no more; null if that was not reached. */
  saturated_at: number | null;
  /** The same in words; may be empty. */
  saturated_words: string;
}
