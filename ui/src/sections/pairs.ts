/** Head-to-head comparisons, as a chart and as sentences. */

import type { Load, Report } from '../report';
import { card } from '../card';
import { h } from '../dom';
import { forest, hasEstimates, howToRead } from '../charts/intervals';
import { isRatio, sign, verdict } from '../views/pairs';

export function pairs(report: Report, load: Load): HTMLElement | null {
  if (load.pairs.length === 0) return null;
  const scale = load.metric.scale;
  const blocks = Math.max(...load.pairs.map((pair) => pair.blocks));
  const isDrawn = hasEstimates(load);
  return card({
    id: `head-to-head-${report.loads.indexOf(load) + 1}`,
    title: title(load),
    about: `${load.metric.words} ${scale}, first ${sign(load.metric)} second${isRatio(load.metric) ? ', log scale' : ''} · n = ${blocks} ${blocks === 1 ? 'block' : 'blocks'}`,
    ...(isDrawn ? { help: howToRead(load) } : {}),
    draw: (host, width) => {
      if (isDrawn) host.append(forest(report, load, width));
      host.append(sentences(load));
    },
    numbers: () => ({
      heads: [
        'first',
        'second',
        scale,
        'low',
        'high',
        'confidence',
        'verdict',
        'blocks',
        `${scale} by block`,
      ],
      rows: load.pairs.map((pair) => [
        load.rows[pair.first]?.name ?? null,
        load.rows[pair.second]?.name ?? null,
        pair.estimate,
        pair.low,
        pair.high,
        pair.confidence,
        verdict(pair),
        pair.blocks,
        pair.in_blocks.join(' '),
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
