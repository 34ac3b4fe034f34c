/** Line charts on a canvas, with axes, bands, a shared cursor, tooltips, and keyboard control. */

import uPlot from 'uplot';
import type { Scale, Tick } from '../views/scale';
import { isolated } from '../views/bins';
import { h } from '../dom';
import { isPrinting } from '../theme';
import { cssColor } from '../colors';
import { hideTooltip } from '../tooltip';
import { attachCursor, type Stack } from './cursor';

/** The style of a line. */
export interface LineStyle {
  color: string;
  width: number;
  dash: readonly number[];
  alpha: number;
}

export interface Plot {
  /** The label for screen readers. */
  label: string;
  width: number;
  height: number;
  /** Width of the y axis labels, the same in all charts of a column. */
  left?: number;
  /** Padding at the right, for labels at the ends of lines. */
  right?: number;
  x: { low: number; high: number; ticks: Tick[] };
  y: Pick<Scale, 'low' | 'high' | 'ticks'> & { is_log: boolean };
  /** `x`, then a column per line, then the edges of the bands. */
  data: (number | null)[][];
  styles: LineStyle[];
  /** Columns of the upper and the lower edge, and the index of the line. */
  bands?: { high: number; low: number; line: number }[];
  /** Whether the line is shown. */
  is_shown?: (line: number) => boolean;
  /** Draws bars from zero instead of lines, each over those before it: of a stack, the highest sums come first. */
  is_bars?: boolean;
  /** Connects the points of a line across positions where only other lines have points. */
  is_joined?: boolean;
  /** The tooltip at a column of `data`, the title first; empty for none. */
  tip: (column: number) => string[];
  /** Charts with the same key share a cursor. */
  sync?: string;
  /** Charts of one column share one Tab stop; arrow keys move between them. */
  stack?: Stack;
  /** Draw below and above the lines; `scale` is canvas pixels per CSS pixel. */
  under?: (chart: uPlot, scale: number) => void;
  over?: (chart: uPlot, scale: number) => void;
}

export const TEXT_PX = 11;
export const LEFT_PX = 74;
const BOTTOM_PX = 22;
// eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- uPlot's enum does not exist at run time
const LOGARITHMIC = 3 as uPlot.Scale.Distr;
export const TOP_PX = 6;

/** The vertical pixel range of a plot of this height, from bottom to top. */
export function roomOf(height: number): { from: number; to: number } {
  return { from: height - BOTTOM_PX, to: TOP_PX };
}

/** Draws the chart into the host. The caller must destroy the chart before it empties the host. */
export function plot(host: HTMLElement, options: Plot): uPlot {
  // Print has a higher resolution: draw at three times the size, and scale down in the style sheet.
  const zoom = isPrinting() && devicePixelRatio < 2 ? 3 : 1;
  const frame = h('div', { class: 'plot', role: 'application', 'aria-label': options.label, tabindex: -1 });
  frame.style.height = `${options.height}px`;
  frame.style.setProperty('--zoom', String(1 / zoom));
  host.append(frame);
  const chart = new uPlot(settings(options, zoom), options.data as uPlot.AlignedData, frame);
  attachCursor(chart, frame, options);
  return chart;
}

/** Destroys charts and hides their tooltip. */
export function destroy(charts: uPlot[]): void {
  if (charts.length > 0) hideTooltip();
  for (const chart of charts.splice(0)) chart.destroy();
}

function settings(options: Plot, zoom: number): uPlot.Options {
  const { x, y, data } = options;
  const lines = options.styles.length;
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
      fill: withOpacity(options.styles[line]?.color ?? '', 0.2),
    })),
    cursor: {
      y: false,
      move: (chart, left, top) => [snapToData(chart, left), top],
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

/** Snaps the cursor to the data points. */
function snapToData(chart: uPlot, left: number): number {
  const x = left < 0 ? undefined : chart.data[0][chart.posToIdx(left)];
  return x === undefined ? left : chart.valToPos(x, 'x');
}

function lineOf(options: Plot, column: (number | null)[], line: number, zoom: number): uPlot.Series {
  const style = options.styles[line];
  const isShown = options.is_shown ?? (() => true);
  if (!style) {
    const band = options.bands?.find(({ high, low }) => high === line + 1 || low === line + 1);
    return { width: 0, points: { show: false }, show: band === undefined || isShown(band.line) };
  }
  const single = options.is_joined || options.is_bars ? [] : isolated(column);
  return {
    show: isShown(line),
    ...(options.is_bars ? { paths: bars(zoom), fill: style.color } : {}),
    spanGaps: options.is_joined ?? false,
    stroke: style.color,
    width: style.width * zoom,
    alpha: style.alpha,
    dash: style.dash.map((length) => length * zoom),
    points: {
      show: () => single.length > 0,
      filter: () => single,
      size: 4 * zoom,
      width: 0,
      fill: style.color,
    },
  };
}

/** As wide as a step, less a gap where there is room for it. */
function bars(zoom: number): uPlot.Series.PathBuilder {
  const build = uPlot.paths.bars?.({ size: [0.9, Infinity, zoom], gap: 0 });
  if (!build) throw new Error('no bars');
  return build;
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

/** The color with this opacity. */
function withOpacity(color: string, alpha: number): string {
  const part = Math.round(alpha * 255)
    .toString(16)
    .padStart(2, '0');
  return /^#[0-9a-f]{6}$/i.test(color) ? color + part : color;
}
