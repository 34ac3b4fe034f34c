import { expect, test } from 'vitest';
import { study } from '../../fixtures/study';
import { columnGroups } from './print_columns';

const table = study().loads[0]?.table;

test('every column appears once, and the names in each part', () => {
  if (!table) throw new Error('no table');
  for (const characters of [1, 60, 110, 10_000]) {
    const made = columnGroups(table, characters);
    for (const part of made) expect(part.slice(0, table.names)).toEqual([0, 1, 2, 3]);
    const others = made.flatMap((part) => part.slice(table.names));
    expect(others).toEqual(table.heads.map((_, column) => column).slice(table.names));
  }
  expect(columnGroups(table, 10_000)).toHaveLength(1);
  expect(columnGroups(table, 1)).toHaveLength(table.heads.length - table.names);
});

test('a table with only names is one part', () => {
  const heads = [{ text: 'system', unit: '', is_left: true }];
  expect(columnGroups({ heads, rows: [], names: 1 }, 100)).toEqual([[0]]);
});
