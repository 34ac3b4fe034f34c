import { expect, it } from 'vitest';
import { study } from '../../fixtures/study';
import type { Run, TimeChart } from '../report';
import { binned } from './binned';

const [run] = study().runs;
if (!run) throw new Error('no run');

const CHART: TimeChart = {
  key: 'rate',
  title: 'Answers',
  unit: 'per_s',
  kind: 'lines',
  tracks: [
    { key: 'ok', label: 'ok', subject: 'load' },
    { key: 'absent', label: 'absent', subject: 'load' },
  ],
};

const of = (series: Run['series']): Run => ({ ...run, series });

it('has a row for each bin of each run, and no empty column', () => {
  const a = of({ bin_s: 1, bins: 2, tracks: { ok: { mid: [5, null] } } });
  const b = of({ bin_s: 3, bins: 1, tracks: { ok: { mid: [7] } } });
  expect(
    binned(
      [CHART],
      [
        { name: 'a', run: a },
        { name: 'b', run: b },
        { name: 'c', run: of(null) },
      ],
    ),
  ).toEqual({
    heads: ['run', 'start, s after the warm-up', 'Answers: ok (1/s)'],
    rows: [
      ['a', -5, 5],
      ['a', -4, null],
      ['b', -5, 7],
    ],
  });
});

it('has columns for the extremes of the seconds', () => {
  const a = of({ bin_s: 3, bins: 1, tracks: { ok: { mid: [5], low: [2], high: [9] } } });
  const { heads, rows } = binned([CHART], [{ name: 'a', run: a }]);
  expect(heads.slice(2)).toEqual([
    'Answers: ok (1/s)',
    'Answers: ok, lowest second (1/s)',
    'Answers: ok, highest second (1/s)',
  ]);
  expect(rows).toEqual([['a', -5, 5, 2, 9]]);
});
