/** Rows are grouped by system, the best first. */

import { describe, expect, it } from 'vitest';
import { FIXTURES } from '../../fixtures';
import type { Load, Report, Row } from '../report';
import { missingText, bestOf, ordered } from './order';

const row = (system: string, variant: string, median: number | null): Row =>
  ({
    name: `${system} ${variant}`.trim(),
    system,
    variant,
    runs: [],
    figures: null,
    metric: median === null ? null : { n: 1, median, min: median, max: median },
    is_best: false,
  }) as unknown as Row;
const load = (higher_is_better: boolean, ...rows: Row[]): Load =>
  ({ rows, metric: { higher_is_better } }) as unknown as Load;
const study = { kind: 'study', runs: [] } as unknown as Report;

describe('rows', () => {
  const rows = [row('a', 'x=1', 5), row('b', '', 9), row('a', 'x=2', null), row('a', 'x=3', 7)];
  const labels = (made: Load): string[] =>
    ordered(study, made).map(({ group, label }) => `${group}: ${label}`);
  it('are grouped by system, the best first, those without a value last', () => {
    expect(labels(load(true, ...rows))).toEqual(['b: no parameters', 'a: x=3', 'a: x=1', 'a: x=2']);
    expect(labels(load(false, ...rows))).toEqual(['a: x=1', 'a: x=3', 'a: x=2', 'b: no parameters']);
  });
  it('have full names if each system has one row', () => {
    expect(labels(load(true, row('a', 'x=1', 1), row('b', 'x=2', 2)))).toEqual([': b x=2', ': a x=1']);
  });
  it('keep their order outside a study', () => {
    const runs = FIXTURES.runs();
    const [first] = runs.loads;
    expect(first && ordered(runs, first).map(({ at }) => at)).toEqual(first?.rows.map((_, at) => at));
  });
  it('include the best of their system', () => {
    expect(bestOf(load(true, ...rows), 'a')?.variant).toBe('x=3');
    expect(bestOf(load(true, row('a', '', null)), 'a')).toBeNull();
  });
  it('show why a value is missing', () => {
    const of = (...standings: string[]): string =>
      missingText({ runs: standings.map((standing) => ({ standing })) } as unknown as Report, {
        ...row('a', '', null),
        runs: standings.map((_, at) => at),
      });
    expect([of('failed', 'failed'), of('cut_short'), of('invalid', 'failed'), of('valid')]).toEqual([
      'failed',
      'cut short',
      'no valid run',
      'n/a',
    ]);
  });
});
