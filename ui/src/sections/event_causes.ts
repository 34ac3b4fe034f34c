/** What held requests up while an event was felt: ranked causes of each row, with the evidence. */

import type { Load, Report } from '../report';
import type { EventCauses } from '../report_causes';
import { colorClass } from '../colors';
import { h } from '../dom';
import { causeItem } from './causes';

/** Null if the event cost nothing that can be explained. */
export function eventCauses(report: Report, load: Load, all: EventCauses[]): HTMLElement | null {
  if (all.length === 0) return null;
  const isAlone = load.rows.length === 1;
  return h(
    'div',
    { class: 'event-causes' },
    h('h4', {}, 'What held requests up'),
    h('div', { class: 'of-rows' }, ...all.map((each) => ofRow(report, load, each, isAlone))),
  );
}

function ofRow(
  report: Report,
  load: Load,
  { row, causes, about }: EventCauses,
  isAlone: boolean,
): HTMLElement {
  const name = h('h5', {}, h('i', { class: 'swatch' }), load.rows[row]?.name ?? '');
  return h(
    'section',
    { class: `of-row ${colorClass(report, load, row)}` },
    isAlone ? null : name,
    h('ol', { class: 'causes' }, ...causes.map(causeItem)),
    h('p', { class: 'about' }, about),
  );
}
