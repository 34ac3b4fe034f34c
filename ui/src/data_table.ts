/** A table that can be sorted by each of its columns, scrolls sideways with the names in sight, and can be copied as it stands. */

import type { Head, Table, TableRow } from './report';
import { h } from './dom';
import { announce, copyButtons } from './copy';
import { isOnPaper, onTheme } from './theme';
import { parts } from './views/paper';
import { next, sorted, type Sorting } from './views/sort';

export interface Options {
  /** What the table is, for those who listen, and for copies. */
  title: string;
  /** Sentences below it. */
  legend: string[];
  /** The class of a row, such as the colour of its system. */
  mark: (row: TableRow) => string;
}

/** Names of rows keep their place while so much of the width is left for figures. */
const NAMES_SHARE_MAX = 0.45;

/** Letters of the table's size beside each other on paper. */
const PAPER_LETTERS = 116;

export function dataTable(table: Table, options: Options): HTMLElement {
  let sorting: Sorting | null = null;
  const all = table.heads.map((_, column) => column);
  const rows = table.rows.map((row) => tableRow(table, row, all, options));
  const body = h('tbody', {}, ...rows);
  const heads = table.heads.map((head, column) =>
    headCell(table, column, () => {
      sorting = next(table, column, sorting);
      for (const place of sorted(table, sorting)) body.append(rows[place] ?? '');
      heads.forEach((cell, at) => {
        cell.setAttribute('aria-sort', sorting?.column === at ? sorting.direction : 'none');
      });
      announce(sorting ? `Sorted by ${said(head)}, ${sorting.direction}` : 'In the order of the report');
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
  onTheme(() => {
    // Other colours change nothing here: what has the keys, and how far it is scrolled, stay.
    if (!isOnPaper() && whole.parentNode === box) return;
    box.replaceChildren(...(isOnPaper() ? onPaper(table, sorting, options) : [whole]));
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

/** Paper does not scroll: some columns after the others, with the names repeated. */
function onPaper(table: Table, sorting: Sorting | null, options: Options): HTMLElement[] {
  return parts(table, PAPER_LETTERS).map((columns) => {
    const rows = sorted(table, sorting).flatMap((place) => {
      const row = table.rows[place];
      return row ? [tableRow(table, row, columns, options)] : [];
    });
    const heads = columns.map((column) => headCell(table, column));
    return framed(options.title, heads, h('tbody', {}, ...rows));
  });
}

function said({ text, unit }: Head): string {
  return unit === '' ? text : `${text} (${unit})`;
}

/** In the order that it is shown in. The winner has its star. */
function shownNow(table: Table, sorting: Sorting | null): { heads: string[]; rows: string[][] } {
  const order = sorted(table, sorting);
  const star = (row: TableRow, at: number): string => (row.is_winner && at === 0 ? '★ ' : '');
  return {
    heads: table.heads.map(said),
    rows: order.flatMap((place) => {
      const row = table.rows[place];
      return row ? [row.cells.map(({ text }, at) => star(row, at) + text)] : [];
    }),
  };
}

/** Where a column stands, and whether it names its row. */
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
  // Columns of names and of notes may have no head; what sorts by them has a name all the same.
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

/** What else names the row, for where there is no room for columns of it. */
function otherNames(table: Table, { cells }: TableRow): string {
  const others = cells
    .slice(1, table.names)
    .map(({ text }, at) => ({ text, head: table.heads[at + 1]?.text ?? '' }));
  const known = others.filter(({ text }) => text !== '' && text !== '–');
  return known.map(({ text, head }) => (others.length === 1 ? text : `${head}=${text}`)).join(' ');
}

/** Keeps the columns that name a row in sight, and says how many others are out of it. */
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
  const place = (): void => {
    if (box.clientWidth === 0 || isOnPaper()) return;
    box.classList.remove('narrow');
    const widths = heads.slice(0, table.names).map((head) => head.getBoundingClientRect().width);
    const ofNames = widths.reduce((sum, width) => sum + width, 0);
    // What does not scroll has room for its names, whatever their share.
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
  new ResizeObserver(place).observe(box);
}
