/** The data of a capacity search chart: points of target rate and response time, and the capacity interval. */

import type { Capacity, CapacitySearch, Level, Objective, TimeKey } from '../report';

export const TIME_WORDS: Record<TimeKey, string> = {
  mean: 'mean response time',
  p50: 'p50 response time',
  p90: 'p90 response time',
  p95: 'p95 response time',
  p99: 'p99 response time',
  p99_9: 'p99.9 response time',
  max: 'max response time',
};

/** The result of the runs at a level. */
export type Outcome = 'passed' | 'failed' | 'mixed' | 'invalid';

export interface Spot {
  level: Level;
  /** The target rate. */
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

/** The levels with this time, in order of rate. */
export function spots({ levels }: Capacity, time: TimeKey): Spot[] {
  return levels
    .flatMap((level): Spot[] => {
      const y = level.response_ms?.[time] ?? null;
      return y === null || y <= 0 ? [] : [{ level, x: level.per_s, y, outcome: outcome(level) }];
    })
    .sort((a, b) => a.x - b.x);
}

/** The times that at least one level has, those of the conditions first. */
export function times({ objectives, rows }: CapacitySearch): TimeKey[] {
  const asked = objectives.flatMap(({ time }) => (time === null ? [] : [time]));
  const usual: TimeKey[] = ['p99', 'p95', 'p90', 'p50', 'mean', 'max'];
  return [...new Set([...asked, ...usual])].filter((time) => rows.some((row) => spots(row, time).length > 0));
}

/** The conditions that limit this time. */
export function limits({ objectives }: CapacitySearch, time: TimeKey): Objective[] {
  return objectives.filter((one) => one.time === time && one.limit_ms !== null);
}

/** The interval of the capacity. Without a passing level it starts at 0; without a failing one it ends at the highest rate. */
export function interval({ held_per_s, failed_per_s, levels }: Capacity): [number, number] | null {
  if (held_per_s === null && failed_per_s === null) return null;
  const most = Math.max(...levels.map(({ per_s }) => per_s), held_per_s ?? 0);
  return [held_per_s ?? 0, failed_per_s ?? most];
}
