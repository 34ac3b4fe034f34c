/** The results of a load, with one row per variant. */

import type { Load, Report } from '../report';
import { colorClass } from '../colors';
import { dataTable } from '../data_table';

export function table(report: Report, load: Load): HTMLElement | null {
  if (load.table.rows.length === 0) return null;
  return dataTable(load.table, {
    title: load.name === '' ? 'All metrics' : `All metrics, ${load.name}`,
    legend: load.legend,
    mark: ({ row }) => {
      if (row === null) return '';
      const color = load.rows.length === 1 ? '' : colorClass(report, load, row);
      return load.rows[row]?.is_valid === false ? `${color} not-valid` : color;
    },
  });
}
