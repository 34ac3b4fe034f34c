/** Parameters and their values are ordered; paths vary one parameter; grids have every cell. */

import { describe, expect, it } from 'vitest';
import type { Load, Row } from '../report';
import { grids, heatStep, numeric, paths, spread, valuesInOrder, varied } from './parameters';

const row = (system: string, parameters: Record<string, string | number>): Row =>
  ({
    system,
    name: system,
    parameters: Object.entries(parameters).map(([name, value]) => ({ name, value: String(value) })),
  }) as unknown as Row;
const load = (...rows: Row[]): Load => ({ rows }) as unknown as Load;
const puma = [1, 8, 16].flatMap((workers) =>
  [1, 16].map((threads) => row('puma', { workers, threads, port: 1 })),
);
const unicorn = [1, 8, 64, 128].map((workers) => row('unicorn', { workers }));
const all = load(...puma, ...unicorn, row('node', {}));

describe('values', () => {
  it('are parsed as numbers with units, or as texts', () => {
    expect(['8', '64MiB', '10ms', '-2.5', 'on', '1e3', 'constructor', ''].map(numeric)).toEqual([
      8,
      67108864,
      0.01,
      -2.5,
      null,
      null,
      null,
      null,
    ]);
  });
  it('are sorted by size; texts keep their order', () => {
    expect(valuesInOrder(['16', '1', '8', '1'])).toEqual(['1', '8', '16']);
    expect(valuesInOrder(['1GiB', '64MiB'])).toEqual(['64MiB', '1GiB']);
    expect(valuesInOrder(['on', 'auto', '1'])).toEqual(['on', 'auto', '1']);
  });
  it('are spaced evenly, or on a log scale', () => {
    expect(spread(['1', '2', '8'])).toEqual([0, 0.5, 1]);
    expect(spread(['1', '4', '16'])).toEqual([0, 0.5, 1]);
    expect(spread(['1', '8', '64', '512'])[1]).toBeCloseTo(1 / 3);
    expect(spread(['0', '100', '1000'])).toEqual([0, 0.5, 1]);
    expect(spread(['only'])).toEqual([0.5]);
  });
});

describe('parameters', () => {
  it('are ordered by their number of values', () => {
    expect(varied(all)).toEqual(['workers', 'threads']);
    expect(varied(all, 'unicorn')).toEqual(['workers']);
    expect(varied(load(row('a', { x: 1 }), row('b', { x: 2 })))).toEqual([]);
  });
  it('have a path for each combination of the others', () => {
    expect(paths(all, 'workers').map((path) => [path.system, path.others, path.rows.length])).toEqual([
      ['puma', 'threads=1', 3],
      ['puma', 'threads=16', 3],
      ['unicorn', '', 4],
    ]);
  });
  it('have grids with empty cells for missing variants', () => {
    const [grid, ...more] = grids(load(...puma.slice(1)), 10);
    expect(more).toEqual([]);
    expect(grid).toMatchObject({ x: 'workers', columns: ['1', '8', '16'], y: 'threads', lines: ['1', '16'] });
    expect(grid?.cells[0]?.[0]).toBeNull();
    expect(grid?.cells[1]?.[0]).toBe(puma[1]);
  });
  it('have no grid if most cells are empty', () => {
    const few = [row('s', { a: 1, b: 1 }), row('s', { a: 2, b: 2 })];
    expect(grids(load(...few), 10)).toEqual([]);
  });
  it('have at most the requested number of grids', () => {
    const many = [1, 2].flatMap((a) => [1, 2].flatMap((b) => [1, 2].map((c) => row('s', { a, b, c }))));
    expect(grids(load(...many), 10).map((grid) => grid.others)).toEqual(['c=1', 'c=2']);
    expect(grids(load(...many), 1)).toHaveLength(1);
  });
});

describe('heat steps', () => {
  it('cover the range from lowest to highest', () => {
    expect([0, 5, 10].map((value) => heatStep(value, 0, 10, false))).toEqual([0, 3, 5]);
    expect([1, 10, 100].map((value) => heatStep(value, 1, 100, true))).toEqual([0, 3, 5]);
    expect(heatStep(3, 3, 3, false)).toBe(0);
  });
});
