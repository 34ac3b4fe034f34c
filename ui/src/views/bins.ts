/** Time series as chart columns: a common x, null for gaps, and bands for bins longer than a second. */

import type { Points, Series, TimeChart, Track } from '../report';
import { fromZero, logarithmic, type Room, type Scale } from './scale';
import { extent, positiveExtent } from './measures';
import { pointsOf } from '../unpack';
import { sums } from './stack';

/** A track with at least one value in the run. */
export interface Line {
  track: Track;
  /** Its index in the chart, which selects the same line style in every run. */
  index: number;
  points: Points;
  is_band: boolean;
}

/** The middle of each bin, in seconds after the warm-up. */
export function middles({ bins, bin_s }: Series, warm_up_s: number): number[] {
  return Array.from({ length: bins }, (_, bin) => (bin + 0.5) * bin_s - warm_up_s);
}

/** The end of the last bin, in seconds after the warm-up. */
export function until({ bins, bin_s }: Series, warm_up_s: number): number {
  return bins * bin_s - warm_up_s;
}

/** The tracks of the chart with values in this run. */
export function linesOf(chart: TimeChart, series: Series): Line[] {
  return chart.tracks.flatMap((track, index) => {
    const points = pointsOf(series, track.key);
    if (!points?.mid.some((value) => value !== null)) return [];
    return [{ track, index, points, is_band: points.low !== undefined && points.high !== undefined }];
  });
}

/** `x`, then the values of each line, then the high and low edges of each band. */
export interface Columns {
  data: (number | null)[][];
  /** Columns of the upper and the lower edge, and their line. */
  bands: { high: number; low: number; line: number }[];
}

export function columns(lines: Line[], series: Series, warm_up_s: number): Columns {
  const data: (number | null)[][] = [
    middles(series, warm_up_s),
    ...lines.map(({ points }) => filled(points.mid, series.bins)),
  ];
  const bands: Columns['bands'] = [];
  lines.forEach(({ points }, line) => {
    if (!points.low || !points.high) return;
    bands.push({ high: data.length, low: data.length + 1, line });
    data.push(filled(points.high, series.bins), filled(points.low, series.bins));
  });
  return { data, bands };
}

/** Pads the values with gaps to the number of bins. */
function filled(values: readonly (number | null)[], bins: number): (number | null)[] {
  return Array.from({ length: bins }, (_, bin) => values[bin] ?? null);
}

/** Indexes of values with gaps on both sides, which a line would not show. */
export function isolated(values: readonly (number | null | undefined)[]): number[] {
  const known = (bin: number): boolean => typeof values[bin] === 'number';
  return values.flatMap((_, bin) => (known(bin) && !known(bin - 1) && !known(bin + 1) ? [bin] : []));
}

/** A common y axis for all runs, so that they can be compared visually. */
export function sharedScale(chart: TimeChart, all: Series[], room: Room): Scale {
  const lists = all.flatMap((series) => {
    const lines = linesOf(chart, series);
    if (chart.kind === 'stack') return sums(lines, series.bins);
    return lines.flatMap(({ points }) => [points.mid, points.low ?? [], points.high ?? []]);
  });
  if (chart.kind === 'times') {
    const [low, high] = positiveExtent(flat(lists));
    const scale = logarithmic(low, high, chart.unit, room);
    return lists.some((list) => list.includes(0)) ? withZero(scale) : scale;
  }
  // Charts in a column are low: their ticks may be closer together.
  const long = { from: room.from * 2.4, to: room.to * 2.4 };
  const high = extent(flat(lists))?.[1] ?? 1;
  return fromZero(chart.unit === 'count' ? Math.max(1, high) : high, chart.unit, long);
}

/** A log scale has no zero: it gets a separate tick below the others. */
function withZero(scale: Scale): Scale {
  const low = scale.low / 2.5;
  return { ...scale, low, ticks: [{ value: low, text: '0' }, ...scale.ticks] };
}

function* flat(lists: readonly (readonly (number | null)[])[]): Iterable<number | null> {
  for (const list of lists) yield* list;
}

/** Whether the chart is about the load rather than about resource use. */
export function isOfLoad({ kind, unit, tracks }: TimeChart): boolean {
  return (
    kind === 'times' ||
    kind === 'stack' ||
    (unit !== 'bytes_per_s' && tracks.some(({ subject }) => subject === 'load'))
  );
}
