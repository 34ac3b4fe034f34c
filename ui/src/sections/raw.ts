/** The raw data of all runs, to view and to copy. */

import type { Report } from '../report';
import { h } from '../dom';
import { copyButtons } from '../copy';
import { sheet } from '../numbers';
import { raw } from '../views/raw';

export function rawData(report: Report): HTMLElement | null {
  if (report.runs.length === 0) return null;
  const make = () => raw(report);
  const runs = report.runs.length === 1 ? 'the run' : `all ${report.runs.length} runs`;
  const details = h('details', { class: 'numbers' }, h('summary', {}, 'Show table'));
  details.addEventListener(
    'toggle',
    () => {
      details.append(sheet(`Raw data of ${runs}`, make()));
    },
    { once: true },
  );
  return h(
    'div',
    { class: 'panel raw' },
    h(
      'div',
      { class: 'panel-head' },
      h('h3', {}, `Raw data of ${runs}`),
      copyButtons(`raw data of ${runs}`, make),
    ),
    h('p', { class: 'about' }, 'One row per run, with all metrics. Units are in the column titles.'),
    details,
  );
}
