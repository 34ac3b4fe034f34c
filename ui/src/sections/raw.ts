/** The raw figures of all runs, to look at and to copy. */

import type { Report } from '../report';
import { h } from '../dom';
import { copyButtons } from '../copy';
import { sheet } from '../numbers';
import { raw } from '../views/raw';

export function raws(report: Report): HTMLElement | null {
  if (report.runs.length === 0) return null;
  const make = () => raw(report);
  const runs = report.runs.length === 1 ? 'the run' : `all ${report.runs.length} runs`;
  const details = h('details', { class: 'numbers' }, h('summary', {}, 'Show them'));
  details.addEventListener(
    'toggle',
    () => {
      details.append(sheet(`Raw figures of ${runs}`, make()));
    },
    { once: true },
  );
  return h(
    'div',
    { class: 'panel raw' },
    h(
      'div',
      { class: 'panel-head' },
      h('h3', {}, `Raw figures of ${runs}`),
      copyButtons(`raw figures of ${runs}`, make),
    ),
    h('p', { class: 'about' }, 'A row per run with every figure, units in the heads; times in ms.'),
    details,
  );
}
