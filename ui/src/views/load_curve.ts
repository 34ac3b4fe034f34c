/** The data of response time vs. throughput: over the loads of a study, and within a run. */

import type { Load, Report, Row, Run, Series } from '../report';
import { pointsOf } from '../unpack';
import { bestOf } from './order';
import { extent, points, rowValue, type Measure } from './measures';

/** One variant under one load. */
export interface Spot {
  /** An index into `Report.loads`. */
  load: number;
  row: Row;
  /** Ok answers per second. */
  x: number;
  y: number;
  /** Its runs. */
  runs: { x: number; y: number; is_valid: boolean }[];
}

/** One variant over the loads, in their order. */
export interface Curve {
  name: string;
  system: string;
  spots: Spot[];
}

/** One curve per variant, identified by system and name across loads. */
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
    return other ? [{ x: point.value, y: other.value, is_valid: point.is_valid }] : [];
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

/** One bin of a run after the warm-up. */
export interface BinPoint {
  at_s: number;
  rate: number;
  median: number | null;
  upper: number | null;
}

/** The highest percentile of response time that most bins of the run have, such as `p99`. */
export function upperOf({ series }: Run): string {
  return ['p99', 'p95', 'p90'].find((key) => series && values(series, `response_${key}`).length > 0) ?? 'p99';
}

function values(series: Series, track: string): (number | null)[] {
  return pointsOf(series, track)?.mid ?? [];
}

/** The bins of a run; empty without time series. Bins without completed requests have no response time and are omitted. */
export function binPoints(run: Run): BinPoint[] {
  const { series } = run;
  if (!series) return [];
  const [rates, medians, uppers] = [
    values(series, 'ok_per_s'),
    values(series, 'response_p50'),
    values(series, `response_${upperOf(run)}`),
  ];
  const all: BinPoint[] = [];
  for (let bin = 0; bin < Math.min(series.bins, rates.length); bin += 1) {
    const at_s = bin * series.bin_s - run.warm_up_s;
    const rate = rates[bin] ?? null;
    const [median, upper] = [medians[bin] ?? null, uppers[bin] ?? null];
    if (at_s < 0 || rate === null || (median === null && upper === null)) continue;
    all.push({ at_s, rate, median, upper });
  }
  return all;
}

/** Whether the rate varies enough during the run to show a relation. */
export function isSpread(all: readonly Pick<BinPoint, 'rate'>[]): boolean {
  const [low, high] = extent(all.map(({ rate }) => rate)) ?? [0, 0];
  return high > 0 && high - low >= 0.2 * high;
}
