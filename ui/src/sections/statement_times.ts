/** How long the database executed each statement, of each row: calls, mean, and the share of the execution time. */

import type { Load, Report } from '../report';
import type { StatementTime, StatementTimes } from '../report_causes';
import { colorClass } from '../colors';
import { h } from '../dom';
import { percent } from '../views/causes';

export function statementTimes(report: Report, load: Load): HTMLElement | null {
  const all = load.statement_times ?? [];
  if (all.length === 0) return null;
  return h(
    'div',
    { class: 'panel statement-times' },
    h('div', { class: 'panel-head' }, h('h3', {}, 'Statement times')),
    h(
      'p',
      { class: 'about' },
      'Execution time in the database by statement, of all runs that count, as pg_stat_statements has it. Bar: share of the execution time.',
    ),
    ...all.map((each) => ofRow(report, load, each)),
  );
}

function ofRow(report: Report, load: Load, of: StatementTimes): HTMLElement {
  const { row, runs, statements, left_out: leftOut } = of;
  const heads = ['statement', '', 'share', 'calls', 'mean', 'total'];
  return h(
    'section',
    { class: `of-row ${colorClass(report, load, row)}` },
    load.rows.length === 1
      ? null
      : h('h4', {}, h('i', { class: 'swatch' }), load.rows[row]?.name ?? '', h('small', {}, runsWords(runs))),
    h(
      'div',
      { class: 'table-box', tabindex: '0', role: 'group', 'aria-label': 'Statement times' },
      h(
        'table',
        { class: 'statements-of-row' },
        h('thead', {}, h('tr', {}, ...heads.map((head) => h('th', { scope: 'col' }, head)))),
        h('tbody', {}, ...statements.map(line)),
      ),
    ),
    leftOut === 0 ? null : h('p', { class: 'about' }, `and ${leftOut} more`),
  );
}

function line({ statement, calls, mean, total, share }: StatementTime): HTMLElement {
  const length = h('span', { class: 'length' });
  length.style.width = `${(share ?? 0) * 100}%`;
  return h(
    'tr',
    {},
    h('td', { class: 'statement' }, h('code', {}, statement)),
    h('td', { class: 'of-bar', 'aria-hidden': 'true' }, h('span', { class: 'track' }, length)),
    ...[share === null ? '–' : percent(share), calls, mean, total].map((text) =>
      h('td', { class: 'figure' }, text),
    ),
  );
}

function runsWords(runs: number): string {
  return runs === 1 ? '1 run' : `${runs} runs`;
}
