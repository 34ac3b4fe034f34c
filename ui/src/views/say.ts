/** What pictures of runs say in words: units, choices, how many runs, and the exact values of rows and runs. */

import type { Load, Report, Row, Unit } from '../report';
import { figure } from '../format';
import { extent, howRow, points, rowValue, titled, type Measure, type Point } from './measures';
import { absence } from './order';

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
};

/** Such as `throughput, per second`: the head of a column of raw figures. */
export function headOf({ words, unit }: Measure): string {
  return `${words}, ${unit === 'share' ? 'share' : UNITS[unit]}`;
}

/** Choices of a list. */
export function optionsOf(all: Measure[]): { key: string; words: string }[] {
  return all.map(({ key, words, unit }) => ({ key, words: `${titled(words)}, ${UNITS[unit]}` }));
}

/** Above a picture, with its axis. */
export function axisWords({ words, unit, is_log }: Measure): string {
  return `${titled(words)}, ${UNITS[unit]}, ${is_log ? 'log axis' : 'from zero'}`;
}

/** `n = 6 runs of each variant`, or of runs side by side how many there are. */
export function runCounts(report: Report, load: Load): string {
  if (report.kind !== 'study') return `n = ${load.rows.length} ${load.rows.length === 1 ? 'run' : 'runs'}`;
  const [low, high] = extent(load.rows.map((row) => row.runs.length)) ?? [0, 0];
  const each = low === high ? `${low}` : `${low} to ${high}`;
  return `n = ${each} ${each === '1' ? 'run' : 'runs'} of each variant`;
}

/** The exact values of a row, its name first. */
export function rowLines(report: Report, load: Load, row: Row, one: Measure): string[] {
  const value = rowValue(load, row, one);
  const all = points(report, row, one);
  if (value === null && all.length === 0) return [row.name, absence(report, row)];
  const range = extent(all.filter((point) => point.is_sound).map((point) => point.value));
  return [
    row.name,
    `${one.words}: ${figure(value, one.unit)}, ${howRow(load, one)}`,
    ...(range ? [`runs from ${figure(range[0], one.unit)} to ${figure(range[1], one.unit)}`] : []),
    `n = ${all.length} ${all.length === 1 ? 'run' : 'runs'}`,
  ];
}

/** The exact value of a run. */
export function pointLines(report: Report, one: Measure, point: Point): string[] {
  const run = report.runs[point.run];
  const value = figure(point.value, one.unit);
  if (run === undefined) return [value];
  const title = run.block === null ? value : `block ${run.block + 1}: ${value}`;
  return [
    title,
    one.words,
    run.standing === run.validity ? run.validity : `${run.standing.replace('_', ' ')}, ${run.validity}`,
    run.id,
  ];
}
