/** How evenly the connections of each run were served. */

import type { Load, Report, Row } from '../report';
import type { Fairness, MinMedianMax, RelativeRanges } from '../report_fairness';
import { card, redraw } from '../card';
import { h } from '../dom';
import { count, decimal, formatValue } from '../format';
import { colorClass } from '../colors';
import { choice } from '../charts/choice';
import { line } from '../charts/marks';
import { pointed, rows, type Item, type Place } from '../charts/rows';
import { capitalized } from '../views/counted';
import { extent, positiveExtent } from '../views/measures';
import { ordered } from '../views/order';
import { fromZero, ratios, type Room, type Scale } from '../views/scale';

interface Aspect {
  key: 'requests' | 'response_mean_ms' | 'response_max_ms';
  words: string;
  /** The unit of the values; empty for a count. */
  unit: string;
  inWords: (value: number) => string;
}

const REQUESTS = 'requests';
const ASPECTS: Aspect[] = [
  { key: REQUESTS, words: '', unit: '', inWords: count },
  {
    key: 'response_mean_ms',
    words: 'Mean response time per connection',
    unit: 'ms',
    inWords: (value) => formatValue(value, 'ms'),
  },
  {
    key: 'response_max_ms',
    words: 'Max response time per connection',
    unit: 'ms',
    inWords: (value) => formatValue(value, 'ms'),
  },
];

/** The first aspect is named after what is counted. */
function aspectsOf({ counted }: Report): Aspect[] {
  const words = `${capitalized(counted.many)} per connection`;
  return ASPECTS.map((aspect) => (aspect.key === REQUESTS ? { ...aspect, words } : aspect));
}

/** The lowest and the highest connection, as multiples of the median. */
interface Relative {
  low: number;
  high: number;
}

/** One run of a row. */
interface Range extends Relative {
  run: string;
  fairness: Fairness;
  figures: MinMedianMax;
}

export function fairness(report: Report, load: Load): HTMLElement | null {
  const all = aspectsOf(report);
  const known = all.filter((aspect) => load.rows.some((row) => ranges(report, row, aspect).length > 0));
  const first = known[0];
  if (first === undefined) return null;
  let aspect = first;
  const connections = extent(
    load.rows.flatMap((row) => runsOf(report, row).map(({ fairness: one }) => one.connections)),
  );
  const element = card({
    id: `fair-${report.loads.indexOf(load) + 1}`,
    title: 'Distribution over connections',
    about: `relative to the median connection of the run · one line per run · n = ${span(connections)} connections`,
    help: 'Lines go from the lowest to the highest connection. Short lines around 1 × are fair. A line that starts near 0 × had starved connections.',
    controls: [
      choice(
        'Show',
        known.map(({ key, words }) => ({ key, words })),
        first.key,
        (key) => {
          aspect = known.find((one) => one.key === key) ?? first;
          redraw(element);
        },
      ),
    ],
    draw: (host, width) => {
      const every = load.rows.flatMap((row) => ranges(report, row, aspect));
      const head = h(
        'h4',
        {},
        `${aspect.words}, relative to the median${isLog(aspect, every) ? ', log scale' : ''}`,
      );
      host.append(h('div', { class: 'chart-box' }, head, drawRows(report, load, aspect, width)));
    },
    numbers: () => ({
      heads: [
        'variant',
        'run',
        'connections',
        ...all.flatMap(({ words, unit }) =>
          ['min', 'median', 'max'].map((which) => `${words}: ${which}${unit === '' ? '' : `, ${unit}`}`),
        ),
      ],
      rows: load.rows.flatMap((row) =>
        runsOf(report, row).map(({ run, fairness: one }) => [
          row.name,
          run,
          one.connections,
          ...all.flatMap(({ key }) => {
            const figures = one[key];
            return [figures?.min ?? null, figures?.median ?? null, figures?.max ?? null];
          }),
        ]),
      ),
    }),
  });
  return element;
}

function span(of: [number, number] | null): string {
  const [low, high] = of ?? [0, 0];
  return low === high ? count(low) : `${count(low)} to ${count(high)}`;
}

function runsOf(report: Report, row: Row): { run: string; fairness: Fairness }[] {
  return row.runs.flatMap((at) => {
    const run = report.runs[at];
    return run?.fairness && run.standing === 'valid'
      ? [{ run: run.block === null ? run.id : `block ${run.block + 1}`, fairness: run.fairness }]
      : [];
  });
}

function ranges(report: Report, row: Row, { key }: Aspect): Range[] {
  return runsOf(report, row).flatMap(({ run, fairness: one }) => {
    const figures = one[key];
    if (!figures?.relative) return [];
    const [low, high] = figures.relative;
    return [{ low, high, run, fairness: one, figures }];
  });
}

function drawRows(report: Report, load: Load, aspect: Aspect, width: number): SVGSVGElement {
  const drawn = ordered(report, load)
    .map((named) => ({ ...named, ranges: ranges(report, named.row, aspect) }))
    .filter((named) => named.ranges.length > 0);
  const every = drawn.flatMap((named) => named.ranges);
  const most = Math.max(...drawn.map((named) => named.ranges.length));
  const items = drawn.map(({ at, row, label, group, ranges: all }): Item => ({
    label,
    group,
    color: colorClass(report, load, at),
    is_winner: row.is_winner,
    figure: rangeText(row.fairness?.[aspect.key] ?? null),
    lines: () => rowTooltip(row, aspect, all.length),
    draw: (place) => {
      draw(aspect, all, place);
    },
  }));
  return rows({
    width,
    items,
    scale: scaleOf(aspect, every),
    figures: 'min – max',
    title: aspect.words,
    height: Math.max(22, 8 + 3 * Math.min(12, most)),
    backdrop: (parts, scale, bands) => {
      const at = scale.at(1);
      parts.append(...bands.map(({ top, bottom }) => line('even', at, top, at, bottom)));
    },
  });
}

/** Counts start at zero, the value of a starved connection; times that differ by factors use a log scale. */
function scaleOf(aspect: Aspect, every: Relative[]): (room: Room) => Scale {
  const [low, high] = positiveExtent(every.flatMap((one) => [one.low, one.high]));
  if (isLog(aspect, every)) return (room) => ratios(low, high, room);
  return (room) => {
    const scale = fromZero(Math.max(high, 1.2), 'cores', room);
    return { ...scale, ticks: scale.ticks.map(({ value, text }) => ({ value, text: `${text} ×` })) };
  };
}

function isLog(aspect: Aspect, every: Relative[]): boolean {
  const [low, high] = positiveExtent(every.flatMap((one) => [one.low, one.high]));
  return aspect.key !== REQUESTS && high / low > 4;
}

function draw(aspect: Aspect, all: Range[], { parts, scale, y, height }: Place): void {
  const step = Math.min(5, (height - 6) / Math.max(1, all.length));
  all.forEach((range, at) => {
    const level = y + (at - (all.length - 1) / 2) * step;
    const mark = line(
      'range',
      scale.at(range.low),
      level,
      // The line of a perfectly even run is still visible.
      Math.max(scale.at(range.high), scale.at(range.low) + 8),
      level,
    );
    parts.append(pointed(mark, () => rangeTooltip(aspect, range)));
  });
}

function rangeText(all: Relative | null): string {
  return all ? `${multiple(all.low)} – ${multiple(all.high)} ×` : 'n/a';
}

function multiple(value: number): string {
  return decimal(value, value < 10 ? 2 : 0);
}

function rangeTooltip({ words, inWords }: Aspect, { run, figures, fairness: one }: Range): string[] {
  return [
    run,
    words,
    `min ${inWords(figures.min)}`,
    `median ${inWords(figures.median)}`,
    `max ${inWords(figures.max)}`,
    `n = ${count(one.connections)} connections`,
  ];
}

function rowTooltip(row: Row, { key, words }: Aspect, runs: number): string[] {
  const found: RelativeRanges | null = row.fairness?.[key] ?? null;
  if (!found) return [row.name];
  return [
    row.name,
    `${words}: ${rangeText(found)} of the median in ${runs} ${runs === 1 ? 'run' : 'runs'}`,
    `median of the run maxima: ${multiple(found.median_high)} ×`,
  ];
}
