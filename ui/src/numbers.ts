/** The data of a chart as a table that can be opened and copied. */

import { h } from './dom';
import { copyButtons } from './copy';

/** Column titles with units, and rows of texts and numbers. Null is a missing value. */
export interface Numbers {
  heads: string[];
  rows: (string | number | null)[][];
}

/** More rows are copied but not shown. */
const SHOWN_MAX = 500;

export function numbers(title: string, make: () => Numbers): HTMLElement {
  const details = h(
    'details',
    { class: 'numbers' },
    h('summary', {}, h('span', {}, 'Data table'), unseen(`: ${title}`)),
  );
  details.addEventListener(
    'toggle',
    () => {
      details.append(copyButtons(title, make), sheet(title, make()));
    },
    { once: true },
  );
  return details;
}

/** The table itself, in a box that scrolls. */
export function sheet(title: string, { heads, rows }: Numbers): HTMLElement {
  const cell = (value: string | number | null, at: number): HTMLElement =>
    at === 0
      ? h('th', { scope: 'row' }, shown(value))
      : h('td', { class: typeof value === 'string' ? null : 'figure' }, shown(value));
  const table = h(
    'table',
    {},
    h('caption', { class: 'unseen' }, title),
    h('thead', {}, h('tr', {}, ...heads.map((text) => h('th', { scope: 'col' }, text)))),
    h('tbody', {}, ...rows.slice(0, SHOWN_MAX).map((row) => h('tr', {}, ...row.map(cell)))),
  );
  const box = h(
    'div',
    { class: 'sheet', tabindex: 0, role: 'region', 'aria-label': `Data table: ${title}` },
    table,
  );
  const rest = rows.length - SHOWN_MAX;
  return rest > 0
    ? h('div', {}, box, h('p', { class: 'about' }, `${rest} more rows are not shown. Copying includes them.`))
    : box;
}

/** At most six digits; copies have all of them. */
function shown(value: string | number | null): string {
  if (value === null) return '–';
  if (typeof value === 'string') return value;
  return Number.isInteger(value) ? value.toLocaleString('en-US') : digits(value);
}

/** At most six digits: sums of seconds would show how they were rounded. */
export function digits(value: number): string {
  return String(Number(value.toPrecision(6)));
}

export function unseen(text: string): HTMLElement {
  return h('span', { class: 'unseen' }, text);
}
