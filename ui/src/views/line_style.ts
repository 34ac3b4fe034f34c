/** Line styles: the color shows the subject; width and dashes show the track. */

import type { Load, TimeChart, Track } from '../report';

export interface TrackStyle {
  width: number;
  dash: number[];
  alpha: number;
}

const DASHES: readonly number[][] = [[], [6, 3], [2, 2], [9, 3, 2, 3], [12, 3]];

/** Higher percentiles are thinner; other lines of the same subject differ by dashes. */
export function styles(kind: TimeChart['kind'], tracks: readonly Track[]): TrackStyle[] {
  if (kind === 'times') {
    return tracks.map((_, index) => ({
      width: index === 0 ? 2 : 1.25,
      dash: [],
      alpha: [1, 0.9, 0.65][index] ?? 0.6,
    }));
  }
  if (kind === 'stack') return tracks.map(() => ({ width: 1.25, dash: [], alpha: 1 }));
  return tracks.map(({ subject, key }, index) => {
    // The planned rate is less prominent than the actual rate.
    if (isPlanned(key)) return { width: 1.25, dash: [3, 3], alpha: 0.8 };
    const same = tracks.slice(0, index).filter((track) => track.subject === subject && !isPlanned(track.key));
    const before = same.length;
    return { width: before === 0 ? 1.75 : 1.5, dash: DASHES[before % DASHES.length] ?? [], alpha: 1 };
  });
}

function isPlanned(key: string): boolean {
  return key.includes('planned');
}

/** The color of a subject: that of the system for the system and the load, gray for the generator, ink for the machine. */
export function property(subject: Track['subject'], mine: string): string {
  switch (subject) {
    case 'load':
    case 'system':
    case 'database':
      return mine;
    case 'generator':
      return '--muted';
    case 'machine':
      return '--ink';
  }
}

/** Variants of one system differ by dashes. The best one is solid, or the first one if none is best. */
export function dashOf(load: Load, row: number): readonly number[] {
  const system = load.rows[row]?.system;
  const same = load.rows.flatMap((each, index) =>
    each.system === system ? [{ index, is_best: each.is_best }] : [],
  );
  const best = Math.max(
    0,
    same.findIndex(({ is_best }) => is_best),
  );
  const index = same.findIndex((each) => each.index === row);
  if (index === best) return DASHES[0] ?? [];
  const dashes = DASHES.slice(1);
  return dashes[(index < best ? index : index - 1) % dashes.length] ?? [];
}
