import { describe, expect, it } from 'vitest';
import type { Line } from './bins';
import { classOf, colorOf, stacked, sums } from './stack';

function line(key: string, mid: (number | null)[]): Line {
  return { track: { key, label: key, subject: 'database' }, index: 0, points: { mid }, is_band: false };
}

describe('stacked areas', () => {
  const lines = [line('db_cpu', [1, null, null]), line('db_lock', [2, 3, null])];

  it('lie on one another, and a bin without values is a gap', () => {
    expect(sums(lines, 3)).toEqual([
      [1, 0, null],
      [3, 3, null],
    ]);
  });

  it('reach down to the area below, the lowest to zero', () => {
    const { data, bands } = stacked([0.5, 1.5, 2.5], lines);
    expect(data).toHaveLength(4);
    expect(data[3]).toEqual([0, 0, 0]);
    expect(bands).toEqual([
      { high: 1, low: 3, line: 0 },
      { high: 2, low: 1, line: 1 },
    ]);
  });

  it('have a color each, and those that are not known share one', () => {
    const [cpu, lock] = lines;
    expect(cpu && colorOf(cpu.track)).toBe('--good');
    expect(lock && classOf(lock.track)).toBe('in-bad');
    expect(classOf(line('db_something', []).track)).toBe('in-strong-line');
    expect(classOf(line('threads/futex/app', []).track)).toBe('in-bad');
    expect(classOf(line('threads/peer 10.0.0.1:5432/on_cpu', []).track)).toBe('in-state-peer');
    expect(classOf(line('threads/constructor/app', []).track)).toBe('in-strong-line');
  });
});
