/** A table that sorts by any column, keeps the name columns visible while it scrolls, and can be copied. */

import type { Head, Table, TableRow } from './report';
import { h } from './dom';
import { announce, copyButtons } from './copy';
import { isPrinting, onRedraw } from './theme';
import { columnGroups } from './views/print_columns';
import { next, sorted, type Sorting } from './views/sort';

export interface Options {
  /** Title for screen readers and copies. */
  title: string;
  /** Notes below the table. */
  legend: string[];
  /** The class of a row, such as the color of its system. */
  mark: (row: TableRow) => string;
}

/** Name columns stay visible up to this share of the table's width. */
const NAMES_SHARE_MAX = 0.45;

/** Characters that fit on one printed line at the table's font size. */
const PRINT_CHARACTERS = 116;

export function dataTable(table: Table, options: Options): HTMLElement {
  let sorting: Sorting | null = null;
  const all = table.heads.map((_, column) => column);
  const rows = table.rows.map((row) => tableRow(table, row, all, options));
  const body = h('tbody', {}, ...rows);
  const heads = table.heads.map((head, column) =>
    headCell(table, column, () => {
      sorting = next(table, column, sorting);
      for (const index of sorted(table, sorting)) body.append(rows[index] ?? '');
      heads.forEach((cell, at) => {
        cell.setAttribute('aria-sort', sorting?.column === at ? sorting.direction : 'none');
      });
      announce(sorting ? `Sorted by ${titleOf(head)}, ${sorting.direction}` : 'Original order');
    }),
  );
  const whole = framed(options.title, heads, body);
  const box = h(
    'div',
    { class: 'table-box', role: 'region', tabindex: 0, 'aria-label': options.title },
    whole,
  );
  const hint = h('p', { class: 'hint', 'aria-hidden': 'true' });
  stick(box, table, heads, hint);
  onRedraw(() => {
    // A theme change needs no redraw: focus and scroll position are kept.
    if (!isPrinting() && whole.parentNode === box) return;
    box.replaceChildren(...(isPrinting() ? printed(table, sorting, options) : [whole]));
  });
  return h(
    'div',
    { class: 'panel table-panel' },
    h(
      'div',
      { class: 'table-tools' },
      hint,
      copyButtons(options.title, () => shownNow(table, sorting)),
    ),
    box,
    options.legend.length === 0 ? null : h('p', { class: 'legend' }, options.legend.join(' ')),
  );
}

function framed(title: string, heads: HTMLElement[], body: HTMLElement): HTMLElement {
  const caption = h('caption', { class: 'unseen' }, title);
  return h('table', { class: 'data' }, caption, h('thead', {}, h('tr', {}, ...heads)), body);
}

/** Print does not scroll: wide tables are split into groups of columns, each with the names. */
function printed(table: Table, sorting: Sorting | null, options: Options): HTMLElement[] {
  return columnGroups(table, PRINT_CHARACTERS).map((columns) => {
    const rows = sorted(table, sorting).flatMap((index) => {
      const row = table.rows[index];
      return row ? [tableRow(table, row, columns, options)] : [];
    });
    const heads = columns.map((column) => headCell(table, column));
    return framed(options.title, heads, h('tbody', {}, ...rows));
  });
}

function titleOf({ text, unit }: Head): string {
  return unit === '' ? text : `${text} (${unit})`;
}

/** The rows in their current order, with a star for the winner. */
function shownNow(table: Table, sorting: Sorting | null): { heads: string[]; rows: string[][] } {
  const order = sorted(table, sorting);
  const star = (row: TableRow, at: number): string => (row.is_winner && at === 0 ? '★ ' : '');
  return {
    heads: table.heads.map(titleOf),
    rows: order.flatMap((index) => {
      const row = table.rows[index];
      return row ? [row.cells.map(({ text }, at) => star(row, at) + text)] : [];
    }),
  };
}

/** The classes of a cell: its alignment, and whether its column names the row. */
function kind(table: Table, column: number): string {
  const side = (table.heads[column]?.is_left ?? false) ? 'left' : 'right';
  return column < table.names ? `${side} name` : side;
}

function headCell(table: Table, column: number, sort?: () => void): HTMLElement {
  const { text, unit } = table.heads[column] ?? { text: '', unit: '' };
  const words = [
    h('span', { class: 'head-text' }, text),
    unit === '' ? null : h('span', { class: 'unit' }, unit),
  ];
  const of = { scope: 'col', class: kind(table, column) };
  if (!sort) return h('th', of, ...words);
  // Columns of names and notes may have no title, but their sort button needs a label.
  const unsaid = column < table.names ? 'name' : 'note';
  const button = h('button', { type: 'button', 'aria-label': text === '' ? unsaid : null }, ...words);
  button.addEventListener('click', sort);
  return h('th', { ...of, 'aria-sort': 'none' }, button);
}

function tableRow(table: Table, row: TableRow, columns: number[], options: Options): HTMLElement {
  const cells = columns.map((column) => {
    const text = row.cells[column]?.text ?? '';
    if (column > 0) return h('td', { class: kind(table, column) }, text);
    const star = row.is_winner
      ? h('span', { class: 'star' }, '★', h('span', { class: 'unseen' }, ' winner: '))
      : null;
    const swatch = h('span', { class: 'swatch', 'aria-hidden': 'true' });
    const rest = h('span', { class: 'rest' }, otherNames(table, row));
    return h('th', { scope: 'row', class: kind(table, column) }, swatch, star, text, rest);
  });
  return h('tr', { class: `${options.mark(row)} ${row.is_winner ? 'best' : ''}`.trim() }, ...cells);
}

/** The other names of the row, for tables too narrow for all name columns. */
function otherNames(table: Table, { cells }: TableRow): string {
  const others = cells
    .slice(1, table.names)
    .map(({ text }, at) => ({ text, head: table.heads[at + 1]?.text ?? '' }));
  const known = others.filter(({ text }) => text !== '' && text !== '–');
  return known.map(({ text, head }) => (others.length === 1 ? text : `${head}=${text}`)).join(' ');
}

/** Keeps the name columns visible, and shows how many columns are hidden to the right. */
function stick(box: HTMLElement, table: Table, heads: HTMLElement[], hint: HTMLElement): void {
  const look = (): void => {
    const right = box.getBoundingClientRect().right;
    const hidden = heads.filter((head) => {
      const { width, right: end } = head.getBoundingClientRect();
      return width > 0 && end > right + 4;
    }).length;
    box.classList.toggle('more', hidden > 0);
    hint.textContent =
      hidden === 0 ? '' : `${hidden} more ${hidden === 1 ? 'column' : 'columns'} to the right →`;
  };
  const index = (): void => {
    if (box.clientWidth === 0 || isPrinting()) return;
    box.classList.remove('narrow');
    const widths = heads.slice(0, table.names).map((head) => head.getBoundingClientRect().width);
    const ofNames = widths.reduce((sum, width) => sum + width, 0);
    // A table that does not scroll has room for all its names.
    const isRoom = box.scrollWidth <= box.clientWidth || ofNames < box.clientWidth * NAMES_SHARE_MAX;
    box.classList.toggle('narrow', !isRoom);
    const sticking = isRoom ? table.names : 1;
    const rows = [...box.querySelectorAll('tr')];
    let left = 0;
    widths.forEach((width, column) => {
      for (const { children } of rows) {
        const cell = children[column];
        if (!(cell instanceof HTMLElement)) continue;
        cell.classList.toggle('sticks', column < sticking);
        cell.classList.toggle('last', column === sticking - 1);
        cell.style.left = column < sticking ? `${left}px` : '';
      }
      left += width;
    });
    look();
  };
  box.addEventListener('scroll', look, { passive: true });
  new ResizeObserver(index).observe(box);
}
