/** Which rows stand at the top of the page, and in which order. */

import type { Load, Report } from '../report';

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
