import { expect, it } from 'vitest';
import type { Track } from '../report';
import { study } from '../../fixtures/study';
import { dashOf, styles, property } from './line_style';

const track = (key: string, subject: Track['subject']): Track => ({ key, label: key, subject });

it('distinguishes lines of one subject by dashes, and subjects by color', () => {
  const tracks = [
    track('a', 'system'),
    track('b', 'system'),
    track('c', 'generator'),
    track('d', 'generator'),
  ];
  const [a, b, c, d] = styles('lines', tracks);
  expect(a?.dash).toEqual([]);
  expect(c?.dash).toEqual([]);
  expect(b?.dash).toEqual(d?.dash);
  expect(b?.dash).not.toEqual([]);
  expect(property('system', '--series-2')).not.toBe(property('generator', '--series-2'));
});

it('draws planned rates thinner than actual rates, in any order', () => {
  const [planned, ok] = styles('lines', [track('planned_per_s', 'load'), track('ok_per_s', 'load')]);
  expect(ok?.dash).toEqual([]);
  expect(planned?.dash).not.toEqual([]);
  expect(planned?.width).toBeLessThan(ok?.width ?? 0);
});

it('draws higher percentiles thinner', () => {
  const [median, p99, max] = styles(
    'times',
    ['50', '99', 'max'].map((key) => track(key, 'load')),
  );
  expect(median?.width).toBeGreaterThan(p99?.width ?? 9);
  expect(p99?.alpha).toBeGreaterThan(max?.alpha ?? 9);
});

it('has a style for any number of lines', () => {
  const many = Array.from({ length: 40 }, (_, index) => track(String(index), 'machine'));
  for (const kind of ['lines', 'times'] as const) {
    expect(styles(kind, many).every(({ width, alpha }) => width > 0 && alpha > 0)).toBe(true);
  }
});

it('draws the best variant of a system solid, and the others dashed', () => {
  const [load] = study().loads;
  if (!load) throw new Error('no load');
  const full = load.rows.flatMap((row, index) => (dashOf(load, index).length === 0 ? [row] : []));
  expect(full.every(({ is_best }) => is_best)).toBe(true);
  const rows = load.rows.map((row) => ({ ...row, system: 'one', is_best: false }));
  expect(dashOf({ ...load, rows }, 0)).toEqual([]);
  expect(dashOf({ ...load, rows }, 1)).not.toEqual([]);
});
