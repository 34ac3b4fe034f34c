/** The physical cost of the requests of a load: bytes, connections, and what a database wrote, read, and kept. */

import type { Load, Report } from '../report';
import { h } from '../dom';
import { dataTable } from '../data_table';

export function costs(_report: Report, load: Load): HTMLElement | null {
  if (load.costs === undefined || load.costs.table.rows.length === 0) return null;
  const { table, legend } = load.costs;
  return h(
    'div',
    {},
    h('h3', {}, 'Physical cost'),
    dataTable(table, {
      title: load.name === '' ? 'Physical cost' : `Physical cost, ${load.name}`,
      legend: ['Medians over runs.', ...(legend === '' ? [] : [legend])],
      mark: () => '',
    }),
  );
}
