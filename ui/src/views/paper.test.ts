import { expect, test } from 'vitest';
import { study } from '../../fixtures/study';
import { parts } from './paper';

const table = study().loads[0]?.table;

test('every column is there once, and the names in each part', () => {
  if (!table) throw new Error('the fixture has a table');
  for (const letters of [1, 60, 110, 10_000]) {
    const made = parts(table, letters);
    for (const part of made) expect(part.slice(0, table.names)).toEqual([0, 1, 2, 3]);
    const others = made.flatMap((part) => part.slice(table.names));
    expect(others).toEqual(table.heads.map((_, column) => column).slice(table.names));
  }
  expect(parts(table, 10_000)).toHaveLength(1);
  expect(parts(table, 1)).toHaveLength(table.heads.length - table.names);
});

test('a table of names alone is one part', () => {
  const heads = [{ text: 'system', unit: '', is_left: true }];
  expect(parts({ heads, rows: [], names: 1 }, 100)).toEqual([[0]]);
});
