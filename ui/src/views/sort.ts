/** The order of rows of a table by one of its columns. */

import type { Table } from '../report';

export type Direction = 'ascending' | 'descending';

/** What a sorted table stands in: a column and a direction; null is as it came. */
export interface Sorting {
  column: number;
  direction: Direction;
}

const words = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** Whether the column holds figures. */
export function hasFigures(table: Table, column: number): boolean {
  return table.rows.some((row) => (row.cells[column]?.value ?? null) !== null);
}

/** What one more click on a column's head asks for: the largest figures or first words first, then the reverse, then as it came. */
export function next(table: Table, column: number, now: Sorting | null): Sorting | null {
  const first: Direction = hasFigures(table, column) ? 'descending' : 'ascending';
  if (now?.column !== column) return { column, direction: first };
  if (now.direction !== first) return null;
  return { column, direction: first === 'ascending' ? 'descending' : 'ascending' };
}

/** Places of the table's rows in their order. Rows without a figure, or without a word, come last either way. */
export function sorted(table: Table, sorting: Sorting | null): number[] {
  const places = table.rows.map((_, place) => place);
  if (sorting === null) return places;
  const { column, direction } = sorting;
  const sign = direction === 'ascending' ? 1 : -1;
  const isFigures = hasFigures(table, column);
  const key = (place: number): number | string | null => {
    const cell = table.rows[place]?.cells[column];
    if (isFigures) return cell?.value ?? null;
    return cell === undefined || cell.text === '' || cell.text === '–' ? null : cell.text;
  };
  return places.sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null) || a - b;
    const order =
      typeof x === 'number' && typeof y === 'number' ? x - y : words.compare(String(x), String(y));
    return sign * order || a - b;
  });
}
