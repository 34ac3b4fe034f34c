/** What variants can be looked at by: the metric of the load first, then the others that anything is known of. */

import type { Figures, Load, Report, Row, Run, Unit } from '../report';

export interface Measure {
  key: string;
  /** Such as `throughput`; begins small. */
  words: string;
  unit: Unit;
  /** Response times grow by factors; all else begins at zero. */
  is_log: boolean;
  higher_is_better: boolean;
  of: (figures: Figures) => number | null;
}

const PER_ONE = 'cpu-per-request';
/** Those of the metric have its name in plans as their keys. */
const ALL: Measure[] = [
  measure('throughput', 'throughput', 'per_s', (figures) => figures.ok_per_s, true),
  time('p50', 'median response time', (figures) => figures.response_ms.p50),
  time('p90', 'p90 of response time', (figures) => figures.response_ms.p90),
  time('p95', 'p95 of response time', (figures) => figures.response_ms.p95),
  time('p99', 'p99 of response time', (figures) => figures.response_ms.p99),
  time('p99.9', 'p99.9 of response time', (figures) => figures.response_ms.p99_9),
  time('max', 'longest response time', (figures) => figures.response_ms.max),
  measure(PER_ONE, 'CPU per request', 'us', (figures) => figures.system_us_per_request),
  measure('errors', 'share of errors', 'share', (figures) => figures.error_share),
  measure('rss', 'memory', 'bytes', (figures) => figures.rss_peak_bytes),
];

function measure(
  key: string,
  words: string,
  unit: Unit,
  of: Measure['of'],
  higher_is_better = false,
): Measure {
  return { key, words, unit, is_log: false, higher_is_better, of };
}

function time(key: string, words: string, of: Measure['of']): Measure {
  return { key, words, unit: 'ms', is_log: true, higher_is_better: false, of };
}

/** All of which a run or a row of the load has a figure; the metric first. */
export function measures(report: Report, load: Load): Measure[] {
  const all = ALL.map((one) =>
    one.key === PER_ONE ? { ...one, words: `CPU per ${report.counted.one}` } : one,
  );
  const known = all.filter((one) => everyFigures(report, load).some((figures) => one.of(figures) !== null));
  const mine = known.find((one) => one.key === load.metric.name) ?? metricOf(report, load);
  return mine ? [mine, ...known.filter((one) => one !== mine)] : known;
}

/** The metric of the load as it is told, for names that are not among the others. */
function metricOf(report: Report, load: Load): Measure | null {
  const { name, words, unit, higher_is_better } = load.metric;
  if (!everyFigures(report, load).some((figures) => figures.metric !== null)) return null;
  return { key: name, words, unit, is_log: unit === 'ms', higher_is_better, of: (figures) => figures.metric };
}

function everyFigures(report: Report, load: Load): Figures[] {
  const runs = load.rows.flatMap((row) => row.runs.map((run) => report.runs[run]?.figures ?? null));
  return [...runs, ...load.rows.map((row) => row.figures)].filter((figures) => figures !== null);
}

/** One run of a row, as far as it has the figure. */
export interface Point {
  /** A place in `Report.runs`. */
  run: number;
  /** From 0, in the order of blocks. */
  place: number;
  value: number;
  /** May it be believed? */
  is_sound: boolean;
}

/** Each run that has the figure. */
export function points(report: Report, row: Row, one: Measure): Point[] {
  const all: Point[] = [];
  row.runs.forEach((run, place) => {
    const it = report.runs[run];
    const value = it?.figures ? one.of(it.figures) : null;
    if (it === undefined || value === null || !Number.isFinite(value)) return;
    all.push({ run, place, value, is_sound: isSound(it) });
  });
  return all;
}

/** May it be believed? */
export function isSound({ standing, validity }: Run): boolean {
  return standing === 'valid' && validity === 'valid';
}

/** The figure of a row: of the metric the median over its valid runs, of times those of all its runs together. */
export function rowValue(load: Load, row: Row, one: Measure): number | null {
  const value =
    isMetric(load, one) && row.metric ? row.metric.median : row.figures ? one.of(row.figures) : null;
  return value !== null && Number.isFinite(value) ? value : null;
}

/** How the figure of a row came about. */
export function howRow(load: Load, one: Measure): string {
  if (one.unit === 'per_s' || isMetric(load, one)) return 'median over runs';
  return one.key === 'rss' ? 'the most of any run' : 'all valid runs together';
}

function isMetric(load: Load, one: Measure): boolean {
  return one.key === load.metric.name && one.unit === load.metric.unit;
}

/** The lowest and highest of what is drawn; null if there is nothing. */
export function extent(values: Iterable<number | null>): [number, number] | null {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value === null || !Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? [low, high] : null;
}

/** For axes without a zero. */
export function positiveExtent(values: Iterable<number | null>): [number, number] {
  const known: number[] = [];
  for (const value of values) if (value !== null && value > 0) known.push(value);
  return extent(known) ?? [1, 10];
}

/** The middle one, or the mean of the middle two. */
export function median(values: number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  const upper = sorted[Math.floor(half)];
  if (upper === undefined) return null;
  return Number.isInteger(half) ? (upper + (sorted[half - 1] ?? upper)) / 2 : upper;
}

/** First letter large, for the head of a list; `p99` stays as it is. */
export function titled(words: string): string {
  return /^p\d/.test(words) ? words : words.charAt(0).toUpperCase() + words.slice(1);
}
