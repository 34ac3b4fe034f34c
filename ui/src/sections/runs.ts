/** Every run of every variant as a point: what decides at the left, another measure beside it. */

import type { Load, Report, Times } from '../report';
import { card, redraw } from '../card';
import { h, s } from '../dom';
import { figure } from '../format';
import { colorClass } from '../colors';
import { choice } from '../charts/choice';
import { legend, type Entry } from '../charts/legend';
import { dot, line, round } from '../charts/marks';
import { pointed, rows, type Item, type Place } from '../charts/rows';
import { numberOf } from '../views/counted';
import { absence, ordered, type Named } from '../views/order';
import {
  extent,
  howRow,
  isSound,
  measures,
  points,
  positiveExtent,
  rowValue,
  type Measure,
  type Point,
} from '../views/measures';
import { axisWords, headOf, optionsOf, pointLines, rowLines, runCounts } from '../views/say';
import { fromZero, logarithmic, type Room, type Scale } from '../views/scale';

/** The choice of several percentiles in one picture. */
const PERCENTILES = 'percentiles';

export function runs(report: Report, load: Load): HTMLElement | null {
  const all = measures(report, load);
  const first = all[0];
  if (first === undefined || load.rows.reduce((sum, row) => sum + row.runs.length, 0) < 2) return null;
  const hasTimes = all.some((one) => one.is_log);
  let left = first.key;
  let right = first.is_log || !hasTimes ? (all[1] ?? first).key : PERCENTILES;
  const options = [
    ...optionsOf(all),
    ...(hasTimes ? [{ key: PERCENTILES, words: 'Response time: median, 90 % and 99 %' }] : []),
  ];
  const names = ordered(report, load);
  const panel = (key: string, width: number, isAlone: boolean): HTMLElement => {
    const one = all.find((measure) => measure.key === key);
    return one
      ? measurePanel(report, load, names, one, width, isAlone)
      : timesPanel(report, load, names, width, isAlone);
  };
  const made = card({
    id: `every-run-${report.loads.indexOf(load) + 1}`,
    title: 'Every run',
    about: `each point is a run · ${runCounts(report, load)}`,
    controls: [
      choice('Show', options, left, (key) => {
        left = key;
        redraw(made);
      }),
      choice('beside', options, right, (key) => {
        right = key;
        redraw(made);
      }),
    ],
    draw: (host, width) => {
      if (width < 820) {
        host.append(panel(left, width, true), panel(right, width, true));
      } else {
        const wide = Math.floor((width - 24) * 0.6);
        host.append(
          h('div', { class: 'beside' }, panel(left, wide, true), panel(right, width - 24 - wide, false)),
        );
      }
    },
    numbers: () => ({
      heads: ['variant', 'run', 'standing', 'validity', ...all.map(headOf)],
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
  return made;
}

function frame(title: string, entries: Entry[], drawn: SVGSVGElement): HTMLElement {
  return h('div', { class: 'picture' }, h('h4', {}, title), legend(entries), drawn);
}

const SOUND: Entry = { sample: [dot(11, 7, 3.4, true)], words: 'valid run' };
const UNSOUND: Entry = { sample: [dot(11, 7, 3.4, false)], words: 'suspect or invalid run' };

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
  const hasUnsound = perRow.some(({ points: all }) => all.some((point) => !point.is_sound));
  const items = perRow.map((named): Item => ({
    ...base(report, load, named),
    figure: named.value === null ? absence(report, named.row) : figure(named.value, one.unit),
    lines: () => rowLines(report, load, named.row, one),
    draw: (place) => {
      drawRow(report, one, named, place);
    },
  }));
  const marks = [SOUND, ...(hasUnsound ? [UNSOUND] : [])].map(entry);
  const middle = { sample: [line('middle', 11, 1, 11, 13)], words: howRow(load, one) };
  return frame(
    axisWords(one),
    [...marks, middle],
    rows({
      width,
      items,
      scale: scaleOf(one, values),
      figures: howRow(load, one).startsWith('median') ? 'median' : '',
      title: `${one.words} of every run`,
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

/** How much of a row's height its runs take: few ones stay together. */
function apartness(runs: number): number {
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
    // Runs lie in order of their blocks from top to bottom, so that equal ones do not hide each other.
    const share = all.length > 1 ? point.place / Math.max(1, all.at(-1)?.place ?? 1) - 0.5 : 0;
    const mark = dot(scale.at(point.value), y + share * height * apartness(all.length), 2.6, point.is_sound);
    parts.append(pointed(mark, () => pointLines(report, one, point)));
  }
}

/** Median, p90 and p99 in one picture. */
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
      return run?.figures ? [{ times: run.figures.response_ms, is_sound: isSound(run) }] : [];
    });
  const own = names.flatMap(perRun);
  const all = [...own.map(({ times }) => times), ...names.map(({ row }) => row.figures?.response_ms)];
  const values = all.flatMap((times) => (times ? [times.p50, times.p90, times.p99] : []));
  const [low, high] = positiveExtent(values);
  const column = farthest(names);
  const items = names.map((named): Item => {
    const times = named.row.figures?.response_ms ?? null;
    return {
      ...base(report, load, named),
      figure: times ? figure(column.of(times), 'ms') : absence(report, named.row),
      lines: () => timesLines(report, named, times),
      draw: (place) => {
        drawTimes(times, perRun(named), place);
      },
    };
  });
  const isShort = names.some(({ row }) => row.figures !== null && row.figures.response_ms.p99 === null);
  return frame(
    'Response time, ms, log axis',
    [
      { sample: [s('circle', { class: 'dot', cx: 11, cy: 7, r: 4 })], words: 'median' },
      { sample: [line('p90', 11, 2, 11, 12)], words: '90 %' },
      {
        sample: [line('p99', 11, 1, 11, 13)],
        words: isShort ? '99 %, where there are samples enough' : '99 %',
      },
      { sample: [s('circle', { class: 'dot faint', cx: 11, cy: 7, r: 2.6 })], words: 'a run’s own' },
      ...(own.some(({ is_sound }) => !is_sound) ? [entry(UNSOUND)] : []),
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

/** The highest percentile that all rows have, for the figures at the right. */
function farthest(names: Named[]): { words: string; of: (times: Times) => number | null } {
  const all = names.map(({ row }) => row.figures?.response_ms).filter((times) => times !== undefined);
  if (all.every((times) => times.p99 !== null)) return { words: '99 %', of: (times) => times.p99 };
  if (all.every((times) => times.p90 !== null)) return { words: '90 %', of: (times) => times.p90 };
  return { words: 'median', of: (times) => times.p50 };
}

/** Of one run. */
interface OwnTimes {
  times: Times;
  is_sound: boolean;
}

function drawTimes(times: Times | null, own: OwnTimes[], { parts, scale, y, height }: Place): void {
  own.forEach(({ times: run, is_sound }, at) => {
    const offset = (own.length > 1 ? at / (own.length - 1) - 0.5 : 0) * height * apartness(own.length);
    for (const value of [run.p50, run.p99]) {
      if (value === null) continue;
      const mark = dot(scale.at(value), y + offset, 2.2, is_sound);
      if (is_sound) mark.classList.add('faint');
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

function timesLines(report: Report, { row }: Named, times: Times | null): string[] {
  if (!times) return [row.name, absence(report, row)];
  const known: [string, number | null][] = [
    ['median', times.p50],
    ['90 %', times.p90],
    ['95 %', times.p95],
    ['99 %', times.p99],
    ['99.9 %', times.p99_9],
    ['longest', times.max],
  ];
  const lines = known.flatMap(([name, value]) => (value === null ? [] : [`${name} ${figure(value, 'ms')}`]));
  return [`${row.name}: response time`, ...lines, `n = ${numberOf(report, times.n)}`];
}
