/** Pairs of rows on an axis of ratios. */

import type { Load, Pair } from '../report';

/** Ratios beyond this are drawn at the end of the axis. */
const RATIO_MAX = 200;

/** The text of the verdict. */
export function verdict(pair: Pair): string {
  switch (pair.verdict) {
    case 'differs':
      return 'differs';
    case 'differs_below':
      return 'significant, below the threshold';
    case 'equivalent':
      return 'equivalent';
    case 'inconclusive':
      return 'inconclusive';
    case 'none':
      return 'no verdict';
  }
}

/** The range of the axis: all pairs, and the range below the `min-effect` threshold. */
export function span(load: Load): [number, number] {
  const zone = 1 + Math.max(0, load.metric.matters);
  const ends = [1 / zone, zone];
  for (const pair of load.pairs) {
    for (const value of [pair.ratio, pair.low, pair.high, ...pair.ratios]) {
      if (value !== null && Number.isFinite(value))
        ends.push(Math.min(RATIO_MAX, Math.max(1 / RATIO_MAX, value)));
    }
  }
  return [Math.min(...ends), Math.max(...ends)];
}

/** Both names; the ratio is the first divided by the second. */
export function pairName(load: Load, pair: Pair): string {
  return `${load.rows[pair.first]?.name ?? '?'} ÷ ${load.rows[pair.second]?.name ?? '?'}`;
}

/** The tooltip lines, the title first. */
export function pairTooltip(load: Load, pair: Pair): string[] {
  const lines = [pairName(load, pair)];
  lines.push(`${load.metric.words}: ${pair.ratio_text ?? 'no ratio'}`);
  if (pair.ends_text !== null) {
    const name = pair.confidence === null ? 'interval' : `${percent(pair.confidence)} confidence interval`;
    lines.push(`${name}: ${pair.ends_text.join(' to ')}`);
  }
  lines.push(`${verdict(pair)}, ${pair.blocks} ${pair.blocks === 1 ? 'block' : 'blocks'}`);
  if (pair.ratios_text.length > 0) lines.push(`by block: ${pair.ratios_text.join(', ')}`);
  return lines;
}

/** `96.9 %`. */
export function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}
