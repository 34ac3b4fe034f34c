/** Why a row is slower than another: the time per request that grew, of both, and the sentence of the other formats. */

import type { Load, Report } from '../report';
import type { Slower } from '../report_causes';
import { colorClass } from '../colors';
import { h } from '../dom';
import { duration } from '../format';

const ABOUT =
  'The part of the time of a request that grew. Suspected from readings in the blocks that both have: nothing was changed to confirm it.';

export function whySlower(report: Report, load: Load): HTMLElement | null {
  const all = load.slower ?? [];
  if (all.length === 0) return null;
  return h(
    'div',
    { class: 'panel why-slower' },
    h('div', { class: 'panel-head' }, h('h3', {}, 'Why slower')),
    h('p', { class: 'about' }, ABOUT),
    h('ol', {}, ...all.map((each) => item(report, load, each))),
  );
}

function item(report: Report, load: Load, slower: Slower): HTMLElement {
  const { row, than, sentence, us_per_request: us, texts, interval_us: ends, is_cpu: isCpu } = slower;
  const longest = Math.max(...us);
  const side = (index: number, at: 0 | 1): HTMLElement =>
    h(
      'tr',
      { class: colorClass(report, load, index) },
      h('th', { scope: 'row' }, h('i', { class: 'swatch' }), load.rows[index]?.name ?? ''),
      h('td', { class: 'of-bar', 'aria-hidden': 'true' }, bar(us[at] / longest)),
      h('td', { class: 'figure' }, texts[at]),
    );
  const what = isCpu ? 'CPU time per request' : 'wait per request';
  const more = ends === null ? null : `95 % interval of the difference: ${ends.map(signed).join(' to ')}`;
  return h(
    'li',
    {},
    h('p', { class: 'told' }, sentence),
    h('table', { class: 'two-sides' }, h('caption', {}, what), side(than, 0), side(row, 1)),
    more === null ? null : h('p', { class: 'about' }, more),
  );
}

function bar(share: number): HTMLElement {
  const length = h('span', { class: 'length' });
  length.style.width = `${Number.isFinite(share) ? share * 100 : 0}%`;
  return h('span', { class: 'track' }, length);
}

function signed(us: number): string {
  return `${us < 0 ? '−' : '+'}${duration(Math.abs(us) / 1000)}`;
}
