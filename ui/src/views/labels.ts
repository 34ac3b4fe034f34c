/** Labels of charts: units, options, number of runs, and tooltips of rows and runs. */

import type { Load, Report, Row, Unit } from '../report';
import type { Compared } from '../report_compared';
import { formatValue } from '../format';
import { extent, aggregation, points, rowValue, titled, type Measure, type Point } from './measures';
import { missingText } from './order';

const UNITS: Record<Unit, string> = {
  per_s: 'per second',
  ms: 'ms',
  us: 'µs',
  share: '%',
  bytes: 'bytes',
  bytes_per_s: 'bytes per second',
  cores: 'cores',
  count: 'count',
  s: 's',
  'request-seconds': 'request-seconds',
};

/** A column title of a data table: `throughput, per second`. */
export function columnTitle({ words, unit }: Measure): string {
  return `${words}, ${unit === 'share' ? 'share' : UNITS[unit]}`;
}

/** The options of a select. */
export function selectOptions(all: Measure[]): { key: string; words: string }[] {
  return all.map(({ key, words, unit }) => ({ key, words: `${titled(words)}, ${UNITS[unit]}` }));
}

/** The title of a chart, with its unit and scale. */
export function chartTitle({ words, unit, is_log }: Measure): string {
  return `${titled(words)}, ${UNITS[unit]}, ${is_log ? 'log scale' : 'from zero'}`;
}

/** `n = 6 runs per variant`, or the number of runs side by side. */
export function sampleSize(report: Report, load: Load): string {
  if (report.kind !== 'study') return `n = ${load.rows.length} ${load.rows.length === 1 ? 'run' : 'runs'}`;
  const [low, high] = extent(load.rows.map((row) => row.runs.length)) ?? [0, 0];
  const each = low === high ? `${low}` : `${low} to ${high}`;
  return `n = ${each} ${each === '1' ? 'run' : 'runs'} per variant`;
}

/** The tooltip of a row, its name first. */
export function rowTooltip(report: Report, load: Load, row: Row, one: Measure): string[] {
  const value = rowValue(load, row, one);
  const all = points(report, row, one);
  if (value === null && all.length === 0) return [row.name, missingText(report, row)];
  const range = extent(all.filter((point) => point.is_valid).map((point) => point.value));
  return [
    row.name,
    `${one.words}: ${formatValue(value, one.unit)}, ${aggregation(load, one)}`,
    ...(range
      ? [`range of runs: ${formatValue(range[0], one.unit)} to ${formatValue(range[1], one.unit)}`]
      : []),
    ...(row.compared && one.key === load.metric.name ? [compared(row.compared)] : []),
    `n = ${all.length} ${all.length === 1 ? 'run' : 'runs'}`,
  ];
}

/** The ratio to the reference, and the verdict. */
function compared({ text, verdict }: Compared): string {
  if (verdict === 'reference') return 'reference of the ratios';
  return verdict === 'none' ? `no verdict: ${text}` : `${text}, ${verdict}`;
}

/** The tooltip of a run. */
export function pointTooltip(report: Report, one: Measure, point: Point): string[] {
  const run = report.runs[point.run];
  const value = formatValue(point.value, one.unit);
  if (run === undefined) return [value];
  const title = run.block === null ? value : `block ${run.block + 1}: ${value}`;
  return [
    title,
    one.words,
    run.standing === run.validity ? run.validity : `${run.standing.replace('_', ' ')}, ${run.validity}`,
    run.id,
  ];
}
