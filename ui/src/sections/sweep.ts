/** What a knob does: a line for each setting of the others. */

import type { Load, Report } from '../report';
import { card, redraw } from '../card';
import { h, s } from '../dom';
import { colorClass, systems } from '../colors';
import { choice } from '../charts/choice';
import { dot, line, round, shape } from '../charts/marks';
import { axisRoom, endLabels, plane, xTick, type EndLabel, type Plane } from '../charts/plane';
import { rove, type Stop } from '../charts/rove';
import { knobValue, paths, spread, valuesInOrder, varied, type Path } from '../views/knobs';
import { extent, howRow, measures, points, positiveExtent, rowValue, type Measure } from '../views/measures';
import { bestOf } from '../views/order';
import { fromZero, logarithmic, type Scale } from '../views/scale';
import { axisWords, headOf, optionsOf, rowLines, runCounts } from '../views/say';
import { textWidth } from '../views/text';

/** What is drawn, as chosen. */
interface View {
  report: Report;
  load: Load;
  knob: string;
  one: Measure;
}

export function sweep(report: Report, load: Load): HTMLElement | null {
  const knobs = varied(load);
  const all = measures(report, load);
  const [knob, one] = [knobs[0], all[0]];
  if (report.kind !== 'study' || knob === undefined || one === undefined) return null;
  const view: View = { report, load, knob, one };
  const names = knobs.map((name) => ({ key: name, words: name }));
  const across = choice('Across', names, knob, (key) => {
    view.knob = key;
    redraw(made);
  });
  const made = card({
    id: `by-setting-${report.loads.indexOf(load) + 1}`,
    title: knobs.length > 1 ? 'What each setting does' : `What ${knob} does`,
    about: `large marks: all runs of a variant; faint points: single runs; whiskers: from the lowest to the highest · ${runCounts(load)}`,
    controls: [
      ...(knobs.length > 1 ? [across] : []),
      choice('Up', optionsOf(all), one.key, (key) => {
        view.one = all.find((each) => each.key === key) ?? one;
        redraw(made);
      }),
    ],
    draw: (host, width) => {
      const head = h('h4', {}, `${axisWords(view.one)}, ${howRow(load, view.one)}`);
      host.append(h('div', { class: 'picture' }, head, lines(view, width)));
    },
    numbers: () => ({
      heads: ['variant', ...knobs, ...all.map(headOf)],
      rows: load.rows.map((row) => [
        row.name,
        ...knobs.map((name) => knobValue(row, name)),
        ...all.map((each) => rowValue(load, row, each)),
      ]),
    }),
  });
  return made;
}

/** A path, or a system without the knob as a level line. */
interface Drawn extends Path {
  color: string;
  place: number;
  label: string;
  is_level: boolean;
}

function drawnPaths({ report, load, knob }: View): Drawn[] {
  const mine = paths(load, knob);
  const order = systems(report);
  const level = order
    .filter((system) => !mine.some((path) => path.system === system))
    .flatMap((system) => bestOf(load, system) ?? [])
    .map((row): Path => ({
      system: row.system,
      others: row.variant === '' ? '' : `${row.variant} (best)`,
      rows: [row],
    }));
  return [...mine, ...level].map((path, at, every) => {
    const before = every.slice(0, at).filter((other) => other.system === path.system).length;
    const row = path.rows[0];
    return {
      ...path,
      color: row ? colorClass(report, load, load.rows.indexOf(row)) : '',
      place: before,
      label: path.others === '' ? path.system : `${path.system} ${path.others}`,
      is_level: !mine.includes(path),
    };
  });
}

function lines(view: View, width: number): SVGSVGElement {
  const { report, load, knob, one } = view;
  const drawn = drawnPaths(view);
  const values = valuesInOrder(
    drawn
      .filter((path) => !path.is_level)
      .flatMap((path) => path.rows.flatMap((row) => knobValue(row, knob) ?? [])),
  );
  const shares = spread(values);
  const height = Math.max(width < 520 ? 300 : 360, drawn.length * 15 + 70);
  const figures = load.rows.flatMap((row) => [
    rowValue(load, row, one),
    ...points(report, row, one).map((point) => point.value),
  ]);
  const y = scale(one, figures, { from: height - 50, to: 14 });
  const labelWidth = Math.min(
    width * 0.36,
    Math.max(...drawn.map((path) => textWidth(path.label, 14.4))) + 4,
  );
  const frame = { left: axisRoom(y), right: width - labelWidth - 22, top: 14, foot: height - 50 };
  const paper = plane(width, height, frame, y, knob, `${one.words} by ${knob}`);
  const inset = Math.min(28, (frame.right - frame.left) / (values.length * 2));
  const x = (value: string): number =>
    frame.left + inset + (shares[values.indexOf(value)] ?? 0) * (frame.right - frame.left - 2 * inset);
  let last = -Infinity;
  for (const value of values) {
    // A word that would touch the one before is left out; its line stays.
    const half = textWidth(value, 11.5) / 2;
    const hasRoom = x(value) - half > last + 4;
    xTick(paper, x(value), hasRoom ? value : '', true);
    if (hasRoom) last = x(value) + half;
  }
  const stops: Stop[] = [];
  const labels = drawn.flatMap((path) => drawPath(view, path, paper, x, y, stops));
  endLabels(paper, labels, frame.right + 14, labelWidth);
  rove(stops);
  return paper.svg;
}

function scale(one: Measure, values: (number | null)[], room: { from: number; to: number }): Scale {
  const [low, high] = positiveExtent(values);
  return one.is_log
    ? logarithmic(low, high, one.unit, room)
    : fromZero(extent(values)?.[1] ?? 0, one.unit, room);
}

function drawPath(
  view: View,
  path: Drawn,
  paper: Plane,
  x: (value: string) => number,
  y: Scale,
  stops: Stop[],
): EndLabel[] {
  const { report, load, knob, one } = view;
  const parts = paper.svg.appendChild(s('g', { class: path.color }));
  const { left, right } = paper.frame;
  const places = path.rows.flatMap((row) => {
    const value = rowValue(load, row, one);
    return value === null
      ? []
      : [{ row, value, x: path.is_level ? right : x(knobValue(row, knob) ?? ''), y: y.at(value) }];
  });
  const end = places.at(-1);
  if (end === undefined) return [];
  const from = path.is_level ? `M${round(left)} ${round(end.y)}` : '';
  const d = `${from}${places.map((place, at) => `${at === 0 && from === '' ? 'M' : 'L'}${round(place.x)} ${round(place.y)}`).join('')}`;
  parts.append(s('path', { class: path.is_level ? 'path dashed' : 'path', d }));
  for (const place of places) {
    const all = points(report, place.row, one);
    const range = extent(all.filter((point) => point.is_sound).map((point) => point.value));
    if (range && !path.is_level)
      parts.append(line('whisker', place.x, y.at(range[0]), place.x, y.at(range[1])));
    if (!path.is_level)
      for (const point of all) parts.append(faint(place.x + 5, y.at(point.value), point.is_sound));
    const stop = s('g', { class: 'stop' }, shape(path.place, place.x, place.y, 4.6));
    parts.append(stop);
    stops.push({ mark: stop, lines: () => rowLines(report, load, place.row, one) });
  }
  return [
    {
      text: path.label,
      x: end.x,
      y: end.y,
      color: path.color,
      is_best: places.some(({ row }) => row.is_best),
    },
  ];
}

function faint(x: number, y: number, isSound: boolean): SVGElement {
  const mark = dot(x, y, 2, isSound);
  if (isSound) mark.classList.add('faint');
  return mark;
}
