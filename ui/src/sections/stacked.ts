/** Columns of charts over time: all share the x axis, and both runs share the y axis. */

import type uPlot from 'uplot';
import type { Load, Report, Run, Series, TimeChart, Track } from '../report';
import { columns, linesOf, middles, sharedScale, until, type Line } from '../views/bins';
import { classOf, colorOf, stacked } from '../views/stack';
import { missingNote } from '../views/missing';
import { styles, property, type TrackStyle } from '../views/line_style';
import { strips } from '../views/heat';
import { span, timeTexts, type Stretch } from '../views/clock';
import { destroy, plot, roomOf, LEFT_PX } from '../charts/plot';
import { shadesKey, stripPlot } from '../charts/strip';
import { drawEvents, drawWarmUp } from '../charts/marks_over_time';
import { key } from '../charts/key';
import { colorClass, cssColor } from '../colors';
import { formatValue } from '../format';
import { append, h } from '../dom';
import { isNarrow, paneHead, paneSwitch, type Panes } from './panes';

/** One column: a run with time series. */
interface Pane {
  run: Run;
  series: Series;
  /** The custom property of the system's color, and the class that sets it. */
  property: string;
  color: string;
  frames: Map<number, HTMLElement>;
}

interface Drawing {
  panes: Pane[];
  width: number;
  /** The axis that all panes share, in seconds after the warm-up. */
  stretch: Stretch;
  sync: string;
  hidden: Set<string>;
}

/** Draws all charts for which a selected run has data; returns the function that destroys them. */
export function drawStack(
  host: HTMLElement,
  width: number,
  report: Report,
  load: Load,
  all: Panes,
  charts: TimeChart[],
): () => void {
  const narrow = isNarrow(width);
  const runs = narrow ? all.runs.slice(all.front, all.front + 1) : all.runs;
  const panes = runs.flatMap((run) => paneOf(report, load, run) ?? []);
  const gap = 24;
  const drawing: Drawing = {
    panes,
    width: Math.floor((width - gap * (panes.length - 1)) / Math.max(1, panes.length)),
    stretch: {
      from: -Math.max(0, ...panes.map(({ run }) => run.warm_up_s)),
      until: Math.max(1, ...panes.map(({ run, series }) => until(series, run.warm_up_s))),
    },
    sync: `load-${report.loads.indexOf(load)}`,
    hidden: all.hidden,
  };
  if (narrow && all.runs.length > 1) append(host, paneSwitch(report, load, all));
  append(
    host,
    row(
      'pane-heads',
      panes,
      runs.map((run) => paneHead(report, load, run)),
    ),
  );
  const present = charts.filter((chart) => panes.some(({ series }) => linesOf(chart, series).length > 0));
  const frees = present.map((chart, index) => drawChart(host, drawing, chart, index));
  return () => {
    for (const free of frees) free();
  };
}

function paneOf(report: Report, load: Load, index: number): Pane | null {
  const run = report.runs[index];
  if (!run?.series) return null;
  const color = colorClass(report, load, run.row);
  return { run, series: run.series, color, property: `--${color}`, frames: new Map() };
}

function row(kind: string, panes: Pane[], cells: HTMLElement[]): HTMLElement {
  return h('div', { class: `${kind} panes-${Math.max(1, panes.length)}` }, ...cells);
}

/** One chart per pane, with a common title and legend. */
function drawChart(host: HTMLElement, drawing: Drawing, chart: TimeChart, index: number): () => void {
  const { panes, hidden } = drawing;
  const made: uPlot[] = [];
  const has = (track: Track): boolean =>
    panes.some(({ series }) => linesOf(chart, series).some((line) => line.track === track));
  const tracks = chart.tracks.filter(has);
  const shape = styles(chart.kind, tracks);
  const cells = h('div', { class: `pane-charts panes-${panes.length}` });
  const draw = (): void => {
    destroy(made);
    cells.replaceChildren();
    for (const pane of panes) {
      const cell = cells.appendChild(h('div', { class: 'pane' }));
      const drawn = drawPane(cell, drawing, pane, { chart, tracks, shape, index });
      if (drawn) made.push(drawn);
    }
  };
  const keys = (): HTMLElement | null => {
    if (chart.kind === 'heat') return shadesKey();
    if (tracks.length < 2) return null;
    return key(`Lines of “${chart.title}”`, entries(drawing, chart, tracks, shape), (line, isShown) => {
      const name = tracks[line]?.key ?? '';
      if (isShown) hidden.delete(name);
      else hidden.add(name);
      draw();
    });
  };
  const unit = unitWords(chart, tracks);
  const head = h(
    'div',
    { class: 'chart-head' },
    h('h5', {}, chart.title, unit === null ? null : h('small', {}, unit)),
  );
  append(head, keys());
  append(host, head, cells);
  draw();
  return () => {
    destroy(made);
  };
}

function entries(
  { panes, hidden }: Drawing,
  chart: TimeChart,
  tracks: Track[],
  shape: TrackStyle[],
): Parameters<typeof key>[1] {
  return tracks.map((track, index) => {
    const of = property(track.subject, '');
    const mine = of === '' ? colorsOf(panes, chart, track) : [`of-${track.subject}`];
    const colors = chart.kind === 'stack' ? [classOf(track)] : mine;
    const { width, dash, alpha } = shape[index] ?? { width: 1, dash: [], alpha: 1 };
    return { words: track.label, colors, width, dash, alpha, is_shown: !hidden.has(track.key) };
  });
}

/** The colors of the panes that have the line. */
function colorsOf(panes: Pane[], chart: TimeChart, track: Track): string[] {
  const mine = panes.filter(({ series }) => linesOf(chart, series).some((line) => line.track === track));
  return [...new Set(mine.map(({ color }) => color))];
}

interface Part {
  chart: TimeChart;
  tracks: Track[];
  shape: TrackStyle[];
  index: number;
}

function drawPane(cell: HTMLElement, drawing: Drawing, pane: Pane, part: Part): uPlot | null {
  const { chart, tracks } = part;
  const own = linesOf(chart, pane.series);
  const isShown = ({ key }: Track): boolean => chart.kind === 'heat' || !drawing.hidden.has(key);
  const lines = own.filter(({ track }) => isShown(track));
  const note = missingNote(
    tracks.filter(isShown),
    own.map(({ track }) => track),
  );
  const made = own.length === 0 ? null : plotted(cell, drawing, pane, part, lines);
  if (note !== null) append(cell, h('p', { class: 'nothing' }, note));
  const { notes } = pane.series;
  if (notes && Object.hasOwn(notes, chart.key)) append(cell, h('p', { class: 'nothing' }, notes[chart.key]));
  return made;
}

function plotted(cell: HTMLElement, drawing: Drawing, pane: Pane, part: Part, lines: Line[]): uPlot {
  const { chart, index } = part;
  const common = {
    label: `${chart.title} over time; arrow keys move between points and between charts`,
    width: drawing.width,
    sync: drawing.sync,
    stack: { frames: pane.frames, index },
    tip: (bin: number) => tooltipLines(pane, chart, lines, bin),
    over: (drawn: uPlot, scale: number) => {
      drawEvents(drawn, scale, pane.run, index === 0);
    },
  };
  if (chart.kind === 'heat') {
    const all = lines.map(({ track, points }) => ({ label: track.label, shares: points.mid }));
    const { bin_s, bins } = pane.series;
    const begin = -pane.run.warm_up_s;
    return stripPlot(cell, { ...common, strips: all, bin_s, bins, begin, stretch: drawing.stretch });
  }
  return drawLines(cell, drawing, pane, part, lines, common);
}

function drawLines(
  cell: HTMLElement,
  drawing: Drawing,
  pane: Pane,
  { chart, tracks, shape, index }: Part,
  lines: Line[],
  common: Omit<Parameters<typeof plot>[1], 'height' | 'x' | 'y' | 'data' | 'styles'>,
): uPlot {
  const height = chart.kind === 'times' ? 176 : 132;
  const visible = { ...chart, tracks: tracks.filter(({ key }) => !drawing.hidden.has(key)) };
  const scale = sharedScale(
    visible,
    drawing.panes.map(({ series }) => series),
    roomOf(height),
  );
  const isStack = chart.kind === 'stack';
  const { warm_up_s } = pane.run;
  const { data, bands } = isStack
    ? stacked(middles(pane.series, warm_up_s), lines)
    : columns(lines, pane.series, warm_up_s);
  const { stretch } = drawing;
  return plot(cell, {
    ...common,
    height,
    x: { low: stretch.from, high: stretch.until, ticks: timeTexts(stretch, drawing.width - LEFT_PX) },
    y: { ...scale, is_log: chart.kind === 'times' },
    data,
    bands,
    styles: lines.map(({ track }) => ({
      ...(shape[tracks.indexOf(track)] ?? { width: 1, dash: [], alpha: 1 }),
      color: cssColor(isStack ? colorOf(track) : property(track.subject, pane.property)),
    })),
    under: (drawn, pixels) => {
      drawWarmUp(drawn, pixels, pane.run, index === 0);
    },
  });
}

/** The values of all lines in a bin, and its events. */
function tooltipLines(pane: Pane, chart: TimeChart, lines: Line[], bin: number): string[] {
  const { bin_s } = pane.series;
  const values =
    chart.kind === 'heat'
      ? shares(lines, bin)
      : lines.map(({ track, points, is_band }) => {
          const [mid, low, high] = [points.mid[bin], points.low?.[bin], points.high?.[bin]];
          const value = `${track.label}: ${formatValue(mid ?? null, chart.unit)}`;
          if (!is_band || typeof low !== 'number' || typeof high !== 'number') return value;
          return `${value} (${formatValue(low, chart.unit)} to ${formatValue(high, chart.unit)})`;
        });
  const { warm_up_s } = pane.run;
  const [from, to] = [bin * bin_s - warm_up_s, (bin + 1) * bin_s - warm_up_s];
  const events = pane.run.events.filter(({ at_s }) => at_s >= from && at_s < to).slice(0, 3);
  const warm = to <= 0 ? ', warm-up' : from < 0 ? ', partly warm-up' : '';
  return [`${span(from, bin_s)}${warm}`, ...values, ...events.map(({ text }) => text)];
}

function shares(lines: Line[], bin: number): string[] {
  const all = lines.map(({ track, points }) => ({ label: track.label, share: points.mid[bin] ?? null }));
  return strips(all, (share) => formatValue(share, 'share'));
}

/** The label of a single line, which has no legend, and the unit or scale. */
function unitWords({ kind, unit }: TimeChart, tracks: Track[]): string | null {
  const [only] = tracks.length === 1 && kind !== 'heat' ? tracks : [];
  const words = [only?.label, unitOf(kind, unit)].filter((part) => typeof part === 'string');
  return words.length > 0 ? words.join(', ') : null;
}

function unitOf(kind: TimeChart['kind'], unit: TimeChart['unit']): string | null {
  if (kind === 'times') return 'log scale';
  if (kind === 'heat') return 'busy share';
  return unit === 'cores' ? 'cores' : null;
}
