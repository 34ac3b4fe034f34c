/** Pairs of rows on an axis of ratios or of differences. */

import type { Load, Metric, Pair } from '../report';

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
  const ends: number[] = zone(load.metric);
  const [least, most] = isRatio(load.metric) ? [1 / RATIO_MAX, RATIO_MAX] : [-Infinity, Infinity];
  for (const pair of load.pairs) {
    for (const value of [pair.estimate, pair.low, pair.high, ...pair.in_blocks]) {
      if (value !== null && Number.isFinite(value)) ends.push(Math.min(most, Math.max(least, value)));
    }
  }
  return [Math.min(...ends), Math.max(...ends)];
}

export function isRatio(metric: Metric): boolean {
  return metric.scale === 'ratio';
}

/** The estimate that means no difference. */
export function none(metric: Metric): number {
  return isRatio(metric) ? 1 : 0;
}

/** The range below the `min-effect` threshold. */
export function zone(metric: Metric): [number, number] {
  const matters = Math.max(0, metric.matters);
  return isRatio(metric) ? [1 / (1 + matters), 1 + matters] : [-matters, matters];
}

/** `÷` or `−`: the estimate is the first row divided by the second, or minus it. */
export function sign(metric: Metric): string {
  return isRatio(metric) ? '÷' : '−';
}

/** Both names. */
export function pairName(load: Load, pair: Pair): string {
  const [first, second] = [pair.first, pair.second].map((row) => load.rows[row]?.name ?? '?');
  return `${first ?? '?'} ${sign(load.metric)} ${second ?? '?'}`;
}

/** The tooltip lines, the title first. */
export function pairTooltip(load: Load, pair: Pair): string[] {
  const lines = [pairName(load, pair)];
  lines.push(`${load.metric.words}: ${pair.estimate_text ?? `no ${load.metric.scale}`}`);
  if (pair.ends_text !== null) {
    const name = pair.confidence === null ? 'interval' : `${percent(pair.confidence)} confidence interval`;
    lines.push(`${name}: ${pair.ends_text.join(' to ')}`);
  }
  lines.push(`${verdict(pair)}, ${pair.blocks} ${pair.blocks === 1 ? 'block' : 'blocks'}`);
  if (pair.in_blocks_text.length > 0) lines.push(`by block: ${pair.in_blocks_text.join(', ')}`);
  return lines;
}

/** `96.9 %`. */
export function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}
