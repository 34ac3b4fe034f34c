/** The gates that passed and failed. */

import type { Load, Report } from '../report';
import { h } from '../dom';
import { icon } from '../icons';

export function gates(_report: Report, { gates: all }: Load): HTMLElement | null {
  if (all.length === 0) return null;
  return h(
    'div',
    { class: 'gates' },
    h('h3', {}, 'Gates'),
    h(
      'ul',
      { class: 'notices' },
      ...all.map(({ tone, text }) => h('li', { class: tone }, icon(tone), h('span', {}, text))),
    ),
  );
}
