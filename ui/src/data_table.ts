/** A table that can be sorted by each of its columns, scrolls sideways with the names in sight, and can be copied as it stands. */

import type { Head, Table, TableRow } from './report';
import { h } from './dom';
import { announce, copyButtons } from './copy';
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

export function dataTable(table: Table, options: Options): HTMLElement {
  let sorting: Sorting | null = null;
  const rows = table.rows.map((row) => tableRow(table, row, options));
  const body = h('tbody', {}, ...rows);
  const heads = table.heads.map((head, column) =>
    headCell(table, head, column, () => {
      sorting = next(table, column, sorting);
      for (const place of sorted(table, sorting)) body.append(rows[place] ?? '');
      heads.forEach((cell, at) => {
        cell.setAttribute('aria-sort', sorting?.column === at ? sorting.direction : 'none');
      });
      announce(sorting ? `Sorted by ${said(head)}, ${sorting.direction}` : 'In the order of the report');
    }),
  );
  const box = h(
    'div',
    { class: 'table-box', role: 'region', tabindex: 0, 'aria-label': options.title },
    h(
      'table',
      { class: 'data' },
      h('caption', { class: 'unseen' }, options.title),
      h('thead', {}, h('tr', {}, ...heads)),
      body,
    ),
  );
  const hint = h('p', { class: 'hint', 'aria-hidden': 'true' });
  stick(box, table, heads, hint);
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

function said({ text, unit }: Head): string {
  return unit === '' ? text : `${text} (${unit})`;
}

/** In the order that it is shown in. The best rows have their star. */
function shownNow(table: Table, sorting: Sorting | null): { heads: string[]; rows: string[][] } {
  const order = sorted(table, sorting);
  const star = (row: TableRow, at: number): string => (row.is_best && at === 0 ? '★ ' : '');
  return {
    heads: table.heads.map(said),
    rows: order.flatMap((place) => {
      const row = table.rows[place];
      return row ? [row.cells.map(({ text }, at) => star(row, at) + text)] : [];
    }),
  };
}

function headCell(table: Table, head: Head, column: number, sort: () => void): HTMLElement {
  const button = h(
    'button',
    { type: 'button' },
    h('span', { class: 'head-text' }, head.text),
    head.unit === '' ? null : h('span', { class: 'unit' }, head.unit),
  );
  button.addEventListener('click', sort);
  const kinds = [head.is_left ? 'left' : 'right', column < table.names ? 'name' : ''];
  return h('th', { scope: 'col', 'aria-sort': 'none', class: kinds.join(' ').trim() }, button);
}

function tableRow(table: Table, row: TableRow, options: Options): HTMLElement {
  const cells = row.cells.map((cell, column) => {
    const isLeft = table.heads[column]?.is_left ?? false;
    const kind = [isLeft ? 'left' : 'right', column < table.names ? 'name' : ''].join(' ').trim();
    if (column > 0) return h('td', { class: kind }, cell.text);
    const star = row.is_best
      ? h('span', { class: 'star' }, '★', h('span', { class: 'unseen' }, ' best: '))
      : null;
    return h(
      'th',
      { scope: 'row', class: kind },
      h('span', { class: 'swatch', 'aria-hidden': 'true' }),
      star,
      cell.text,
    );
  });
  return h('tr', { class: `${options.mark(row)} ${row.is_best ? 'best' : ''}`.trim() }, ...cells);
}

/** Keeps the columns that name a row in sight, and says how many others are out of it. */
function stick(box: HTMLElement, table: Table, heads: HTMLElement[], hint: HTMLElement): void {
  const place = (): void => {
    if (box.clientWidth === 0) return;
    const widths = heads.slice(0, table.names).map((head) => head.getBoundingClientRect().width);
    const sticking =
      widths.reduce((sum, width) => sum + width, 0) < box.clientWidth * NAMES_SHARE_MAX ? table.names : 1;
    let left = 0;
    for (let column = 0; column < table.names; column += 1) {
      for (const row of box.querySelectorAll('tr')) {
        const cell = row.children[column];
        if (!(cell instanceof HTMLElement)) continue;
        cell.classList.toggle('sticks', column < sticking);
        cell.classList.toggle('last', column === sticking - 1);
        cell.style.left = column < sticking ? `${left}px` : '';
      }
      left += widths[column] ?? 0;
    }
    look();
  };
  const look = (): void => {
    const right = box.getBoundingClientRect().right;
    const hidden = heads.filter((head) => head.getBoundingClientRect().right > right + 4).length;
    box.classList.toggle('more', hidden > 0);
    hint.textContent =
      hidden === 0 ? '' : `${hidden} more ${hidden === 1 ? 'column' : 'columns'} to the right →`;
  };
  box.addEventListener('scroll', look, { passive: true });
  new ResizeObserver(place).observe(box);
}
