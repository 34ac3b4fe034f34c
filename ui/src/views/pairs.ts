/** Pairs of rows as intervals on an axis of ratios. */

import type { Load, Pair } from '../report';

/** Beyond this a ratio is drawn at the end of the axis. */
const FARTHEST = 200;

/** How the verdict is called. */
export function verdict(pair: Pair): string {
  switch (pair.verdict) {
    case 'differs':
      return 'differs';
    case 'differs_below':
      return 'differs, by less than matters';
    case 'equivalent':
      return 'equivalent';
    case 'inconclusive':
      return 'inconclusive';
    case 'none':
      return 'no verdict';
  }
}

/** What all pairs need of the axis, with the ratios that do not matter. */
export function span(load: Load): [number, number] {
  const zone = 1 + Math.max(0, load.metric.matters);
  const ends = [1 / zone, zone];
  for (const pair of load.pairs) {
    for (const value of [pair.ratio, pair.low, pair.high, ...pair.ratios]) {
      if (value !== null && Number.isFinite(value))
        ends.push(Math.min(FARTHEST, Math.max(1 / FARTHEST, value)));
    }
  }
  return [Math.min(...ends), Math.max(...ends)];
}

/** Both names; the ratio is the first's figure divided by the second's. */
export function pairName(load: Load, pair: Pair): string {
  return `${load.rows[pair.first]?.name ?? '?'} ÷ ${load.rows[pair.second]?.name ?? '?'}`;
}

/** The exact values, the title first. */
export function pairLines(load: Load, pair: Pair): string[] {
  const lines = [pairName(load, pair)];
  lines.push(`${load.metric.words}: ${pair.ratio_text ?? 'no ratio'}`);
  if (pair.ends_text !== null) {
    const sure = pair.confidence === null ? '' : ` at ${percent(pair.confidence)} confidence`;
    lines.push(`interval ${pair.ends_text.join(' to ')}${sure}`);
  }
  lines.push(`${verdict(pair)}, ${pair.blocks} ${pair.blocks === 1 ? 'block' : 'blocks'}`);
  if (pair.ratios_text.length > 0) lines.push(`by block: ${pair.ratios_text.join(', ')}`);
  return lines;
}

/** `96.9 %`. */
export function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}
