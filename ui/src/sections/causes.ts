/** What probably limits each row: its causes, the most likely first, with the evidence for and against. */

import type { Bottleneck, CapacityLimit, Cause, Certainty, Load, Report } from '../report';
import { h } from '../dom';
import { decimal } from '../format';
import { unseen } from '../numbers';
import { choice } from '../charts/choice';
import { colorClass } from '../colors';
import { openInPrint } from '../theme';
import { causeRows, percent } from '../views/causes';

const BEST = 'best';

export function causes(report: Report, load: Load): HTMLElement | null {
  const { first, others } = causeRows(report, load);
  if (first.length === 0) return null;
  const of = (all: Bottleneck[]): HTMLElement[] => all.map((each) => ofRow(report, load, each));
  const shown = h('div', { class: 'of-rows' }, ...of(first));
  const options = [
    { key: BEST, words: first.length === 1 ? nameOf(load, first[0]) : 'the best of each system' },
    ...others.map((each, index) => ({ key: String(index), words: nameOf(load, each) })),
  ];
  const select = choice('Variant', options, BEST, (key) => {
    const other = others[Number(key)];
    shown.replaceChildren(...of(key === BEST || !other ? first : [other]));
  });
  return h(
    'div',
    { class: 'panel causes-panel' },
    h(
      'div',
      { class: 'panel-head' },
      h('h3', {}, first.length === 1 ? 'Likely bottleneck' : 'Likely bottlenecks'),
      others.length > 0 ? select : null,
    ),
    h('p', { class: 'about' }, about(first)),
    shown,
  );
}

/** What limits a variant of a capacity search. */
export function causesOfLimit({ per_s: perSecond, runs, causes: all, reason }: CapacityLimit): HTMLElement {
  const of = `At ${decimal(perSecond, 0)}/s, the lowest failing rate, ${runs === 1 ? '1 run' : `${runs} runs`}.`;
  return h(
    'div',
    { class: 'panel causes-panel' },
    h('div', { class: 'panel-head' }, h('h3', {}, 'Likely bottleneck')),
    h(
      'p',
      { class: 'about' },
      [of, all.length === 0 ? `Not known: ${reason}.` : about([{ causes: all }])].join(' '),
    ),
    h('ol', { class: 'causes' }, ...all.map(causeItem)),
  );
}

function about(all: Pick<Bottleneck, 'causes'>[]): string {
  const is = (wanted: Certainty): boolean =>
    all.some((each) => each.causes.some(({ certainty }) => certainty === wanted));
  const hasShare = all.some((each) => each.causes.some(({ share }) => share !== null));
  return [
    is('confirmed') || is('refuted') ? 'Confirmed and refuted by an experiment, otherwise suspected.' : '',
    is('suspected') && !is('confirmed') && !is('refuted')
      ? 'Suspected from readings, not confirmed by an experiment; the most likely cause first.'
      : '',
    hasShare ? 'Bar: the share of the response time that the cause explains.' : '',
  ]
    .filter((text) => text !== '')
    .join(' ');
}

function nameOf(load: Load, bottleneck: Bottleneck | undefined): string {
  return load.rows[bottleneck?.row ?? -1]?.name ?? '';
}

function ofRow(report: Report, load: Load, { row, causes: all }: Bottleneck): HTMLElement {
  return h(
    'section',
    { class: `of-row ${colorClass(report, load, row)}` },
    report.kind === 'run' ? null : h('h4', {}, h('i', { class: 'swatch' }), load.rows[row]?.name ?? ''),
    h('ol', { class: 'causes' }, ...all.map(causeItem)),
  );
}

/** A line that opens; the evidence of the first cause is visible at once. */
export function causeItem(cause: Cause, rank: number): HTMLElement {
  const { what, rung, scope, share, certainty } = cause;
  const sure = certainty === 'confirmed' || certainty === 'refuted' ? `${certainty}: ` : '';
  const scopeWords = certainty === 'unknown' ? null : h('span', { class: 'scope' }, `${scope}, ${rung}`);
  const unknownShare = certainty === 'suspected' ? 'share not known' : '';
  const details = h(
    'details',
    { open: rank === 0 },
    h(
      'summary',
      {},
      h('span', { class: 'what' }, h('strong', {}, sure, what), scopeWords),
      ...(share === null
        ? [h('span', { class: 'no-share' }, unknownShare)]
        : [bar(share), h('span', { class: 'share' }, percent(share), unseen(' of the response time'))]),
    ),
    evidence(cause),
  );
  openInPrint(details);
  return h('li', {}, details);
}

function bar(share: number): HTMLElement {
  const length = h('span', { class: 'length' });
  length.style.width = `${share * 100}%`;
  return h('span', { class: 'track', 'aria-hidden': 'true' }, length);
}

function evidence({ because, also, against, next, highest }: Cause): HTMLElement {
  const part = (name: string, texts: string[]): HTMLElement[] =>
    texts.length === 0 ? [] : [h('dt', {}, name), ...texts.map((text) => h('dd', {}, text))];
  const readings = h(
    'ul',
    { class: 'readings' },
    ...highest.map(({ words, share }) =>
      h(
        'li',
        {},
        h('span', { class: 'what' }, words),
        bar(share),
        h('span', { class: 'share' }, percent(share)),
      ),
    ),
  );
  return h(
    'div',
    { class: 'evidence' },
    highest.length === 0 ? null : readings,
    h(
      'dl',
      {},
      ...part('evidence', [because, ...also]),
      ...part('against', against),
      ...part('next', next === '' ? [] : [next]),
    ),
  );
}
