/** The data of charts over time as one table, with a row for each bin of each run. */

import type { Run, TimeChart, Track, Unit } from '../report';
import type { Numbers } from '../numbers';
import { pointsOf } from '../unpack';
import { linesOf } from './bins';

const UNITS: Record<Unit, string> = {
  per_s: '1/s',
  ms: 'ms',
  us: 'µs',
  share: '0 to 1',
  bytes: 'bytes',
  bytes_per_s: 'bytes/s',
  cores: 'cores',
  count: 'count',
  s: 's',
  'request-seconds': 'request-seconds',
};

/** One run of the table, with its label. */
export interface Named {
  name: string;
  run: Run;
}

export function binned(charts: readonly TimeChart[], all: readonly Named[]): Numbers {
  const tracks = charts.flatMap((chart) => chart.tracks.map((track) => ({ chart, track })));
  const series = all.flatMap(({ run }) => run.series ?? []);
  const present = tracks.filter(({ chart, track }) =>
    series.some((each) => linesOf(chart, each).some((line) => line.track === track)),
  );
  const isBanded = ({ track }: { track: Track }): boolean =>
    series.some((each) => pointsOf(each, track.key)?.low);
  const heads = present.flatMap((column) => {
    const name = `${column.chart.title}: ${column.track.label}`;
    const unit = UNITS[column.chart.unit];
    const mid = `${name} (${unit})`;
    return isBanded(column)
      ? [mid, `${name}, lowest second (${unit})`, `${name}, highest second (${unit})`]
      : [mid];
  });
  const rows = all.flatMap(({ name, run }) =>
    Array.from({ length: run.series?.bins ?? 0 }, (_, bin) => {
      const values = present.flatMap((column) => {
        const points = run.series ? pointsOf(run.series, column.track.key) : undefined;
        const mid = points?.mid[bin] ?? null;
        return isBanded(column) ? [mid, points?.low?.[bin] ?? mid, points?.high?.[bin] ?? mid] : [mid];
      });
      return [name, bin * (run.series?.bin_s ?? 1) - run.warm_up_s, ...values];
    }),
  );
  return { heads: ['run', 'start, s after the warm-up', ...heads], rows };
}
