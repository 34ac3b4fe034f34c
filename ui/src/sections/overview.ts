/** All loads in one table: a row per variant, and the metric and p99 under each load. */

import type { Cell, Head, Load, Report, Row, Table } from '../report';
import { h } from '../dom';
import { colorClass } from '../colors';
import { dataTable } from '../data_table';
import { formatValue } from '../format';

/** Null unless a study has several loads. */
export function overview(report: Report): HTMLElement | null {
  if (report.kind !== 'study' || report.loads.length < 2) return null;
  const table = tableOf(report.loads);
  const rows = rowsOf(report.loads);
  const color = (row: Row | undefined): string => {
    const load = report.loads.find(({ rows }) => row && rows.includes(row));
    return load && row ? colorClass(report, load, load.rows.indexOf(row)) : '';
  };
  return h(
    'section',
    { class: 'group overview', id: 'all-loads', 'aria-labelledby': 'all-loads-title' },
    h('h2', { id: 'all-loads-title' }, 'All loads'),
    dataTable(table, {
      title: 'All loads',
      legend: ['★: better than every variant it was compared with under this load.'],
      mark: (row) => color(rows[table.rows.indexOf(row)]),
    }),
  );
}

/** One row per variant of any load, in order of appearance. */
export function tableOf(loads: readonly Load[]): Table {
  const heads: Head[] = [
    { text: 'system', unit: '', is_left: true },
    { text: 'parameters', unit: '', is_left: true },
  ];
  for (const load of loads) {
    heads.push({ text: load.name, unit: metricName(load), is_left: false });
    if (hasTail(load)) heads.push({ text: '', unit: 'p99', is_left: false });
  }
  const text = (text: string): Cell => ({ text, value: null });
  const rows = rowsOf(loads).map(({ name, system, variant }) => ({
    cells: [text(system), text(variant), ...loads.flatMap((load) => cellsOf(load, name))],
    is_winner: false,
    row: null,
  }));
  return { heads, rows, names: 2 };
}

/** Each variant once, as it is under the first load that has it. */
function rowsOf(loads: readonly Load[]): Row[] {
  const all = loads.flatMap((load) => load.rows);
  return all.filter((row, at) => all.findIndex(({ name }) => name === row.name) === at);
}

function cellsOf(load: Load, name: string): Cell[] {
  const row = load.rows.find((each) => each.name === name);
  const value = row?.metric?.median ?? null;
  const star = row?.is_winner ? '★ ' : '';
  const metric = { text: value === null ? '–' : star + formatValue(value, load.metric.unit), value };
  return hasTail(load) ? [metric, tailOf(row)] : [metric];
}

function tailOf(row: Row | undefined): Cell {
  const p99 = row?.figures?.response_ms.p99 ?? null;
  return { text: p99 === null ? '–' : formatValue(p99, 'ms'), value: p99 };
}

/** Not next to the metric itself. */
function hasTail({ metric }: Load): boolean {
  return metric.name !== 'p99';
}

function metricName({ metric }: Load): string {
  return metric.name === 'throughput' ? 'ok/s' : metric.words;
}
