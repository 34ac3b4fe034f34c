/** All figures of each step of the scenario; of several runs side by side, their service times. */

import type { Load, Report } from '../report';
import { h } from '../dom';
import { colorClass } from '../colors';
import { dataTable } from '../data_table';

export function steps(report: Report, load: Load): HTMLElement | null {
  if (load.steps === null || load.steps.rows.length === 0) return null;
  const [head, title] = report.kind === 'runs' ? ['Service time', 'Service time'] : ['Step by step', 'Steps'];
  return h(
    'div',
    {},
    h('h3', {}, head),
    dataTable(load.steps, {
      title: load.name === '' ? title : `${title}, ${load.name}`,
      legend: [],
      mark: ({ row }) => (row === null || load.rows.length === 1 ? '' : colorClass(report, load, row)),
    }),
  );
}
