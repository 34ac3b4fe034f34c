import { describe, expect, it } from 'vitest';
import { capacity as fixture } from '../../fixtures/capacity';
import type { Capacity, CapacitySearch } from '../report';
import { interval, limits, outcome, spots, times } from './capacity';

function search(): CapacitySearch {
  const { capacity } = fixture();
  if (capacity === null) throw new Error('no capacity search');
  return capacity;
}

function first(): Capacity {
  const [row] = search().rows;
  if (row === undefined) throw new Error('no row');
  return row;
}

describe('a search', () => {
  it('has points in order of rate, without levels that lack the time', () => {
    const row = first();
    const rates = spots(row, 'p99').map(({ x }) => x);
    expect(rates).toEqual([...rates].sort((a, b) => a - b));
    const without = { ...row, levels: row.levels.map((level) => ({ ...level, response_ms: null })) };
    expect(spots(without, 'p99')).toEqual([]);
  });

  it('lists the time of its condition first', () => {
    expect(times(search())[0]).toBe('p99');
    expect(limits(search(), 'p99').map(({ limit_ms }) => limit_ms)).toEqual([100]);
    expect(limits(search(), 'p50')).toEqual([]);
  });

  it('classifies levels by their passed and failed runs', () => {
    const [level] = first().levels;
    if (level === undefined) throw new Error('no level');
    expect(outcome({ ...level, passed: 3, failed: 0 })).toBe('passed');
    expect(outcome({ ...level, passed: 2, failed: 1 })).toBe('mixed');
    expect(outcome({ ...level, passed: 0, failed: 2 })).toBe('failed');
    expect(outcome({ ...level, passed: 0, failed: 0, invalid: 1 })).toBe('invalid');
  });

  it('has an open interval if no level failed, or none passed', () => {
    const row = first();
    expect(interval(row)).toEqual([396, 407]);
    const most = Math.max(...row.levels.map(({ per_s }) => per_s));
    expect(interval({ ...row, failed_per_s: null })).toEqual([396, most]);
    expect(interval({ ...row, held_per_s: null })).toEqual([0, 407]);
    expect(interval({ ...row, held_per_s: null, failed_per_s: null })).toBeNull();
  });
});
