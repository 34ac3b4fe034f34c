/** Selects and orders the rows of the summary. */

import type { Load, Report } from '../report';
import { statusOf } from './choice';

/** Indexes into `load.rows`: the best row of each system, the best first; without a ranking, all rows in order. */
export function summaryRows(report: Report, load: Load): number[] {
  const indexes = load.rows.map((_, index) => index);
  if (report.kind !== 'study') return indexes;
  const best = indexes.filter((index) => load.rows[index]?.is_best);
  const sign = load.metric.higher_is_better ? -1 : 1;
  const metric = (index: number): number => load.rows[index]?.metric?.median ?? sign * Infinity;
  const inPairs = load.pairs[0]?.first;
  return best.sort((a, b) => {
    // The verdict of the report takes precedence over the order of medians.
    if (a === inPairs || b === inPairs) return a === b ? 0 : a === inPairs ? -1 : 1;
    return sign * (metric(a) - metric(b)) || a - b;
  });
}

/** Systems without a ranking, with the reason, so that none is missing from the summary. */
export function unranked(report: Report, load: Load): { system: string; words: string }[] {
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
  for (const index of runs) {
    const run = report.runs[index];
    const words = run ? statusOf(run) : null;
    if (words !== null) counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  return `no valid run: ${[...counts].map(([words, count]) => `${count} ${words}`).join(', ')}`;
}
