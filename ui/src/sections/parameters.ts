/** The effect of one parameter, with one line per combination of the other parameters. */

import type { Load, Report, Row } from '../report';
import { card, redraw } from '../card';
import { h, s } from '../dom';
import { colorClass, systems } from '../colors';
import { choice } from '../charts/choice';
import { legend, type Entry } from '../charts/legend';
import { dot, line, round, shape } from '../charts/marks';
import { axisRoom, endLabels, plotArea, xTick, type EndLabel, type PlotArea } from '../charts/plot_area';
import { rovingFocus, type Stop } from '../charts/roving_focus';
import {
  parameterValue,
  logRange,
  paths,
  spread,
  valuesInOrder,
  varied,
  type Path,
} from '../views/parameters';
import {
  extent,
  aggregation,
  measures,
  points,
  positiveExtent,
  rowValue,
  type Measure,
} from '../views/measures';
import { bestOf } from '../views/order';
import { fromZero, logarithmic, type Scale } from '../views/scale';
import { chartTitle, columnTitle, selectOptions, rowTooltip, sampleSize } from '../views/labels';
import { cut, textWidth } from '../views/text';

/** The current selection. */
interface View {
  report: Report;
  load: Load;
  parameter: string;
  one: Measure;
}

export function parameters(report: Report, load: Load): HTMLElement | null {
  const names = varied(load);
  const all = measures(report, load);
  const [parameter, one] = [names[0], all[0]];
  if (report.kind !== 'study' || parameter === undefined || one === undefined) return null;
  const view: View = { report, load, parameter, one };
  const options = names.map((name) => ({ key: name, words: name }));
  const across = choice('X axis', options, parameter, (key) => {
    view.parameter = key;
    redraw(element);
  });
  const element = card({
    id: `by-parameter-${report.loads.indexOf(load) + 1}`,
    title: names.length > 1 ? 'Effect of each parameter' : `Effect of ${parameter}`,
    about: `large marks: all runs of a variant · faint points: single runs · whiskers: min to max · ${sampleSize(report, load)}`,
    controls: [
      ...(names.length > 1 ? [across] : []),
      choice('Y axis', selectOptions(all), one.key, (key) => {
        view.one = all.find((each) => each.key === key) ?? one;
        redraw(element);
      }),
    ],
    draw: (host, width) => {
      const head = h('h4', {}, `${chartTitle(view.one)}, ${aggregation(load, view.one)}`);
      host.append(h('div', { class: 'chart-box' }, head, draw(view, width)));
    },
    numbers: () => ({
      heads: ['variant', ...names, ...all.map(columnTitle)],
      rows: load.rows.map((row) => [
        row.name,
        ...names.map((name) => parameterValue(row, name)),
        ...all.map((each) => rowValue(load, row, each)),
      ]),
    }),
  });
  return element;
}

/** A path, or the horizontal line of a system without the parameter. */
interface Drawn extends Path {
  color: string;
  index: number;
  label: string;
  is_level: boolean;
}

function drawnPaths({ report, load, parameter }: View): Drawn[] {
  const mine = paths(load, parameter);
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
      index: before,
      label: path.others === '' ? path.system : `${path.system} ${path.others}`,
      is_level: !mine.includes(path),
    };
  });
}

/** Narrow charts have a legend below instead of labels at the lines. */
const NARROW = 560;

function draw(view: View, width: number): HTMLElement {
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
  const { report, load, parameter, one } = view;
  const mine = drawn.filter((path) => !path.is_level).flatMap((path) => path.rows);
  const values = valuesInOrder(mine.flatMap((row) => parameterValue(row, parameter) ?? []));
  const height = isNarrow ? 300 : Math.max(360, drawn.length * 15 + 70);
  const figures = load.rows.flatMap((row) => [
    rowValue(load, row, one),
    ...points(report, row, one).map((point) => point.value),
  ]);
  const y = scale(one, figures, { from: height - 50, to: 14 });
  const widest = Math.max(...drawn.map((path) => textWidth(path.label, 14.4))) + 4;
  const labelWidth = isNarrow ? 0 : Math.min(width * 0.36, widest);
  const right = isNarrow ? width - 8 : width - labelWidth - 22;
  const area = plotArea(
    width,
    height,
    { left: axisRoom(y), right, top: 14, bottom: height - 50 },
    y,
    logRange(values) === null ? parameter : `${parameter}, log scale`,
    `${one.words} by ${parameter}`,
  );
  const x = parameterAxis(area, values);
  const stops: Stop[] = [];
  const labels = drawn.flatMap((path) => drawPath(view, path, { area, x, y, stops }));
  if (!isNarrow) endLabels(area, labels, right + 14, labelWidth);
  rovingFocus(stops);
  return area.svg;
}

/** The x axis of a parameter. Labels that would overlap are omitted; their grid lines are kept. */
function parameterAxis(area: PlotArea, values: string[]): (value: string) => number {
  const { left, right } = area.frame;
  const shares = spread(values);
  const inset = Math.min(28, (right - left) / (values.length * 2));
  const x = (value: string): number =>
    left + inset + (shares[values.indexOf(value)] ?? 0) * (right - left - 2 * inset);
  let last = -Infinity;
  for (const value of values) {
    const text = cut(value, 120, 11.5);
    const half = textWidth(text, 11.5) / 2;
    const hasRoom = x(value) - half > last + 4;
    xTick(area, x(value), hasRoom ? text : '', true);
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
  area: PlotArea;
  x: (value: string) => number;
  y: Scale;
  stops: Stop[];
}

/** Draws a line with its marks, and returns its end label. The line has gaps where a variant has no value. */
function drawPath(view: View, path: Drawn, drawing: Drawing): EndLabel[] {
  const { load, parameter, one } = view;
  const { area, x, y } = drawing;
  const parts = area.svg.appendChild(s('g', { class: path.color }));
  let d = '';
  let end: { x: number; y: number } | null = null;
  let isOn = path.is_level;
  for (const row of path.rows) {
    const value = rowValue(load, row, one);
    if (value === null) {
      isOn = false;
      continue;
    }
    end = { x: path.is_level ? area.frame.right : x(parameterValue(row, parameter) ?? ''), y: y.at(value) };
    if (path.is_level) d = `M${round(area.frame.left)} ${round(end.y)}`;
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
  { area, x, y, stops }: Drawing,
): void {
  const { report, load, parameter, one } = view;
  const value = rowValue(load, row, one);
  if (value === null) return;
  const at = path.is_level ? area.frame.right : x(parameterValue(row, parameter) ?? '');
  if (!path.is_level) {
    const all = points(report, row, one);
    const range = extent(all.filter((point) => point.is_valid).map((point) => point.value));
    if (range) parts.append(line('whisker', at, y.at(range[0]), at, y.at(range[1])));
    for (const point of all) parts.append(faint(at + 5, y.at(point.value), point.is_valid));
  }
  const stop = parts.appendChild(s('g', { class: 'stop' }, pathMark(path, at, y.at(value))));
  stops.push({ mark: stop, lines: () => rowTooltip(report, load, row, one) });
}

/** Hollow once all shapes of a system are used. */
function pathMark({ index }: Drawn, x: number, y: number): SVGElement {
  const mark = shape(index, x, y, 4.6);
  if (index >= 4) mark.classList.add('hollow');
  return mark;
}

function faint(x: number, y: number, isValid: boolean): SVGElement {
  const mark = dot(x, y, 2, isValid);
  if (isValid) mark.classList.add('faint');
  return mark;
}
