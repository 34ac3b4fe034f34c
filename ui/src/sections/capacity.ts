/** How much each variant bears: its curve, what was found besides, and every level of the search. */

import type { Capacity, CapacitySearch, Report } from '../report';
import { card, redraw } from '../card';
import { COLORS } from '../colors';
import { dataTable } from '../data_table';
import { h } from '../dom';
import { choice } from '../charts/choice';
import { capacityCurve, capacityKey } from '../charts/capacity_curve';
import { limits, outcome, times, TIME_WORDS } from '../views/capacity';
import { capital } from '../views/counted';

/** Null where no capacity was asked for. */
export function capacity({ capacity: search }: Report): HTMLElement | null {
  if (search === null || search.rows.length === 0) return null;
  return h('div', { class: 'capacities' }, ...search.rows.map((row, place) => one(search, row, place)));
}

function one(search: CapacitySearch, row: Capacity, place: number): HTMLElement {
  const color = `series-${(place % COLORS) + 1}`;
  return h(
    'div',
    { class: 'capacity' },
    search.rows.length > 1 ? h('h3', { id: `capacity-${place + 1}` }, row.name) : null,
    curve(search, row, place, color),
    row.facts.length === 0
      ? null
      : h(
          'dl',
          { class: 'panel facts' },
          ...row.facts.flatMap(({ name, value }) => [h('dt', {}, name), h('dd', {}, value)]),
        ),
    dataTable(row.table, { title: `Every level, ${row.name}`, legend: [], mark: () => color }),
  );
}

function curve(search: CapacitySearch, row: Capacity, place: number, color: string): HTMLElement | null {
  const known = times(search);
  let time = known[0];
  if (time === undefined) return null;
  const made = card({
    id: `capacity-curve-${place + 1}`,
    title: 'Response time against load',
    about: `across: rate asked for, from zero; up: response time, log axis · n = ${runs(row)}`,
    help: help(search, row),
    controls: [
      choice(
        'Up',
        known.map((key) => ({ key, words: capital(TIME_WORDS[key]) })),
        time,
        (key) => {
          time = known.find((one) => one === key) ?? time;
          redraw(made);
        },
      ),
    ],
    draw: (host, width) => {
      if (time === undefined) return;
      host.append(capacityKey(row, time, color), capacityCurve(search, row, time, color, width));
    },
    numbers: () => ({
      heads: [
        'rate asked for, per second',
        'runs',
        'ok, per second',
        ...known.map((key) => `${TIME_WORDS[key]}, ms`),
        'failed by',
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
  return made;
}

function runs({ levels }: Capacity): string {
  const all = levels.reduce((sum, { passed, failed, invalid }) => sum + passed + failed + invalid, 0);
  const rates = levels.length === 1 ? '1 rate' : `${levels.length} rates`;
  return `${all} ${all === 1 ? 'run' : 'runs'} at ${rates}`;
}

function help(search: CapacitySearch, row: Capacity): string {
  const hasLimit = times(search).some((time) => limits(search, time).length > 0);
  const dashed = hasLimit ? ' Dashed: the objective.' : '';
  const noisy = row.noise_per_s === null ? '' : ' Within the shaded rates runs pass and fail by chance.';
  return `Each point is a rate, over all its runs: filled where the objectives held, hollow where they did not.${dashed}${noisy}`;
}
