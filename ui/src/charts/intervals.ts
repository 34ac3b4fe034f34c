/** Head-to-head comparisons: each ratio or difference with its confidence interval and its blocks, and the `min-effect` range. */

import type { Load, Pair, Report } from '../report';
import { s } from '../dom';
import { colorClass } from '../colors';
import { isRatio, none, pairTooltip, percent, sign, span, verdict, zone } from '../views/pairs';
import { differences, ratios, type Scale } from '../views/scale';
import { resizing } from './resizing';
import { line, round, word } from './marks';
import { rows, type Item, type Place, type Band } from './rows';

/** Null if there is nothing to draw. Fills the width of its container. */
export function intervals(report: Report, load: Load): HTMLElement | null {
  if (!hasEstimates(load)) return null;
  return resizing('intervals', (host, width) => {
    host.append(forest(report, load, width));
  });
}

export function hasEstimates(load: Load): boolean {
  return load.pairs.some((pair) => pair.estimate !== null);
}

export function forest(report: Report, load: Load, width: number): SVGSVGElement {
  const [low, high] = span(load);
  const { metric } = load;
  const figures = isRatio(metric) ? 'ratio, log scale' : 'difference';
  return rows({
    width,
    items: load.pairs.map((pair) => item(report, load, pair)),
    scale: (room) => (isRatio(metric) ? ratios(low, high, room) : differences(low, high, metric.unit, room)),
    title: `${metric.words}: ${isRatio(metric) ? 'ratio of each pair, log scale' : 'difference of each pair'}`,
    backdrop: (parts, scale, bands, bottom) => {
      backdrop(parts, scale, load, bands, bottom);
    },
    figures,
    is_narrow: width < 760,
    height: 26,
    bottom: 20,
  });
}

function item(report: Report, load: Load, pair: Pair): Item {
  return {
    label: load.rows[pair.first]?.name ?? '?',
    more: `${sign(load.metric)} ${load.rows[pair.second]?.name ?? '?'}`,
    group: '',
    color: colorClass(report, load, pair.first),
    is_winner: false,
    figure: pair.estimate_text ?? 'n/a',
    aside: verdict(pair),
    lines: () => pairTooltip(load, pair),
    draw: (place) => {
      draw(pair, place);
    },
  };
}

function draw(pair: Pair, { parts, scale, y }: Place): void {
  for (const block of pair.in_blocks)
    parts.append(line('block', scale.at(block), y - 9, scale.at(block), y - 3));
  if (pair.low !== null && pair.high !== null) {
    const [from, to] = [scale.at(pair.low), scale.at(pair.high)];
    parts.append(line('interval', from, y + 3, to, y + 3));
    parts.append(line('interval-end', from, y - 1, from, y + 7), line('interval-end', to, y - 1, to, y + 7));
  }
  if (pair.estimate !== null) {
    parts.append(s('circle', { class: 'dot estimate', cx: round(scale.at(pair.estimate)), cy: y + 3, r: 5 }));
  }
}

function backdrop(parts: SVGGElement, scale: Scale, load: Load, bands: Band[], bottom: number): void {
  const { matters, matters_text, higher_is_better } = load.metric;
  const [least, most] = zone(load.metric);
  const [from, to] = [scale.at(least), scale.at(most)];
  const even = scale.at(none(load.metric));
  for (const { top, bottom: end } of bands) {
    const height = end - top;
    parts.append(s('rect', { class: 'threshold', x: round(from), y: top, width: round(to - from), height }));
    parts.append(line('even', even, top, even, end));
  }
  const words = higher_is_better
    ? ['← second better', 'first better →']
    : ['← first better', 'second better →'];
  const ends = [scale.at(scale.low), scale.at(scale.high)];
  const zoneWord = `within ${matters_text}`;
  const hasRoom = matters > 0 && to - from > 6.2 * zoneWord.length;
  if (hasRoom) parts.append(word('tick', (from + to) / 2, bottom + 15, zoneWord, 'middle'));
  if (from - (ends[0] ?? 0) > 92) parts.append(word('tick', from - 8, bottom + 15, words[0] ?? '', 'end'));
  if ((ends[1] ?? 0) - to > 92) parts.append(word('tick', to + 8, bottom + 15, words[1] ?? ''));
}

/** The help text of the card. */
export function howToRead(load: Load): string {
  const known = load.pairs.find((pair) => pair.low !== null && pair.high !== null);
  const sure = known?.confidence ?? null;
  const bar = sure === null ? ' Line: its interval.' : ` Line: its ${percent(sure)} confidence interval.`;
  const { scale, matters_text } = load.metric;
  const parts = `Point: the ${scale} over all blocks.${known ? bar : ''} Ticks: the ${scale} in each block.`;
  return `${parts} Shaded: differences below the ${matters_text} threshold.`;
}
