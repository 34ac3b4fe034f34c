/** Head-to-head comparisons, as a chart and as sentences. */

import type { Load, Report } from '../report';
import { card } from '../card';
import { h } from '../dom';
import { forest, hasRatios, howToRead } from '../charts/intervals';
import { verdict } from '../views/pairs';

export function pairs(report: Report, load: Load): HTMLElement | null {
  if (load.pairs.length === 0) return null;
  const blocks = Math.max(...load.pairs.map((pair) => pair.blocks));
  const isDrawn = hasRatios(load);
  return card({
    id: `head-to-head-${report.loads.indexOf(load) + 1}`,
    title: title(load),
    about: `${load.metric.words} ratio, first ÷ second, log scale · n = ${blocks} ${blocks === 1 ? 'block' : 'blocks'}`,
    ...(isDrawn ? { help: howToRead(load) } : {}),
    draw: (host, width) => {
      if (isDrawn) host.append(forest(report, load, width));
      host.append(sentences(load));
    },
    numbers: () => ({
      heads: ['first', 'second', 'ratio', 'low', 'high', 'confidence', 'verdict', 'blocks', 'ratio by block'],
      rows: load.pairs.map((pair) => [
        load.rows[pair.first]?.name ?? null,
        load.rows[pair.second]?.name ?? null,
        pair.ratio,
        pair.low,
        pair.high,
        pair.confidence,
        verdict(pair),
        pair.blocks,
        pair.ratios.join(' '),
      ]),
    }),
  });
}

function title(load: Load): string {
  if (load.baseline === null) return 'Head-to-head';
  return `Compared with the baseline ${load.rows[load.baseline]?.name ?? '?'}`;
}

function sentences(load: Load): HTMLElement {
  return h(
    'div',
    { class: 'sentences' },
    h('ul', {}, ...load.pairs.map((pair) => h('li', {}, pair.sentence))),
    ...load.caveats.map((caveat) => h('p', { class: 'caveat' }, caveat)),
  );
}
