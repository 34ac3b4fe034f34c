/** The load around each event of a run, or of two side by side: answers, losses, and response times. */

import type uPlot from 'uplot';
import type { Load, Report, Run } from '../report';
import { card } from '../card';
import { cssColor, colorClass } from '../colors';
import { append, h, s } from '../dom';
import { duration, formatValue } from '../format';
import type { Numbers } from '../numbers';
import { legend } from '../charts/legend';
import { line } from '../charts/marks';
import { drawEventSpan } from '../charts/marks_over_time';
import { destroy, plot, roomOf, LEFT_PX, type LineStyle } from '../charts/plot';
import {
  around,
  costText,
  middles,
  range,
  rates,
  recovered,
  sampleText,
  signed,
  ticksOf,
  times,
  whenText,
  type Around,
} from '../views/around';
import { classWords, lostClasses, lostInSteps, stackOf } from '../views/lost';
import { positiveExtent } from '../views/measures';
import { fromZero, logarithmic, type Scale } from '../views/scale';
import { isNarrow, paneHead, paneSwitch, panesOf } from './panes';
import { follow } from './time';
import { eventCauses } from './event_causes';

/** Events of one run that are drawn. */
const EVENTS_MAX = 12;
const HEIGHT_PX = 132;
const TITLE = 'Around events';

export function events(report: Report, load: Load): HTMLElement | null {
  const panes = panesOf(report, load);
  if (!panes) return null;
  const has = (index: number): boolean => {
    const run = report.runs[index];
    return run !== undefined && around(run).length > 0;
  };
  if (!load.rows.some(({ runs }) => runs.some(has))) return null;
  const figures = (): Numbers => numbersOf(report, load, panes.runs);
  const made: uPlot[] = [];
  const element = card({
    id: `around-events-${report.loads.indexOf(load) + 1}`,
    title: TITLE,
    about:
      'x: seconds since the event began; times of events count from the end of the warm-up. Shaded: until it had ended. Dashed: when the load was as before.',
    draw: (host, width) => {
      destroy(made);
      const narrow = isNarrow(width);
      const runs = narrow ? panes.runs.slice(panes.front, panes.front + 1) : panes.runs;
      if (narrow && panes.runs.length > 1) append(host, paneSwitch(report, load, panes));
      const each = Math.floor((width - 24 * (runs.length - 1)) / Math.max(1, runs.length));
      const columns = runs.map((index) => column(report, load, index, each, made));
      append(host, h('div', { class: `panes-${Math.max(1, runs.length)}` }, ...columns));
    },
    numbers: figures,
  });
  follow(panes, element, TITLE, figures);
  return element;
}

function column(report: Report, load: Load, index: number, width: number, made: uPlot[]): HTMLElement {
  const run = report.runs[index];
  if (!run) return h('div');
  const color = colorClass(report, load, run.row);
  const all = around(run);
  const pane = h('div', { class: 'pane' }, paneHead(report, load, index));
  if (all.length === 0) append(pane, h('p', { class: 'nothing' }, 'This run has no course around an event.'));
  for (const one of all.slice(0, EVENTS_MAX)) {
    drawEvent(pane, one, `--${color}`, width, made);
    const found = one.event.causes;
    // Those of a study are of all its blocks, and with its costs.
    if (report.kind === 'run' && found) append(pane, eventCauses(report, load, [{ ...found, row: run.row }]));
  }
  const more = all.length - EVENTS_MAX;
  if (more > 0)
    append(
      pane,
      h('p', { class: 'about' }, `${more} more ${more === 1 ? 'event' : 'events'} in the data table.`),
    );
  return pane;
}

function drawEvent(host: HTMLElement, one: Around, color: string, width: number, made: uPlot[]): void {
  const { event, begun_s } = one;
  const ended = event.ended_s === null ? event.outcome : `took ${duration((event.ended_s - begun_s) * 1000)}`;
  append(
    host,
    h('h5', { class: 'event-name' }, event.name, h('small', {}, `${whenText(begun_s)}, ${ended}`)),
    h('p', { class: 'event-text' }, event.action),
    h('p', { class: 'event-text' }, costText(event)),
    h('p', { class: 'about' }, sampleText(one)),
    keys(color),
  );
  const mine = cssColor(color);
  const thin = { width: 1.25, alpha: 1, dash: [] };
  const per = rates(one);
  const top = Math.max(0, ...per.slice(1).flat());
  draw(host, one, width, made, {
    title: 'Answers per second',
    names: ['ok', 'planned'],
    unit: 'per_s',
    data: per,
    scale: fromZero(top, 'per_s', roomOf(HEIGHT_PX)),
    is_log: false,
    styles: [
      { ...thin, width: 1.75, color: mine },
      { ...thin, dash: [3, 3], alpha: 0.8, color: mine },
    ],
  });
  drawLost(host, one, width, made);
  const of = times(one);
  const [low, high] = positiveExtent(of.slice(1).flat());
  draw(host, one, width, made, {
    title: 'Response time',
    names: ['p50', 'max'],
    unit: 'ms',
    data: of,
    scale: logarithmic(low, high, 'ms', roomOf(HEIGHT_PX)),
    is_log: true,
    styles: [
      { ...thin, width: 2, color: mine },
      { ...thin, alpha: 0.65, color: mine },
    ],
  });
}

/** Requests without an ok answer, by class, as bars upon each other. */
function drawLost(host: HTMLElement, one: Around, width: number, made: uPlot[]): void {
  const classes = lostClasses(one.course);
  if (classes.length === 0) {
    append(host, h('p', { class: 'about' }, 'No request was lost in this time.'));
    return;
  }
  const sums = stackOf(classes, one.course);
  // The highest sums come first, so that each class stays visible.
  const order = classes.map((of, index) => ({ ...of, sum: sums[index] ?? [] })).toReversed();
  const top = Math.max(0, ...(sums.at(-1) ?? []));
  draw(host, one, width, made, {
    title: 'Lost requests per second, by class',
    unit: 'per_s',
    names: classes.map(({ words }) => words),
    shown: classes.map(({ counts }) => counts.map((count) => count / one.course.step_s)),
    data: [middles(one), ...order.map(({ sum }) => sum)],
    scale: fromZero(top, 'per_s', roomOf(HEIGHT_PX)),
    is_log: false,
    is_bars: true,
    styles: order.map(({ property }) => ({ color: cssColor(property), width: 0, alpha: 1, dash: [] })),
    key: legend(
      classes.map(({ words, color }) => ({
        sample: [s('rect', { class: 'lost-class', x: 4, y: 2, width: 14, height: 10 })],
        words,
        color,
      })),
    ),
  });
}

function keys(color: string): HTMLElement {
  const sample = (kind: string): SVGElement[] => [line(kind, 1, 7, 21, 7)];
  const own = color.slice(2);
  return legend([
    { sample: sample('event-line'), words: 'ok answers; p50', color: own },
    { sample: sample('event-line planned'), words: 'planned', color: own },
    { sample: sample('event-line thin'), words: 'longest response', color: own },
  ]);
}

interface Drawn {
  title: string;
  names: string[];
  unit: 'per_s' | 'ms';
  data: (number | null)[][];
  /** The values of the tooltip, by name; default: those of `data`. */
  shown?: (number | null)[][];
  scale: Scale;
  is_log: boolean;
  is_bars?: boolean;
  styles: LineStyle[];
  key?: HTMLElement;
}

function draw(host: HTMLElement, one: Around, width: number, made: uPlot[], drawn: Drawn): void {
  const { title, names, unit, data, scale, is_log, is_bars, styles } = drawn;
  const shown = drawn.shown ?? data.slice(1);
  const [low, high] = range(one);
  const scaleWords = is_log ? h('small', {}, 'log scale') : null;
  append(host, h('div', { class: 'chart-head' }, h('h5', {}, title, scaleWords)), drawn.key);
  const chart = plot(host, {
    label: `${title} around ${one.event.name}; arrow keys move between points`,
    width,
    height: HEIGHT_PX,
    x: { low, high, ticks: ticksOf([low, high], width - LEFT_PX) },
    y: { ...scale, is_log },
    data,
    styles,
    is_bars: is_bars ?? false,
    tip: (step) => {
      const at = data[0]?.[step] ?? 0;
      const half = one.course.step_s / 2;
      const values = names.map(
        (name, index) => `${name}: ${formatValue(shown[index]?.[step] ?? null, unit)}`,
      );
      return [`${signed(at - half)} to ${signed(at + half)}`, ...values];
    },
    under: (canvas, pixels) => {
      const ended_s = one.event.ended_s;
      drawEventSpan(canvas, pixels, ended_s === null ? 0 : ended_s - one.begun_s, recovered(one));
    },
  });
  made.push(chart);
}

function numbersOf(report: Report, load: Load, runs: number[]): Numbers {
  const named = runs.flatMap((index) => {
    const run: Run | undefined = report.runs[index];
    return run ? around(run).map((one) => ({ one, name: load.rows[run.row]?.name ?? run.id })) : [];
  });
  const present = named.flatMap(({ one }) => lostClasses(one.course).map((of) => of.name));
  const classes = [...new Set(present)];
  return {
    heads: [
      'variant',
      'event',
      'began, s after the warm-up',
      'since it began, s',
      'planned',
      'ok',
      'lost',
      ...classes.map(classWords),
      'p50, ms',
      'longest, ms',
    ],
    rows: named.flatMap(({ one, name }) => {
      const { begun_s, course, event } = one;
      const lost = lostInSteps(course);
      return course.ok.map((ok, step) => [
        name,
        event.name,
        Number(begun_s.toFixed(3)),
        Number((course.from_s - begun_s + step * course.step_s).toFixed(3)),
        course.planned[step] ?? null,
        ok,
        lost[step] ?? null,
        ...classes.map((of) => course.lost[of]?.[step] ?? 0),
        course.p50_ms[step] ?? null,
        course.max_ms[step] ?? null,
      ]);
    }),
  };
}
