/** Lines on a canvas over a common x, with axes, bands, a shared cursor, exact values, and keys of the keyboard. */

import uPlot from 'uplot';
import type { Scale, Tick } from '../views/scale';
import { alone } from '../views/bins';
import { h } from '../dom';
import { isOnPaper } from '../theme';
import { cssColor } from '../colors';
import { hideTip } from '../tooltip';
import { drive, type Stack } from './cursor';

/** How a line looks. */
export interface Look {
  color: string;
  width: number;
  dash: readonly number[];
  alpha: number;
}

export interface Plot {
  /** What it is, for those who cannot see it. */
  label: string;
  width: number;
  height: number;
  /** Room for the figures at the left, the same in charts that stand above each other. */
  left?: number;
  /** Room at the right, for words at the ends of lines. */
  right?: number;
  x: { low: number; high: number; ticks: Tick[] };
  y: Pick<Scale, 'low' | 'high' | 'ticks'> & { is_log: boolean };
  /** `x` and the columns of the lines, then those of the edges of bands. */
  data: (number | null)[][];
  looks: Look[];
  /** Columns of the upper and the lower edge, and the place of the line. */
  bands?: { high: number; low: number; line: number }[];
  /** Whether the line is shown. */
  is_shown?: (line: number) => boolean;
  /** No gaps: a line goes on where other lines have points between its own. */
  is_joined?: boolean;
  /** What is known at a column of `data`, the title first; empty for nothing. */
  tip: (column: number) => string[];
  /** Charts with the same key share a cursor. */
  sync?: string;
  /** Charts above and below each other: one stop of the Tab key, arrows between them. */
  stack?: Stack;
  /** Draw between grid and lines, and above the lines; `scale` is pixels of the canvas for each of the page. */
  under?: (chart: uPlot, scale: number) => void;
  over?: (chart: uPlot, scale: number) => void;
}

export const TEXT_PX = 11;
export const LEFT_PX = 74;
const BOTTOM_PX = 22;
// eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- uPlot's names for it are not there at run time
const LOGARITHMIC = 3 as uPlot.Scale.Distr;
export const TOP_PX = 6;

/** Room inside of a plot of this height for what is drawn, from the bottom upwards. */
export function roomOf(height: number): { from: number; to: number } {
  return { from: height - BOTTOM_PX, to: TOP_PX };
}

/** Puts the chart into the host; whoever empties the host destroys the chart before. */
export function plot(host: HTMLElement, options: Plot): uPlot {
  // Paper has more dots than a screen: drawn larger there, and shown smaller by the style sheet.
  const zoom = isOnPaper() && devicePixelRatio < 2 ? 3 : 1;
  const frame = h('div', { class: 'plot', role: 'application', 'aria-label': options.label, tabindex: -1 });
  frame.style.height = `${options.height}px`;
  frame.style.setProperty('--zoom', String(1 / zoom));
  host.append(frame);
  const chart = new uPlot(settings(options, zoom), options.data as uPlot.AlignedData, frame);
  drive(chart, frame, options);
  return chart;
}

/** Frees charts, and takes their exact values away. */
export function destroy(charts: uPlot[]): void {
  if (charts.length > 0) hideTip();
  for (const chart of charts.splice(0)) chart.destroy();
}

function settings(options: Plot, zoom: number): uPlot.Options {
  const { x, y, data } = options;
  const lines = options.looks.length;
  return {
    width: Math.max(80, Math.floor(options.width)) * zoom,
    height: options.height * zoom,
    padding: [TOP_PX * zoom, (options.right ?? 20) * zoom, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: false, range: () => [x.low, x.high] },
      y: { range: () => [y.low, y.high], ...(y.is_log ? { distr: LOGARITHMIC, clamp: y.low } : {}) },
    },
    axes: axes(options, zoom),
    series: [{}, ...data.slice(1).map((column, line) => lineOf(options, column, line, zoom))],
    bands: (options.bands ?? []).map(({ high, low, line }) => ({
      series: [high, low],
      fill: faded(options.looks[line]?.color ?? '', 0.2),
    })),
    cursor: {
      y: false,
      move: (chart, left, top) => [snapped(chart, left), top],
      drag: { x: false, y: false, setScale: false },
      points: { size: (_, line) => (line > lines ? 0 : 6 * zoom), width: 0 },
      ...(options.sync ? { sync: { key: options.sync, scales: ['x', null] } } : {}),
    },
    hooks: {
      drawAxes: [(chart) => options.under?.(chart, uPlot.pxRatio * zoom)],
      draw: [(chart) => options.over?.(chart, uPlot.pxRatio * zoom)],
    },
  };
}

/** The cursor stands on figures, not between them. */
function snapped(chart: uPlot, left: number): number {
  const x = left < 0 ? undefined : chart.data[0][chart.posToIdx(left)];
  return x === undefined ? left : chart.valToPos(x, 'x');
}

function lineOf(options: Plot, column: (number | null)[], line: number, zoom: number): uPlot.Series {
  const look = options.looks[line];
  const isShown = options.is_shown ?? (() => true);
  if (!look) {
    const band = options.bands?.find(({ high, low }) => high === line + 1 || low === line + 1);
    return { width: 0, points: { show: false }, show: band === undefined || isShown(band.line) };
  }
  const single = options.is_joined ? [] : alone(column);
  return {
    show: isShown(line),
    spanGaps: options.is_joined ?? false,
    stroke: look.color,
    width: look.width * zoom,
    alpha: look.alpha,
    dash: look.dash.map((length) => length * zoom),
    points: {
      show: () => single.length > 0,
      filter: () => single,
      size: 4 * zoom,
      width: 0,
      fill: look.color,
    },
  };
}

function axes(options: Plot, zoom: number): uPlot.Axis[] {
  const font = fontOf(TEXT_PX * zoom);
  const line = { stroke: cssColor('--hairline'), width: zoom };
  const texts = (ticks: Tick[], places: number[]): string[] =>
    places.map((place) => ticks.find(({ value }) => value === place)?.text ?? '');
  const common = { font, stroke: cssColor('--muted'), grid: line, gap: 5 * zoom };
  const values = (ticks: Tick[]): Pick<uPlot.Axis, 'splits' | 'values'> => ({
    splits: () => ticks.map(({ value }) => value),
    values: (_, places) => texts(ticks, places),
  });
  return [
    {
      ...common,
      ...values(options.x.ticks),
      size: BOTTOM_PX * zoom,
      grid: { show: false },
      ticks: { ...line, size: 4 * zoom },
      border: { show: true, ...line },
    },
    {
      ...common,
      ...values(options.y.ticks),
      size: (options.left ?? LEFT_PX) * zoom,
      ticks: { show: false },
      filter: (_, places) => places,
      grid: { ...line, filter: (_, places) => places },
    },
  ];
}

/** The font of texts on canvases. */
export function fontOf(px: number): string {
  return `${px}px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif`;
}

/** The colour as it looks through so much of it. */
function faded(color: string, alpha: number): string {
  const part = Math.round(alpha * 255)
    .toString(16)
    .padStart(2, '0');
  return /^#[0-9a-f]{6}$/i.test(color) ? color + part : color;
}
