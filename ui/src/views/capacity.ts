/** What a search for a capacity looks like: points of rate and response time, and the rates between which the answer lies. */

import type { Capacity, CapacitySearch, Level, Objective, TimeKey } from '../report';

export const TIME_WORDS: Record<TimeKey, string> = {
  mean: 'mean response time',
  p50: 'median response time',
  p90: 'p90 of response time',
  p95: 'p95 of response time',
  p99: 'p99 of response time',
  p99_9: 'p99.9 of response time',
  max: 'longest response time',
};

/** How the runs at a level went. */
export type Outcome = 'passed' | 'failed' | 'mixed' | 'invalid';

export interface Spot {
  level: Level;
  /** The rate that was asked for. */
  x: number;
  /** Milliseconds. */
  y: number;
  outcome: Outcome;
}

export function outcome({ passed, failed }: Level): Outcome {
  if (passed > 0 && failed > 0) return 'mixed';
  if (passed > 0) return 'passed';
  return failed > 0 ? 'failed' : 'invalid';
}

/** The levels that have this time, in order of their rates. */
export function spots({ levels }: Capacity, time: TimeKey): Spot[] {
  return levels
    .flatMap((level): Spot[] => {
      const y = level.response_ms?.[time] ?? null;
      return y === null || y <= 0 ? [] : [{ level, x: level.per_s, y, outcome: outcome(level) }];
    })
    .sort((a, b) => a.x - b.x);
}

/** The times that any level has, those of the objectives first. */
export function times({ objectives, rows }: CapacitySearch): TimeKey[] {
  const asked = objectives.flatMap(({ time }) => (time === null ? [] : [time]));
  const usual: TimeKey[] = ['p99', 'p95', 'p90', 'p50', 'mean', 'max'];
  return [...new Set([...asked, ...usual])].filter((time) => rows.some((row) => spots(row, time).length > 0));
}

/** The objectives that speak of this time. */
export function limits({ objectives }: CapacitySearch, time: TimeKey): Objective[] {
  return objectives.filter((one) => one.time === time && one.limit_ms !== null);
}

/** Between which rates the capacity lies; open at an end that nothing was shown of. */
export function interval({ held_per_s, failed_per_s, levels }: Capacity): [number, number] | null {
  if (held_per_s === null && failed_per_s === null) return null;
  const most = Math.max(...levels.map(({ per_s }) => per_s), held_per_s ?? 0);
  return [held_per_s ?? 0, failed_per_s ?? most];
}
