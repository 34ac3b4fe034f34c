/** Every run as a point: the comparison metric at the left, another metric next to it. */

import type { Load, Report, Times } from '../report';
import { card, redraw } from '../card';
import { h, s } from '../dom';
import { formatValue } from '../format';
import { colorClass } from '../colors';
import { choice } from '../charts/choice';
import { legend, type Entry } from '../charts/legend';
import { dot, line, round } from '../charts/marks';
import { pointed, rows, type Item, type Place } from '../charts/rows';
import { countText } from '../views/counted';
import { missingText, ordered, type Named } from '../views/order';
import {
  extent,
  aggregation,
  isValid,
  measures,
  points,
  positiveExtent,
  rowValue,
  type Measure,
  type Point,
} from '../views/measures';
import {
  chartTitle,
  columnTitle,
  selectOptions,
  pointTooltip,
  rowTooltip,
  sampleSize,
} from '../views/labels';
import { fromZero, logarithmic, type Room, type Scale } from '../views/scale';

/** The option that shows several percentiles in one chart. */
const PERCENTILES = 'percentiles';

export function runs(report: Report, load: Load): HTMLElement | null {
  const all = measures(report, load);
  const first = all[0];
  if (first === undefined || load.rows.reduce((sum, row) => sum + row.runs.length, 0) < 2) return null;
  const hasTimes = all.some((one) => one.is_log);
  let left = first.key;
  let right = first.is_log || !hasTimes ? (all[1] ?? first).key : PERCENTILES;
  const options = [
    ...selectOptions(all),
    ...(hasTimes ? [{ key: PERCENTILES, words: 'Response time: p50, p90, p99' }] : []),
  ];
  const names = ordered(report, load);
  const panel = (key: string, width: number, isAlone: boolean): HTMLElement => {
    const one = all.find((measure) => measure.key === key);
    return one
      ? measurePanel(report, load, names, one, width, isAlone)
      : timesPanel(report, load, names, width, isAlone);
  };
  const element = card({
    id: `every-run-${report.loads.indexOf(load) + 1}`,
    title: 'All runs',
    about: `one point per run · ${sampleSize(report, load)}`,
    controls: [
      choice('Left', options, left, (key) => {
        left = key;
        redraw(element);
      }),
      choice('Right', options, right, (key) => {
        right = key;
        redraw(element);
      }),
    ],
    draw: (host, width) => {
      if (width < 820) {
        host.append(panel(left, width, true), panel(right, width, true));
      } else {
        const wide = Math.floor((width - 24) * 0.6);
        host.append(
          h(
            'div',
            { class: 'side-by-side' },
            panel(left, wide, true),
            panel(right, width - 24 - wide, false),
          ),
        );
      }
    },
    numbers: () => ({
      heads: ['variant', 'run', 'status', 'validity', ...all.map(columnTitle)],
      rows: names.flatMap(({ row }) =>
        row.runs.map((at, place) => {
          const run = report.runs[at];
          const figures = run?.figures ?? null;
          const values = all.map((one) => (figures ? one.of(figures) : null));
          return [row.name, place + 1, run?.standing ?? null, run?.validity ?? null, ...values];
        }),
      ),
    }),
  });
  return element;
}

function frame(title: string, entries: Entry[], drawn: SVGSVGElement): HTMLElement {
  return h('div', { class: 'chart-box' }, h('h4', {}, title), legend(entries), drawn);
}

const VALID_RUN: Entry = { sample: [dot(11, 7, 3.4, true)], words: 'valid run' };
const OTHER_RUN: Entry = { sample: [dot(11, 7, 3.4, false)], words: 'suspect or invalid run' };

function entry({ sample, words }: Entry): Entry {
  return { sample: sample.map((mark) => mark.cloneNode(true) as SVGElement), words };
}

function measurePanel(
  report: Report,
  load: Load,
  names: Named[],
  one: Measure,
  width: number,
  isAlone: boolean,
): HTMLElement {
  const perRow = names.map((named) => ({
    ...named,
    points: points(report, named.row, one),
    value: rowValue(load, named.row, one),
  }));
  const values = perRow.flatMap(({ points: all, value }) => [value, ...all.map((point) => point.value)]);
  const hasOther = perRow.some(({ points: all }) => all.some((point) => !point.is_valid));
  const items = perRow.map((named): Item => ({
    ...base(report, load, named),
    figure: named.value === null ? missingText(report, named.row) : formatValue(named.value, one.unit),
    lines: () => rowTooltip(report, load, named.row, one),
    draw: (place) => {
      drawRow(report, one, named, place);
    },
  }));
  const marks = [VALID_RUN, ...(hasOther ? [OTHER_RUN] : [])].map(entry);
  const middle = { sample: [line('middle', 11, 1, 11, 13)], words: aggregation(load, one) };
  return frame(
    chartTitle(one),
    [...marks, middle],
    rows({
      width,
      items,
      scale: scaleOf(one, values),
      figures: aggregation(load, one).startsWith('median') ? 'median' : '',
      title: `${one.words} of all runs`,
      has_names: isAlone,
    }),
  );
}

function base(
  report: Report,
  load: Load,
  { at, row, label, group }: Named,
): Pick<Item, 'label' | 'group' | 'color' | 'is_winner'> {
  return { label, group, color: colorClass(report, load, at), is_winner: row.is_winner };
}

function scaleOf(one: Measure, values: (number | null)[]): (room: Room) => Scale {
  const [low, high] = positiveExtent(values);
  return (room) =>
    one.is_log ? logarithmic(low, high, one.unit, room) : fromZero(extent(values)?.[1] ?? 0, one.unit, room);
}

/** The share of a row's height that its runs use: few runs stay close together. */
function spreadShare(runs: number): number {
  return Math.min(0.74, 0.13 * runs);
}

function drawRow(
  report: Report,
  one: Measure,
  named: { points: Point[]; value: number | null },
  place: Place,
): void {
  const { parts, scale, y, height } = place;
  const { points: all, value } = named;
  const bar = height * 0.66;
  if (value !== null) {
    const x = scale.at(value);
    const from = scale.at(scale.low);
    if (!one.is_log) {
      parts.append(
        s('rect', {
          class: 'amount',
          x: round(from),
          y: round(y - bar / 2),
          width: round(x - from),
          height: round(bar),
        }),
      );
    }
    parts.append(line('middle', x, y - height * 0.42, x, y + height * 0.42));
  }
  for (const point of all) {
    // Runs are ordered by block from top to bottom, so that equal values do not overlap.
    const share = all.length > 1 ? point.index / Math.max(1, all.at(-1)?.index ?? 1) - 0.5 : 0;
    const mark = dot(
      scale.at(point.value),
      y + share * height * spreadShare(all.length),
      2.6,
      point.is_valid,
    );
    parts.append(pointed(mark, () => pointTooltip(report, one, point)));
  }
}

/** p50, p90, and p99 in one chart. */
function timesPanel(
  report: Report,
  load: Load,
  names: Named[],
  width: number,
  isAlone: boolean,
): HTMLElement {
  const perRun = ({ row }: Named): OwnTimes[] =>
    row.runs.flatMap((at) => {
      const run = report.runs[at];
      return run?.figures ? [{ times: run.figures.response_ms, is_valid: isValid(run) }] : [];
    });
  const own = names.flatMap(perRun);
  const all = [...own.map(({ times }) => times), ...names.map(({ row }) => row.figures?.response_ms)];
  const values = all.flatMap((times) => (times ? [times.p50, times.p90, times.p99] : []));
  const [low, high] = positiveExtent(values);
  const column = highestPercentile(names);
  const items = names.map((named): Item => {
    const times = named.row.figures?.response_ms ?? null;
    return {
      ...base(report, load, named),
      figure: times ? formatValue(column.of(times), 'ms') : missingText(report, named.row),
      lines: () => timesTooltip(report, named, times),
      draw: (place) => {
        drawTimes(times, perRun(named), place);
      },
    };
  });
  const isShort = names.some(({ row }) => row.figures !== null && row.figures.response_ms.p99 === null);
  return frame(
    'Response time, ms, log scale',
    [
      { sample: [s('circle', { class: 'dot', cx: 11, cy: 7, r: 4 })], words: 'p50' },
      { sample: [line('p90', 11, 2, 11, 12)], words: 'p90' },
      {
        sample: [line('p99', 11, 1, 11, 13)],
        words: isShort ? 'p99, where there are enough samples' : 'p99',
      },
      { sample: [s('circle', { class: 'dot faint', cx: 11, cy: 7, r: 2.6 })], words: 'single run' },
      ...(own.some(({ is_valid }) => !is_valid) ? [entry(OTHER_RUN)] : []),
    ],
    rows({
      width,
      items,
      scale: (room) => logarithmic(low, high, 'ms', room),
      figures: column.words,
      title: 'response times',
      has_names: isAlone,
    }),
  );
}

/** The highest percentile that all rows have, for the values at the right. */
function highestPercentile(names: Named[]): { words: string; of: (times: Times) => number | null } {
  const all = names.map(({ row }) => row.figures?.response_ms).filter((times) => times !== undefined);
  if (all.every((times) => times.p99 !== null)) return { words: 'p99', of: (times) => times.p99 };
  if (all.every((times) => times.p90 !== null)) return { words: 'p90', of: (times) => times.p90 };
  return { words: 'p50', of: (times) => times.p50 };
}

/** The response times of one run. */
interface OwnTimes {
  times: Times;
  is_valid: boolean;
}

function drawTimes(times: Times | null, own: OwnTimes[], { parts, scale, y, height }: Place): void {
  own.forEach(({ times: run, is_valid }, at) => {
    const offset = (own.length > 1 ? at / (own.length - 1) - 0.5 : 0) * height * spreadShare(own.length);
    for (const value of [run.p50, run.p99]) {
      if (value === null) continue;
      const mark = dot(scale.at(value), y + offset, 2.2, is_valid);
      if (is_valid) mark.classList.add('faint');
      parts.append(mark);
    }
  });
  if (times?.p50 === null || times?.p50 === undefined) return;
  const end = times.p99 ?? times.p90 ?? times.p50;
  parts.append(line('interval', scale.at(times.p50), y, scale.at(end), y));
  if (times.p90 !== null) parts.append(line('p90', scale.at(times.p90), y - 5, scale.at(times.p90), y + 5));
  if (times.p99 !== null) parts.append(line('p99', scale.at(times.p99), y - 8, scale.at(times.p99), y + 8));
  parts.append(s('circle', { class: 'dot', cx: round(scale.at(times.p50)), cy: y, r: 4 }));
}

function timesTooltip(report: Report, { row }: Named, times: Times | null): string[] {
  if (!times) return [row.name, missingText(report, row)];
  const known: [string, number | null][] = [
    ['p50', times.p50],
    ['p90', times.p90],
    ['p95', times.p95],
    ['p99', times.p99],
    ['p99.9', times.p99_9],
    ['max', times.max],
  ];
  const lines = known.flatMap(([name, value]) =>
    value === null ? [] : [`${name} ${formatValue(value, 'ms')}`],
  );
  return [`${row.name}: response time`, ...lines, `n = ${countText(report, times.n)}`];
}
