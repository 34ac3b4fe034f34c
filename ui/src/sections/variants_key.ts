/** Buttons that show and hide the lines of variants, grouped by system. */

import type { Load, Report } from '../report';
import { keyButton, press, type Entry } from '../charts/key';
import { shape } from '../charts/marks';
import { dashOf } from '../views/line_style';
import { colorClass, systems } from '../colors';
import { h } from '../dom';

/** The index of the shape of a row's system. */
export function shapeOf(report: Report, load: Load, row: number): number {
  return Math.max(0, systems(report).indexOf(load.rows[row]?.system ?? ''));
}

/** The number of variants up to which the buttons are not folded. */
const UNFOLDED_MAX = 6;

/** Groups `rows` by system. Changes `shown`, then calls `changed`. */
export function variantsKey(
  report: Report,
  load: Load,
  rows: number[],
  shown: Set<number>,
  changed: () => void,
): HTMLElement {
  const names = [...new Set(rows.map((row) => load.rows[row]?.system ?? ''))];
  const groups = names.map((system) => {
    const mine = rows.filter((row) => load.rows[row]?.system === system);
    return group(report, load, system, mine, shown, changed);
  });
  const variants = h('div', { class: 'variants' }, ...groups);
  if (rows.length <= UNFOLDED_MAX) return variants;
  return h('details', { class: 'choose' }, h('summary', {}, `Select from ${rows.length} variants`), variants);
}

function group(
  report: Report,
  load: Load,
  system: string,
  rows: number[],
  shown: Set<number>,
  changed: () => void,
): HTMLElement {
  const buttons = rows.map((row) =>
    keyButton(entry(report, load, row, shown), (isShown) => {
      if (isShown) shown.add(row);
      else shown.delete(row);
      changed();
    }),
  );
  const label = { class: 'keys', role: 'group', 'aria-label': `Variants of ${system}` };
  if (rows.length === 1) return h('div', label, ...buttons);
  const all = h(
    'button',
    { type: 'button', class: 'key-all', title: 'Show all variants, or only the best' },
    system,
  );
  all.addEventListener('click', () => {
    const isFull = rows.every((row) => shown.has(row));
    rows.forEach((row, index) => {
      const isShown = !isFull || load.rows[row]?.is_best === true;
      if (isShown) shown.add(row);
      else shown.delete(row);
      const button = buttons[index];
      if (button) press(button, isShown);
    });
    changed();
  });
  return h('div', label, all, ...buttons);
}

function entry(report: Report, load: Load, row: number, shown: Set<number>): Entry {
  const it = load.rows[row];
  const isAlone = load.rows.filter(({ system }) => system === it?.system).length === 1;
  const words = (isAlone || it?.variant === '' ? it?.name : it?.variant) ?? '';
  return {
    words: it?.is_winner && !isAlone ? `${words} ★` : words,
    colors: [colorClass(report, load, row)],
    width: 2,
    dash: dashOf(load, row),
    mark: shape(shapeOf(report, load, row), 13, 6, 3.5),
    is_shown: shown.has(row),
  };
}
