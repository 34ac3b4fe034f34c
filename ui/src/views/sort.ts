/** Sorts the rows of a table by one of its columns. */

import type { Table } from '../report';

export type Direction = 'ascending' | 'descending';

/** The sort column and direction. */
export interface Sorting {
  column: number;
  direction: Direction;
}

const words = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** Whether the column contains numbers. */
export function hasFigures(table: Table, column: number): boolean {
  return table.rows.some((row) => (row.cells[column]?.value ?? null) !== null);
}

/** The sorting after a click on a column title: largest number or first text first, then reversed, then the original order. */
export function next(table: Table, column: number, now: Sorting | null): Sorting | null {
  const first: Direction = hasFigures(table, column) ? 'descending' : 'ascending';
  if (now?.column !== column) return { column, direction: first };
  if (now.direction !== first) return null;
  return { column, direction: first === 'ascending' ? 'descending' : 'ascending' };
}

/** The sorted indexes of the rows. Missing values and empty texts are last in both directions. */
export function sorted(table: Table, sorting: Sorting | null): number[] {
  const indexes = table.rows.map((_, index) => index);
  if (sorting === null) return indexes;
  const { column, direction } = sorting;
  const sign = direction === 'ascending' ? 1 : -1;
  const isFigures = hasFigures(table, column);
  const key = (index: number): number | string | null => {
    const cell = table.rows[index]?.cells[column];
    if (isFigures) return cell?.value ?? null;
    return cell === undefined || cell.text === '' || cell.text === '–' ? null : cell.text;
  };
  return indexes.sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null) || a - b;
    const order =
      typeof x === 'number' && typeof y === 'number' ? x - y : words.compare(String(x), String(y));
    return sign * order || a - b;
  });
}
