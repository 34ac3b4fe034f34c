/** Response time against the load that was really answered: over the loads of a study, over variants, and within a run. */

import type { Load, Report, Row, Run, Series } from '../report';
import { pointsOf } from '../unpack';
import { bestOf } from './order';
import { extent, points, rowValue, type Measure } from './measures';

/** One variant under one load. */
export interface Spot {
  /** A place in `Report.loads`. */
  load: number;
  row: Row;
  /** Ok answers per second. */
  x: number;
  y: number;
  /** Its runs. */
  runs: { x: number; y: number; is_sound: boolean }[];
}

/** One variant over the loads, in their order. */
export interface Curve {
  name: string;
  system: string;
  spots: Spot[];
}

/** A curve for each variant; variants are known by system and name, whichever load they are under. */
export function curves(report: Report, rate: Measure, time: Measure): Curve[] {
  const found = new Map<string, Curve>();
  report.loads.forEach((load, at) => {
    for (const row of load.rows) {
      const spot = spotOf(report, at, load, row, rate, time);
      if (spot === null) continue;
      const key = JSON.stringify([row.system, row.name]);
      const curve = found.get(key) ?? { name: row.name, system: row.system, spots: [] };
      curve.spots.push(spot);
      found.set(key, curve);
    }
  });
  for (const curve of found.values()) curve.spots.sort((a, b) => a.load - b.load);
  return [...found.values()];
}

function spotOf(report: Report, at: number, load: Load, row: Row, rate: Measure, time: Measure): Spot | null {
  const [x, y] = [rowValue(load, row, rate), rowValue(load, row, time)];
  if (x === null || y === null || y <= 0) return null;
  const times = new Map(points(report, row, time).map((point) => [point.run, point]));
  const runs = points(report, row, rate).flatMap((point) => {
    const other = times.get(point.run);
    return other ? [{ x: point.value, y: other.value, is_sound: point.is_sound }] : [];
  });
  return { load: at, row, x, y, runs };
}

/** The best of each system under this load. */
export function bestCurves(load: Load, all: Curve[]): Curve[] {
  const names = new Set(
    [...new Set(load.rows.map((row) => row.system))].map((system) => bestOf(load, system)?.name),
  );
  return all.filter((curve) => names.has(curve.name));
}

/** One bin of a run, after its warm-up. */
export interface Instant {
  at_s: number;
  rate: number;
  median: number | null;
  upper: number | null;
}

/** The label of the highest percentile of response time that is told of most bins of the run, such as `99 %`. */
export function upperOf(report: Report, { series }: Run): string {
  const labels = ['99 %', '95 %', '90 %'];
  return labels.find((label) => series && figures(report, series, 'response', label).length > 0) ?? '99 %';
}

function figures(report: Report, series: Series, chart: string, label: string): (number | null)[] {
  const tracks = report.charts.find(({ key }) => key === chart)?.tracks ?? [];
  const key = tracks.find((one) => one.label === label)?.key;
  return (key === undefined ? undefined : pointsOf(series, key)?.mid) ?? [];
}

/** What each bin of a run had; empty if it kept none. Bins in which nothing ended have no response time, and are left out. */
export function instants(report: Report, run: Run): Instant[] {
  const { series } = run;
  if (!series) return [];
  const [rates, medians, uppers] = [
    figures(report, series, 'rate', 'ok'),
    figures(report, series, 'response', 'median'),
    figures(report, series, 'response', upperOf(report, run)),
  ];
  const all: Instant[] = [];
  for (let bin = 0; bin < Math.min(series.bins, rates.length); bin += 1) {
    const at_s = bin * series.bin_s;
    const rate = rates[bin] ?? null;
    const [median, upper] = [medians[bin] ?? null, uppers[bin] ?? null];
    if (at_s < run.warm_up_s || rate === null || (median === null && upper === null)) continue;
    all.push({ at_s, rate, median, upper });
  }
  return all;
}

/** Whether the rate differs enough over the run for its points to be more than a cloud above one place. */
export function isSpread(all: readonly Pick<Instant, 'rate'>[]): boolean {
  const [low, high] = extent(all.map(({ rate }) => rate)) ?? [0, 0];
  return high > 0 && high - low >= 0.2 * high;
}
