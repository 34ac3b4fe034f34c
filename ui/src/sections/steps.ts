/** All figures of each step of the scenario. */

import type { Load, Report } from '../report';
import { h } from '../dom';
import { colorClass } from '../colors';
import { dataTable } from '../data_table';

export function steps(report: Report, load: Load): HTMLElement | null {
  if (load.steps === null || load.steps.rows.length === 0) return null;
  return h(
    'div',
    {},
    h('h3', {}, 'Step by step'),
    dataTable(load.steps, {
      title: load.name === '' ? 'Steps' : `Steps, ${load.name}`,
      legend: [],
      mark: ({ row }) => (row === null || load.rows.length === 1 ? '' : colorClass(report, load, row)),
    }),
  );
}
