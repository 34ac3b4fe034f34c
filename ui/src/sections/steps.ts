/** The metrics of each step of the scenario and of its statements; for several runs side by side, their service times. */

import type { Load, Report, Table } from '../report';
import { h } from '../dom';
import { colorClass } from '../colors';
import { dataTable } from '../data_table';
import { capitalized } from '../views/counted';

export function steps(report: Report, load: Load): HTMLElement | null {
  if (load.steps === null || load.steps.rows.length === 0) return null;
  const { step } = report.counted;
  const name = capitalized(step);
  const [head, title] =
    report.kind === 'runs' ? ['Service time', 'Service time'] : [`Metrics by ${step}`, `${name}s`];
  return titled(report, load, load.steps, head, title);
}

/** The time of each SQL statement of the transactions, or of each request that a redirect led to. */
export function statements(report: Report, load: Load): HTMLElement | null {
  if (load.statements === null || load.statements.rows.length === 0) return null;
  const isSql = load.statements.heads.some(({ text }) => text.startsWith('statement'));
  const [head, title] = isSql
    ? ['Metrics by SQL statement', 'Statements']
    : ['Metrics by part of a step', 'Parts'];
  return titled(report, load, load.statements, head, title);
}

function titled(report: Report, load: Load, table: Table, head: string, title: string): HTMLElement {
  return h(
    'div',
    {},
    h('h3', {}, head),
    dataTable(table, {
      title: load.name === '' ? title : `${title}, ${load.name}`,
      legend: [],
      mark: ({ row }) => (row === null || load.rows.length === 1 ? '' : colorClass(report, load, row)),
    }),
  );
}
