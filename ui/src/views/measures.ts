/** The metrics that charts can show: the comparison metric first, then the others with values. */

import type { Figures, Load, Report, Row, Run, Unit } from '../report';

export interface Measure {
  key: string;
  /** Such as `throughput`, in lower case. */
  words: string;
  unit: Unit;
  /** Response times use a log scale; all others start at zero. */
  is_log: boolean;
  higher_is_better: boolean;
  of: (figures: Figures) => number | null;
}

const PER_ONE = 'cpu-per-request';
/** The keys are the names of metrics in plans. */
const ALL: Measure[] = [
  measure('throughput', 'throughput', 'per_s', (figures) => figures.ok_per_s, true),
  time('p50', 'p50 response time', (figures) => figures.response_ms.p50),
  time('p90', 'p90 response time', (figures) => figures.response_ms.p90),
  time('p95', 'p95 response time', (figures) => figures.response_ms.p95),
  time('p99', 'p99 response time', (figures) => figures.response_ms.p99),
  time('p99.9', 'p99.9 response time', (figures) => figures.response_ms.p99_9),
  time('max', 'max response time', (figures) => figures.response_ms.max),
  measure(PER_ONE, 'CPU per request', 'us', (figures) => figures.system_us_per_request),
  measure('errors', 'error rate', 'share', (figures) => figures.error_share),
  measure('rss', 'peak memory', 'bytes', (figures) => figures.rss_peak_bytes),
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

/** The metrics with a value in a run or a row of the load; the comparison metric first. */
export function measures(report: Report, load: Load): Measure[] {
  const all = ALL.map((one) =>
    one.key === PER_ONE ? { ...one, words: `CPU per ${report.counted.one}` } : one,
  );
  all.push(...further(load));
  const known = all.filter((one) => everyFigures(report, load).some((figures) => one.of(figures) !== null));
  const mine = known.find((one) => one.key === load.metric.name) ?? metricOf(report, load);
  return mine ? [mine, ...known.filter((one) => one !== mine)] : known;
}

/** Figures of the plan, and physical costs. */
function further(load: Load): Measure[] {
  return (load.measures ?? []).map(({ key, words, unit, higher_is_better }, at) => ({
    key,
    words,
    unit,
    is_log: false,
    higher_is_better,
    of: (figures) => figures.further?.[at] ?? null,
  }));
}

/** The comparison metric as described by the report, for metrics that are not in `ALL`. */
function metricOf(report: Report, load: Load): Measure | null {
  const { name, words, unit, higher_is_better } = load.metric;
  if (!everyFigures(report, load).some((figures) => figures.metric !== null)) return null;
  return { key: name, words, unit, is_log: unit === 'ms', higher_is_better, of: (figures) => figures.metric };
}

function everyFigures(report: Report, load: Load): Figures[] {
  const runs = load.rows.flatMap((row) => row.runs.map((run) => report.runs[run]?.figures ?? null));
  return [...runs, ...load.rows.map((row) => row.figures)].filter((figures) => figures !== null);
}

/** One run of a row that has a value. */
export interface Point {
  /** An index into `Report.runs`. */
  run: number;
  /** From 0, in the order of blocks. */
  index: number;
  value: number;
  /** Whether the run is valid without warnings. */
  is_valid: boolean;
}

/** The runs of a row that have a value. */
export function points(report: Report, row: Row, one: Measure): Point[] {
  const all: Point[] = [];
  row.runs.forEach((run, index) => {
    const it = report.runs[run];
    const value = it?.figures ? one.of(it.figures) : null;
    if (it === undefined || value === null || !Number.isFinite(value)) return;
    all.push({ run, index, value, is_valid: isValid(it) });
  });
  return all;
}

/** Whether the run is valid without warnings. */
export function isValid({ standing, validity }: Run): boolean {
  return standing === 'valid' && validity === 'valid';
}

/** The value of a row: for the comparison metric the median of its valid runs, for times the value over all samples. */
export function rowValue(load: Load, row: Row, one: Measure): number | null {
  const value =
    isMetric(load, one) && row.metric ? row.metric.median : row.figures ? one.of(row.figures) : null;
  return value !== null && Number.isFinite(value) ? value : null;
}

/** How the value of a row is aggregated. */
export function aggregation(load: Load, one: Measure): string {
  if (one.unit === 'per_s' || isMetric(load, one)) return 'median of runs';
  if (load.measures?.some(({ key }) => key === one.key) === true) return 'median of runs';
  return one.key === 'rss' ? 'max of runs' : 'all valid runs combined';
}

function isMetric(load: Load, one: Measure): boolean {
  return one.key === load.metric.name && one.unit === load.metric.unit;
}

/** The lowest and highest value; null without values. */
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

/** The extent of the positive values, for log scales. */
export function positiveExtent(values: Iterable<number | null>): [number, number] {
  const known: number[] = [];
  for (const value of values) if (value !== null && value > 0) known.push(value);
  return extent(known) ?? [1, 10];
}

/** With a capital first letter; `p99` is unchanged. */
export function titled(words: string): string {
  return /^p\d/.test(words) ? words : words.charAt(0).toUpperCase() + words.slice(1);
}
