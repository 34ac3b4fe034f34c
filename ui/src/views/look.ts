/** How the lines of a chart over time are told apart: whose they are by colour, which they are by weight and dashes. */

import type { Load, TimeChart, Track } from '../report';

export interface TrackLook {
  width: number;
  dash: number[];
  alpha: number;
}

const DASHES: readonly number[][] = [[], [6, 3], [2, 2], [9, 3, 2, 3], [12, 3]];

/** Times lie above each other and grow finer upwards; other lines of the same subject differ by their dashes. */
export function looks(kind: TimeChart['kind'], tracks: readonly Track[]): TrackLook[] {
  if (kind === 'times') {
    return tracks.map((_, place) => ({
      width: place === 0 ? 2 : 1.25,
      dash: [],
      alpha: [1, 0.9, 0.65][place] ?? 0.6,
    }));
  }
  return tracks.map(({ subject, key }, place) => {
    // What was asked for stands behind what came of it.
    if (isPlanned(key)) return { width: 1.25, dash: [3, 3], alpha: 0.8 };
    const same = tracks.slice(0, place).filter((track) => track.subject === subject && !isPlanned(track.key));
    const before = same.length;
    return { width: before === 0 ? 1.75 : 1.5, dash: DASHES[before % DASHES.length] ?? [], alpha: 1 };
  });
}

function isPlanned(key: string): boolean {
  return key.includes('planned');
}

/** The colour of a subject: the system's own for it and its load, grey for the generator, ink for the machine. */
export function property(subject: Track['subject'], mine: string): string {
  switch (subject) {
    case 'load':
    case 'system':
      return mine;
    case 'generator':
      return '--muted';
    case 'machine':
      return '--ink';
  }
}

/** Variants of one system differ by their dashes; its best is a full line, and so is the first where none is best. */
export function dashOf(load: Load, row: number): readonly number[] {
  const system = load.rows[row]?.system;
  const same = load.rows.flatMap((each, place) =>
    each.system === system ? [{ place, is_best: each.is_best }] : [],
  );
  const best = Math.max(
    0,
    same.findIndex(({ is_best }) => is_best),
  );
  const place = same.findIndex((each) => each.place === row);
  if (place === best) return DASHES[0] ?? [];
  const dashes = DASHES.slice(1);
  return dashes[(place < best ? place : place - 1) % dashes.length] ?? [];
}
