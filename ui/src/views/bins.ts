/** Figures over time as columns for a chart: one x for all, gaps as null, and bands where a bin is longer than a second. */

import type { Points, Series, TimeChart, Track } from '../report';
import { fromZero, logarithmic, type Room, type Scale } from './scale';
import { extent, positiveExtent } from './measures';
import { pointsOf } from '../unpack';

/** A track of which the run has a figure. */
export interface Line {
  track: Track;
  /** Its place in the chart, which says how its line looks in every run. */
  place: number;
  points: Points;
  is_band: boolean;
}

/** The middle of each bin, in seconds. */
export function middles(series: Series): number[] {
  return Array.from({ length: series.bins }, (_, bin) => (bin + 0.5) * series.bin_s);
}

/** When the last bin ends, in seconds. */
export function until(series: Series): number {
  return series.bins * series.bin_s;
}

/** Those tracks of the chart of which this run has any figure. */
export function linesOf(chart: TimeChart, series: Series): Line[] {
  return chart.tracks.flatMap((track, place) => {
    const points = pointsOf(series, track.key);
    if (!points?.mid.some((value) => value !== null)) return [];
    return [{ track, place, points, is_band: points.low !== undefined && points.high !== undefined }];
  });
}

/** `x`, the middle of each line, and after them low and high of each line with a band. */
export interface Columns {
  data: (number | null)[][];
  /** Columns of the upper and the lower edge, and the line that they belong to. */
  bands: { high: number; low: number; line: number }[];
}

export function columns(lines: Line[], series: Series): Columns {
  const data: (number | null)[][] = [
    middles(series),
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

/** As many figures as there are bins; what is missing is a gap. */
function filled(values: readonly (number | null)[], bins: number): (number | null)[] {
  return Array.from({ length: bins }, (_, bin) => values[bin] ?? null);
}

/** Figures with a gap on both sides, which a line alone would not show. */
export function alone(values: readonly (number | null | undefined)[]): number[] {
  const known = (bin: number): boolean => typeof values[bin] === 'number';
  return values.flatMap((_, bin) => (known(bin) && !known(bin - 1) && !known(bin + 1) ? [bin] : []));
}

/** One axis that holds what all these runs did, so that they can be compared by eye. */
export function sharedScale(chart: TimeChart, all: Series[], room: Room): Scale {
  const lists = all.flatMap((series) =>
    linesOf(chart, series).flatMap(({ points }) => [points.mid, points.low ?? [], points.high ?? []]),
  );
  if (chart.kind === 'times') {
    const [low, high] = positiveExtent(flat(lists));
    const scale = logarithmic(low, high, chart.unit, room);
    return lists.some((list) => list.includes(0)) ? withZero(scale) : scale;
  }
  // Charts above each other are low: their ticks may be closer than on a picture of its own.
  const long = { from: room.from * 2.4, to: room.to * 2.4 };
  const high = extent(flat(lists))?.[1] ?? 1;
  return fromZero(chart.unit === 'count' ? Math.max(1, high) : high, chart.unit, long);
}

/** A log axis has no zero: it stands for itself below the others, where it is drawn. */
function withZero(scale: Scale): Scale {
  const low = scale.low / 2.5;
  return { ...scale, low, ticks: [{ value: low, text: '0' }, ...scale.ticks] };
}

function* flat(lists: readonly (readonly (number | null)[])[]): Iterable<number | null> {
  for (const list of lists) yield* list;
}

/** Charts about requests and answers stand above those about what they took. */
export function isOfLoad({ kind, unit, tracks }: TimeChart): boolean {
  return kind === 'times' || (unit !== 'bytes_per_s' && tracks.some(({ subject }) => subject === 'load'));
}
