/** Head-to-head comparisons: each ratio with its confidence interval and its blocks, and the `min-effect` range. */

import type { Load, Pair, Report } from '../report';
import { s } from '../dom';
import { colorClass } from '../colors';
import { pairTooltip, percent, span, verdict } from '../views/pairs';
import { ratios, type Scale } from '../views/scale';
import { resizing } from './resizing';
import { line, round, word } from './marks';
import { rows, type Item, type Place, type Band } from './rows';

/** Null if there is no ratio to draw. Fills the width of its container. */
export function intervals(report: Report, load: Load): HTMLElement | null {
  if (!hasRatios(load)) return null;
  return resizing('intervals', (host, width) => {
    host.append(forest(report, load, width));
  });
}

export function hasRatios(load: Load): boolean {
  return load.pairs.some((pair) => pair.ratio !== null);
}

export function forest(report: Report, load: Load, width: number): SVGSVGElement {
  const [low, high] = span(load);
  return rows({
    width,
    items: load.pairs.map((pair) => item(report, load, pair)),
    scale: (room) => ratios(low, high, room),
    title: `${load.metric.words}: ratio of each pair, log scale`,
    backdrop: (parts, scale, bands, bottom) => {
      backdrop(parts, scale, load, bands, bottom);
    },
    figures: 'ratio, log scale',
    is_narrow: width < 760,
    height: 26,
    bottom: 20,
  });
}

function item(report: Report, load: Load, pair: Pair): Item {
  return {
    label: load.rows[pair.first]?.name ?? '?',
    more: `÷ ${load.rows[pair.second]?.name ?? '?'}`,
    group: '',
    color: colorClass(report, load, pair.first),
    is_winner: false,
    figure: pair.ratio_text ?? 'n/a',
    aside: verdict(pair),
    lines: () => pairTooltip(load, pair),
    draw: (place) => {
      draw(pair, place);
    },
  };
}

function draw(pair: Pair, { parts, scale, y }: Place): void {
  for (const ratio of pair.ratios)
    parts.append(line('block', scale.at(ratio), y - 9, scale.at(ratio), y - 3));
  if (pair.low !== null && pair.high !== null) {
    const [from, to] = [scale.at(pair.low), scale.at(pair.high)];
    parts.append(line('interval', from, y + 3, to, y + 3));
    parts.append(line('interval-end', from, y - 1, from, y + 7), line('interval-end', to, y - 1, to, y + 7));
  }
  if (pair.ratio !== null) {
    parts.append(s('circle', { class: 'dot estimate', cx: round(scale.at(pair.ratio)), cy: y + 3, r: 5 }));
  }
}

function backdrop(parts: SVGGElement, scale: Scale, load: Load, bands: Band[], bottom: number): void {
  const { matters, higher_is_better } = load.metric;
  const zone = 1 + Math.max(0, matters);
  const [from, to] = [scale.at(1 / zone), scale.at(zone)];
  for (const { top, bottom: end } of bands) {
    const height = end - top;
    parts.append(s('rect', { class: 'threshold', x: round(from), y: top, width: round(to - from), height }));
    parts.append(line('even', scale.at(1), top, scale.at(1), end));
  }
  const words = higher_is_better
    ? ['← second better', 'first better →']
    : ['← first better', 'second better →'];
  const ends = [scale.at(scale.low), scale.at(scale.high)];
  const zoneWord = `within ${percent(matters)}`;
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
  const parts = `Point: the ratio over all blocks.${known ? bar : ''} Ticks: the ratio in each block.`;
  return `${parts} Shaded: differences below the ${percent(load.metric.matters)} threshold.`;
}
