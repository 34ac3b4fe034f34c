/** Which rows stand at the top of the page, and in which order. */

import type { Load, Report } from '../report';
import { standing } from './choice';

/** Places in `load.rows`: the best of each system, the best first; without any, and where nothing is ranked, as they came. */
export function shown(report: Report, load: Load): number[] {
  const places = load.rows.map((_, place) => place);
  if (report.kind !== 'study') return places;
  const best = places.filter((place) => load.rows[place]?.is_best);
  const sign = load.metric.higher_is_better ? -1 : 1;
  const metric = (place: number): number => load.rows[place]?.metric?.median ?? sign * Infinity;
  const inPairs = load.pairs[0]?.first;
  return best.sort((a, b) => {
    // The report's own judgement goes before the order of medians.
    if (a === inPairs || b === inPairs) return a === b ? 0 : a === inPairs ? -1 : 1;
    return sign * (metric(a) - metric(b)) || a - b;
  });
}

/** Systems of which nothing can be ranked, and why: who looks for them must not think that they were left out. */
export function lost(report: Report, load: Load): { system: string; words: string }[] {
  if (report.kind !== 'study') return [];
  const ranked = new Set(load.rows.filter((row) => row.is_best).map((row) => row.system));
  const systems = [...new Set(load.rows.map((row) => row.system))].filter((system) => !ranked.has(system));
  return systems.map((system) => {
    const runs = load.rows.filter((row) => row.system === system).flatMap((row) => row.runs);
    const valid = runs.some((run) => report.runs[run]?.standing === 'valid');
    return {
      system,
      words: runs.length === 0 ? 'not run yet' : valid ? 'not ranked' : noneValid(report, runs),
    };
  });
}

/** Such as `no valid run: 2 failed, 1 cut short`. */
function noneValid(report: Report, runs: readonly number[]): string {
  const counts = new Map<string, number>();
  for (const place of runs) {
    const run = report.runs[place];
    const words = run ? standing(run) : null;
    if (words !== null) counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  return `no valid run: ${[...counts].map(([words, count]) => `${count} ${words}`).join(', ')}`;
}
