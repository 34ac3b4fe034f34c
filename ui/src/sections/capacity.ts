/** The maximum sustainable load of each variant: its curve, other results, and every load level. */

import type { Capacity, CapacitySearch, Report } from '../report';
import { card, redraw } from '../card';
import { COLORS } from '../colors';
import { dataTable } from '../data_table';
import { h } from '../dom';
import { choice } from '../charts/choice';
import { capacityCurve, capacityKey } from '../charts/capacity_curve';
import { limits, outcome, times, TIME_WORDS } from '../views/capacity';
import { titled } from '../views/measures';
import { causesOfLimit } from './causes';

/** Null unless the report is a capacity search. */
export function capacity({ capacity: search }: Report): HTMLElement | null {
  if (search === null || search.rows.length === 0) return null;
  return h('div', { class: 'capacities' }, ...search.rows.map((row, index) => one(search, row, index)));
}

function one(search: CapacitySearch, row: Capacity, index: number): HTMLElement {
  const color = `series-${(index % COLORS) + 1}`;
  return h(
    'div',
    { class: 'capacity' },
    search.rows.length > 1 ? h('h3', { id: `capacity-${index + 1}` }, row.name) : null,
    curve(search, row, index, color),
    row.limit === null ? null : causesOfLimit(row.limit),
    row.facts.length === 0
      ? null
      : h(
          'dl',
          { class: 'panel facts' },
          ...row.facts.flatMap(({ name, value }) => [h('dt', {}, name), h('dd', {}, value)]),
        ),
    dataTable(row.table, { title: `Load levels, ${row.name}`, legend: [], mark: () => color }),
  );
}

function curve(search: CapacitySearch, row: Capacity, index: number, color: string): HTMLElement | null {
  const known = times(search);
  let time = known[0];
  if (time === undefined) return null;
  const element = card({
    id: `capacity-curve-${index + 1}`,
    title: 'Response time vs. target rate',
    about: `x: target rate, from zero · y: response time, log scale · n = ${runs(row)}`,
    help: help(search, row),
    controls: [
      choice(
        'Response time',
        known.map((key) => ({ key, words: titled(TIME_WORDS[key]) })),
        time,
        (key) => {
          time = known.find((one) => one === key) ?? time;
          redraw(element);
        },
      ),
    ],
    draw: (host, width) => {
      if (time === undefined) return;
      host.append(capacityKey(row, time, color), capacityCurve(search, row, time, color, width));
    },
    numbers: () => ({
      heads: [
        'target rate, per second',
        'runs',
        'ok, per second',
        ...known.map((key) => `${TIME_WORDS[key]}, ms`),
        'failed condition',
      ],
      rows: row.levels.map((level) => [
        level.per_s,
        outcome(level),
        level.ok_per_s,
        ...known.map((key) => level.response_ms?.[key] ?? null),
        level.failed_by,
      ]),
    }),
  });
  return element;
}

function runs({ levels }: Capacity): string {
  const all = levels.reduce((sum, { passed, failed, invalid }) => sum + passed + failed + invalid, 0);
  const rates = levels.length === 1 ? '1 rate' : `${levels.length} rates`;
  return `${all} ${all === 1 ? 'run' : 'runs'} at ${rates}`;
}

function help(search: CapacitySearch, row: Capacity): string {
  const hasLimit = times(search).some((time) => limits(search, time).length > 0);
  const dashed = hasLimit ? ' Dashed line: limit.' : '';
  const noisy =
    row.noise_per_s === null ? '' : ' Inside the capacity interval, some runs passed and some failed.';
  return `One point per target rate, over all its runs. Filled: all conditions passed. Hollow: a condition failed.${dashed}${noisy}`;
}
