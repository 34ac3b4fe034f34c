/** The percentile spectrum: response times from the fastest request to the slowest of 100,000, a line for each variant. */

import type uPlot from 'uplot';
import type { Load, Report } from '../report';
import {
  at,
  firstShown,
  joined,
  percent,
  placeOfShare,
  reach,
  shareTicks,
  SHARES,
  slower,
  withSpectrum,
} from '../views/spectrum';
import { numberOf } from '../views/counted';
import { logarithmic } from '../views/scale';
import { positiveExtent } from '../views/measures';
import { dashOf } from '../views/look';
import { destroy, LEFT_PX, plot, roomOf, type Look } from '../charts/plot';
import { key, sample } from '../charts/key';
import { shape } from '../charts/marks';
import { paintEnds, type End } from '../charts/ends';
import { paintShape } from '../charts/shapes';
import { colorClass, cssColor } from '../colors';
import { shapeOf, variantsKey } from './variants_key';
import { count, duration } from '../format';
import { card, redraw } from '../card';
import { h } from '../dom';

/** A line: the response time of a row, or its service time. */
interface Line {
  row: number;
  words: string;
  points: [number, number][];
  look: Look;
  /** The shape of its system; none on service times. */
  shape: number | null;
}

interface Shown {
  rows: Set<number>;
  has_service: boolean;
}

export function spectrum(report: Report, load: Load): HTMLElement | null {
  const all = withSpectrum(load);
  if (all.length === 0) return null;
  const shown: Shown = { rows: new Set(firstShown(load)), has_service: false };
  const made: uPlot[] = [];
  const place = report.loads.indexOf(load);
  const figure = card({
    id: place === 0 ? 'spectrum' : `spectrum-${place + 1}`,
    title: 'Percentile spectrum',
    about: about(report, load, all),
    help: help(report, all.length),
    controls: controls(report, load, all, shown, () => {
      redraw(figure);
    }),
    draw: (host, width) => {
      destroy(made);
      made.push(...drawn(host, width, report, load, shown));
    },
    numbers: () => ({
      heads: ['Variant', 'n', 'Percentile (%)', 'Response time (ms)', 'Service time (ms)'],
      rows: all.flatMap((row) => {
        const { name, spectrum: mine } = load.rows[row] ?? { name: '', spectrum: null };
        return (mine?.response ?? []).map(([share, ms]) => [
          name,
          mine?.n ?? null,
          Number((share * 100).toFixed(5)),
          ms,
          at(mine?.service ?? [], share),
        ]);
      }),
    }),
  });
  return figure;
}

function about(report: Report, load: Load, all: number[]): string {
  const n = all.reduce((sum, row) => sum + (load.rows[row]?.spectrum?.n ?? 0), 0);
  const runs = all.reduce((sum, row) => sum + (load.rows[row]?.metric?.n ?? 0), 0);
  const of = runs > all.length ? `, all valid runs of a variant together` : '';
  const lines = all.length > 1 ? ` of ${all.length} ${report.kind === 'runs' ? 'runs' : 'variants'}` : '';
  return `Response time, log axis, by percentile · n = ${numberOf(report, n)}${lines}${of}`;
}

function help({ counted: { many } }: Report, lines: number): string {
  const crossing =
    lines < 2 ? '' : `Where lines cross, one is faster for most ${many} and the other for the slowest. `;
  return `Lower is faster; each nine to the right takes the same room. ${crossing}A line ends where fewer than ten ${many} are beyond.`;
}

/** A key of all variants, and one for service times. */
function controls(report: Report, load: Load, all: number[], shown: Shown, draw: () => void): HTMLElement[] {
  const variants = all.length < 2 ? [] : [variantsKey(report, load, all, shown.rows, draw)];
  const hasService = all.some((row) => (load.rows[row]?.spectrum?.service.length ?? 0) > 1);
  if (!hasService) return variants;
  const entry = {
    words: 'service time, too',
    colors: ['of-machine'],
    width: 1.25,
    dash: SERVICE_DASH,
    is_shown: false,
  };
  const service = key('Times to show', [entry], (_, isShown) => {
    shown.has_service = isShown;
    draw();
  });
  return [...variants, service];
}

const SERVICE_DASH = [2, 3];

function linesOf(report: Report, load: Load, shown: Shown): Line[] {
  return withSpectrum(load)
    .filter((row) => shown.rows.has(row))
    .flatMap((row) => {
      const { name, spectrum: mine } = load.rows[row] ?? { name: '', spectrum: null };
      const color = cssColor(`--${colorClass(report, load, row)}`);
      const response: Line = {
        row,
        words: name,
        points: mine?.response ?? [],
        look: { color, width: 2, dash: dashOf(load, row), alpha: 1 },
        shape: shapeOf(report, load, row),
      };
      const service: Line = {
        row,
        words: `${name}, service time`,
        points: mine?.service ?? [],
        look: { color, width: 1.25, dash: SERVICE_DASH, alpha: 1 },
        shape: null,
      };
      return shown.has_service && service.points.length > 1 ? [response, service] : [response];
    });
}

function drawn(host: HTMLElement, width: number, report: Report, load: Load, shown: Shown): uPlot[] {
  const lines = linesOf(report, load, shown);
  if (lines.length === 0) {
    host.append(h('p', { class: 'nothing' }, 'Choose a variant above.'));
    return [];
  }
  host.append(legend(report, load, lines));
  const height = Math.round(Math.min(440, Math.max(280, width * 0.45)));
  const { shares, values } = joined(lines.map(({ points }) => points));
  const [low, high] = positiveExtent(values.flat());
  const end = Math.max(1, ...shares.map(placeOfShare));
  const named = width < 700 || lines.length < 2 ? [] : endsOf(load, lines);
  const right = Math.min(170, Math.max(0, ...named.map(({ words }) => words.length * 7 + 20)));
  const scale = logarithmic(low, high, 'ms', roomOf(height));
  const chart = plot(host, {
    label: 'Response time by percentile; arrow keys go from percentile to percentile',
    width,
    height,
    x: { low: 0, high: end * 1.02, ticks: shareTicks(end, width - LEFT_PX - right) },
    y: { ...scale, is_log: true },
    data: [shares.map(placeOfShare), ...values],
    looks: lines.map(({ look }) => look),
    right: Math.max(18, right),
    is_joined: true,
    stack: { frames: new Map(), place: 0 },
    tip: (column) => tipLines(report, lines, shares[column] ?? 0),
    over: (made, pixels) => {
      paintShapes(made, pixels, lines);
      paintEnds(made, pixels, named);
    },
  });
  return [chart];
}

/** From top to bottom, as the lines are. */
function tipLines({ counted }: Report, lines: Line[], share: number): string[] {
  const known = lines
    .filter((line) => line.shape !== null)
    .map(({ row, words, points }) => {
      const service = lines.find((line) => line.row === row && line.shape === null);
      return { words, ms: at(points, share), service_ms: service ? at(service.points, share) : null };
    })
    .sort((a, b) => (b.ms ?? Infinity) - (a.ms ?? Infinity));
  const texts = known.map(({ words, ms, service_ms }) => {
    const service = service_ms === null ? '' : ` (service time ${duration(service_ms)})`;
    return `${words}: ${ms === null ? `too few ${counted.many}` : duration(ms)}${service}`;
  });
  return [`${percent(share)}${slower(share)}`, ...texts.slice(0, 16)];
}

/** Shapes at the percentiles that people name, and at the end of each line. */
function paintShapes(chart: uPlot, pixels: number, lines: Line[]): void {
  for (const { points, look, shape: form } of lines) {
    const last = points.at(-1);
    if (form === null || !last) continue;
    const shares = [
      ...SHARES.filter((share) => share > 0 && placeOfShare(share) < placeOfShare(last[0]) - 0.1),
      last[0],
    ];
    for (const share of shares) {
      const ms = at(points, share);
      if (ms === null) continue;
      const x = chart.valToPos(placeOfShare(share), 'x', true);
      paintShape(chart.ctx, form, x, chart.valToPos(ms, 'y', true), 3.5 * pixels, look.color);
    }
  }
}

/** The words at the ends of lines: the system, or the variant where several of a system are shown. */
function endsOf(load: Load, lines: Line[]): End[] {
  return lines.flatMap(({ row, points, shape: form }) => {
    const [it, last] = [load.rows[row], points.at(-1)];
    if (form === null || !it || !last) return [];
    const others = lines.filter((line) => line.shape !== null && load.rows[line.row]?.system === it.system);
    const words = others.length > 1 && it.variant !== '' ? it.variant : it.system;
    return [{ words, x: placeOfShare(last[0]), y: last[1] }];
  });
}

/** What each line is, how many requests it is made of, and how far they reach. */
function legend(report: Report, load: Load, lines: Line[]): HTMLElement {
  const items = lines.flatMap(({ row, words, look, shape: form }) => {
    const mine = load.rows[row]?.spectrum;
    if (form === null) return [];
    const mark = { mark: shape(form, 13, 6, 3.5) };
    const line = sample({
      colors: [colorClass(report, load, row)],
      width: look.width,
      dash: look.dash,
      ...mark,
    });
    const reached = mine ? `: n = ${count(mine.n)}, ${reach(mine).replace(' %', '\u00a0%')}` : '';
    return [h('li', {}, line, h('span', {}, h('b', {}, words), reached))];
  });
  return h('ul', { class: 'line-ends' }, ...items);
}
