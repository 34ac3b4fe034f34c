/** Stacked areas: each line is the sum of its track and of those below it. */

import type { Track } from '../report';
import type { Columns, Line } from './bins';

/** `x`, the sums from below, and a column of zeros for the lowest area. A bin in which no track has a value is a gap. */
export function stacked(x: number[], lines: Line[]): Columns {
  const zeros = x.map(() => 0);
  const data: (number | null)[][] = [x, ...sums(lines, x.length)];
  const ground = data.length;
  const bands = lines.map((_, line) => ({ high: line + 1, low: line === 0 ? ground : line, line }));
  data.push(zeros);
  return { data, bands };
}

/** The sum of each line and of those below it, from the lowest. */
export function sums(lines: Pick<Line, 'points'>[], bins: number): (number | null)[][] {
  let below: (number | null)[] = Array.from({ length: bins }, (_, bin) =>
    lines.some(({ points }) => typeof points.mid[bin] === 'number') ? 0 : null,
  );
  return lines.map(({ points }) => {
    below = below.map((sum, bin) => (sum === null ? null : sum + (points.mid[bin] ?? 0)));
    return below;
  });
}

const COLORS: Partial<Record<string, string>> = {
  db_cpu: '--good',
  db_executing: '--good',
  db_io: '--accent',
  db_commit: '--accent',
  db_lwlock: '--doubtful',
  db_lock: '--bad',
  db_client: '--muted',
  on_cpu: '--good',
  runnable: '--doubtful',
  disk: '--accent',
  futex: '--bad',
  pipe: '--state-pipe',
  socket_write: '--state-pipe',
  timer: '--state-timer',
  socket_read: '--muted',
  accept: '--muted',
};
const PEER = '--state-peer';

/** The custom property of the color of an area: colors of systems mean systems. */
export function colorOf({ key }: Track): string {
  // Of threads: `threads/STATE/PROCESS`, or with the address of what the process waits for.
  const state = /^threads\/([a-z_]+)/.exec(key)?.[1] ?? key;
  if (state.startsWith('peer')) return PEER;
  return (Object.hasOwn(COLORS, state) ? COLORS[state] : null) ?? '--strong-line';
}

/** The class that sets `--mine` to this color. */
export function classOf(track: Track): string {
  return `in${colorOf(track).slice(1)}`;
}
