/** The load around each event of a run, or of two side by side: answers, losses, and response times. */

import type uPlot from 'uplot';
import type { Load, Report, Run } from '../report';
import { card } from '../card';
import { cssColor, colorClass } from '../colors';
import { append, h } from '../dom';
import { duration, formatValue } from '../format';
import type { Numbers } from '../numbers';
import { legend } from '../charts/legend';
import { line } from '../charts/marks';
import { drawEventSpan } from '../charts/marks_over_time';
import { destroy, plot, roomOf, LEFT_PX, type LineStyle } from '../charts/plot';
import {
  around,
  costText,
  range,
  rates,
  recovered,
  sampleText,
  signed,
  ticksOf,
  times,
  type Around,
} from '../views/around';
import { clock } from '../views/clock';
import { positiveExtent } from '../views/measures';
import { fromZero, logarithmic, type Scale } from '../views/scale';
import { isNarrow, paneHead, paneSwitch, panesOf } from './panes';
import { follow } from './time';

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
      'x: seconds since the event began. Shaded: until it had ended. Dashed: when the load was as before.',
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
  for (const one of all.slice(0, EVENTS_MAX)) drawEvent(pane, one, `--${color}`, width, made);
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
    h('h5', { class: 'event-name' }, event.name, h('small', {}, `at ${clock(begun_s)}, ${ended}`)),
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
    names: ['ok', 'planned', 'lost'],
    unit: 'per_s',
    data: per,
    scale: fromZero(top, 'per_s', roomOf(HEIGHT_PX)),
    is_log: false,
    styles: [
      { ...thin, width: 1.75, color: mine },
      { ...thin, dash: [3, 3], alpha: 0.8, color: mine },
      { ...thin, width: 1.75, color: cssColor('--bad') },
    ],
  });
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

function keys(color: string): HTMLElement {
  const sample = (kind: string): SVGElement[] => [line(kind, 1, 7, 21, 7)];
  const own = color.slice(2);
  return legend([
    { sample: sample('event-line'), words: 'ok answers; p50', color: own },
    { sample: sample('event-line planned'), words: 'planned', color: own },
    { sample: sample('event-line thin'), words: 'longest response', color: own },
    { sample: sample('event-line lost'), words: 'lost' },
  ]);
}

interface Drawn {
  title: string;
  names: string[];
  unit: 'per_s' | 'ms';
  data: (number | null)[][];
  scale: Scale;
  is_log: boolean;
  styles: LineStyle[];
}

function draw(host: HTMLElement, one: Around, width: number, made: uPlot[], drawn: Drawn): void {
  const { title, names, unit, data, scale, is_log, styles } = drawn;
  const [low, high] = range(one);
  const unitWords = is_log ? 'ms, log scale' : 'per second';
  append(host, h('div', { class: 'chart-head' }, h('h5', {}, title, h('small', {}, unitWords))));
  const chart = plot(host, {
    label: `${title} around ${one.event.name}; arrow keys move between points`,
    width,
    height: HEIGHT_PX,
    x: { low, high, ticks: ticksOf([low, high], width - LEFT_PX) },
    y: { ...scale, is_log },
    data,
    styles,
    tip: (step) => {
      const at = data[0]?.[step] ?? 0;
      const half = one.course.step_s / 2;
      const values = names.map(
        (name, index) => `${name}: ${formatValue(data[index + 1]?.[step] ?? null, unit)}`,
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
  return {
    heads: ['variant', 'event', 'since it began, s', 'planned', 'ok', 'lost', 'p50, ms', 'longest, ms'],
    rows: named.flatMap(({ one, name }) => {
      const { begun_s, course, event } = one;
      return course.ok.map((ok, step) => [
        name,
        event.name,
        Number((course.from_s - begun_s + step * course.step_s).toFixed(3)),
        course.planned[step] ?? null,
        ok,
        course.lost[step] ?? null,
        course.p50_ms[step] ?? null,
        course.max_ms[step] ?? null,
      ]);
    }),
  };
}
