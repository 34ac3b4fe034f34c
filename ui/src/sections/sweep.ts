/** What a knob does: a line for each setting of the others. */

import type { Load, Report, Row } from '../report';
import { card, redraw } from '../card';
import { h, s } from '../dom';
import { colorClass, systems } from '../colors';
import { choice } from '../charts/choice';
import { legend, type Entry } from '../charts/legend';
import { dot, line, round, shape } from '../charts/marks';
import { axisRoom, endLabels, plane, xTick, type EndLabel, type Plane } from '../charts/plane';
import { rove, type Stop } from '../charts/rove';
import { knobValue, paths, spread, valuesInOrder, varied, type Path } from '../views/knobs';
import { extent, howRow, measures, points, positiveExtent, rowValue, type Measure } from '../views/measures';
import { bestOf } from '../views/order';
import { fromZero, logarithmic, type Scale } from '../views/scale';
import { axisWords, headOf, optionsOf, rowLines, runCounts } from '../views/say';
import { cut, textWidth } from '../views/text';

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
    about: `large marks: all runs of a variant; faint points: single runs; whiskers: from the lowest to the highest · ${runCounts(report, load)}`,
    controls: [
      ...(knobs.length > 1 ? [across] : []),
      choice('Up', optionsOf(all), one.key, (key) => {
        view.one = all.find((each) => each.key === key) ?? one;
        redraw(made);
      }),
    ],
    draw: (host, width) => {
      const head = h('h4', {}, `${axisWords(view.one)}, ${howRow(load, view.one)}`);
      host.append(h('div', { class: 'picture' }, head, picture(view, width)));
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
      others: row.is_best && row.variant !== '' ? `${row.variant} (best)` : row.variant,
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

/** Narrow pictures have their names below, with the marks of their lines. */
const NARROW = 560;

function picture(view: View, width: number): HTMLElement {
  const drawn = drawnPaths(view);
  const isNarrow = width < NARROW;
  const svg = lines(view, drawn, width, isNarrow);
  if (!isNarrow) return h('div', {}, svg);
  const entries = drawn.map((path): Entry => {
    const mark = path.is_level ? line('path dashed', 0, 7, 22, 7) : pathMark(path, 11, 7);
    return { sample: [mark], words: path.label, color: path.color };
  });
  return h('div', {}, svg, legend(entries));
}

function lines(view: View, drawn: Drawn[], width: number, isNarrow: boolean): SVGSVGElement {
  const { report, load, knob, one } = view;
  const mine = drawn.filter((path) => !path.is_level).flatMap((path) => path.rows);
  const values = valuesInOrder(mine.flatMap((row) => knobValue(row, knob) ?? []));
  const height = isNarrow ? 300 : Math.max(360, drawn.length * 15 + 70);
  const figures = load.rows.flatMap((row) => [
    rowValue(load, row, one),
    ...points(report, row, one).map((point) => point.value),
  ]);
  const y = scale(one, figures, { from: height - 50, to: 14 });
  const widest = Math.max(...drawn.map((path) => textWidth(path.label, 14.4))) + 4;
  const labelWidth = isNarrow ? 0 : Math.min(width * 0.36, widest);
  const right = isNarrow ? width - 8 : width - labelWidth - 22;
  const paper = plane(
    width,
    height,
    { left: axisRoom(y), right, top: 14, foot: height - 50 },
    y,
    knob,
    `${one.words} by ${knob}`,
  );
  const x = knobAxis(paper, values);
  const stops: Stop[] = [];
  const labels = drawn.flatMap((path) => drawPath(view, path, { paper, x, y, stops }));
  if (!isNarrow) endLabels(paper, labels, right + 14, labelWidth);
  rove(stops);
  return paper.svg;
}

/** Where each value lies. A word that would touch the one before is left out; its line stays. */
function knobAxis(paper: Plane, values: string[]): (value: string) => number {
  const { left, right } = paper.frame;
  const shares = spread(values);
  const inset = Math.min(28, (right - left) / (values.length * 2));
  const x = (value: string): number =>
    left + inset + (shares[values.indexOf(value)] ?? 0) * (right - left - 2 * inset);
  let last = -Infinity;
  for (const value of values) {
    const text = cut(value, 120, 11.5);
    const half = textWidth(text, 11.5) / 2;
    const hasRoom = x(value) - half > last + 4;
    xTick(paper, x(value), hasRoom ? text : '', true);
    if (hasRoom) last = x(value) + half;
  }
  return x;
}

function scale(one: Measure, values: (number | null)[], room: { from: number; to: number }): Scale {
  const [low, high] = positiveExtent(values);
  return one.is_log
    ? logarithmic(low, high, one.unit, room)
    : fromZero(extent(values)?.[1] ?? 0, one.unit, room);
}

interface Drawing {
  paper: Plane;
  x: (value: string) => number;
  y: Scale;
  stops: Stop[];
}

/** Draws a line with its marks, and says where it ends. It is broken where a variant has no figure. */
function drawPath(view: View, path: Drawn, drawing: Drawing): EndLabel[] {
  const { load, knob, one } = view;
  const { paper, x, y } = drawing;
  const parts = paper.svg.appendChild(s('g', { class: path.color }));
  let d = '';
  let end: { x: number; y: number } | null = null;
  let isOn = path.is_level;
  for (const row of path.rows) {
    const value = rowValue(load, row, one);
    if (value === null) {
      isOn = false;
      continue;
    }
    end = { x: path.is_level ? paper.frame.right : x(knobValue(row, knob) ?? ''), y: y.at(value) };
    if (path.is_level) d = `M${round(paper.frame.left)} ${round(end.y)}`;
    d += `${isOn ? 'L' : 'M'}${round(end.x)} ${round(end.y)}`;
    isOn = true;
  }
  if (end === null) return [];
  parts.append(s('path', { class: path.is_level ? 'path dashed' : 'path', d }));
  for (const row of path.rows) drawMark(view, path, row, parts, drawing);
  return [{ text: path.label, ...end, color: path.color, is_best: path.rows.some((row) => row.is_best) }];
}

function drawMark(
  view: View,
  path: Drawn,
  row: Row,
  parts: SVGGElement,
  { paper, x, y, stops }: Drawing,
): void {
  const { report, load, knob, one } = view;
  const value = rowValue(load, row, one);
  if (value === null) return;
  const at = path.is_level ? paper.frame.right : x(knobValue(row, knob) ?? '');
  if (!path.is_level) {
    const all = points(report, row, one);
    const range = extent(all.filter((point) => point.is_sound).map((point) => point.value));
    if (range) parts.append(line('whisker', at, y.at(range[0]), at, y.at(range[1])));
    for (const point of all) parts.append(faint(at + 5, y.at(point.value), point.is_sound));
  }
  const stop = parts.appendChild(s('g', { class: 'stop' }, pathMark(path, at, y.at(value))));
  stops.push({ mark: stop, lines: () => rowLines(report, load, row, one) });
}

/** Hollow when the shapes of a system have all been used. */
function pathMark({ place }: Drawn, x: number, y: number): SVGElement {
  const mark = shape(place, x, y, 4.6);
  if (place >= 4) mark.classList.add('hollow');
  return mark;
}

function faint(x: number, y: number, isSound: boolean): SVGElement {
  const mark = dot(x, y, 2, isSound);
  if (isSound) mark.classList.add('faint');
  return mark;
}
