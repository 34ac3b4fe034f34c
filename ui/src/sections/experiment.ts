/** What an experiment changed, one thing at a time, and what each change did to throughput. */

import type { Load, Report } from '../report';
import { dataTable } from '../data_table';
import { h } from '../dom';

export function experiment(_report: Report, load: Load): HTMLElement | null {
  const found = load.experiment;
  if (!found) return null;
  const table = dataTable(found.table, { title: `Experiment on ${found.about}`, legend: [], mark: () => '' });
  const facts = found.facts.flatMap(({ name, value }) => [h('dt', {}, name), h('dd', {}, value)]);
  return h(
    'div',
    { class: 'experiment' },
    h('h3', {}, `Experiment on ${found.about}`),
    h('p', { class: 'about' }, 'One change at a time, in blocks; throughput ÷ that of the control.'),
    table,
    facts.length === 0 ? null : h('dl', { class: 'panel facts' }, ...facts),
  );
}
