import { expect, test } from 'vitest';
import type { Table } from '../report';
import { next, sorted } from './sort';

const table: Table = {
  heads: [
    { text: 'system', unit: '', is_left: true },
    { text: 'throughput', unit: 'ok/s', is_left: false },
  ],
  rows: [
    ['v10', 5],
    ['v9', null],
    ['–', 70],
    ['V2', 5],
  ].map(([text, value]) => ({
    cells: [
      { text: String(text), value: null },
      { text: String(value), value: value as number | null },
    ],
    is_winner: false,
    row: null,
  })),
  names: 1,
};

test('numbers sort by size, with missing values last in both directions', () => {
  expect(sorted(table, { column: 1, direction: 'descending' })).toEqual([2, 0, 3, 1]);
  expect(sorted(table, { column: 1, direction: 'ascending' })).toEqual([0, 3, 2, 1]);
});

test('texts sort in natural order, with empty ones last', () => {
  expect(sorted(table, { column: 0, direction: 'ascending' })).toEqual([3, 1, 0, 2]);
  expect(sorted(table, { column: 0, direction: 'descending' })).toEqual([0, 1, 3, 2]);
});

test('a third click restores the original order', () => {
  const first = next(table, 1, null);
  expect(first).toEqual({ column: 1, direction: 'descending' });
  const second = next(table, 1, first);
  expect(second).toEqual({ column: 1, direction: 'ascending' });
  expect(next(table, 1, second)).toBeNull();
  expect(next(table, 0, second)).toEqual({ column: 0, direction: 'ascending' });
  expect(sorted(table, null)).toEqual([0, 1, 2, 3]);
});
