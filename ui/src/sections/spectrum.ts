/** Latency by percentile, up to 99.999 %, with one line per variant. */

import type uPlot from 'uplot';
import type { Load, Report } from '../report';
import {
  at,
  defaultRows,
  joined,
  percent,
  placeOfShare,
  reach,
  shareTicks,
  SHARES,
  slower,
  withSpectrum,
} from '../views/spectrum';
import { countText } from '../views/counted';
import { logarithmic } from '../views/scale';
import { positiveExtent } from '../views/measures';
import { dashOf } from '../views/line_style';
import { destroy, LEFT_PX, plot, roomOf, type LineStyle } from '../charts/plot';
import { key, sample } from '../charts/key';
import { shape } from '../charts/marks';
import { paintEnds, type End } from '../charts/ends';
import { paintShape } from '../charts/shapes';
import { colorClass, cssColor } from '../colors';
import { shapeOf, variantsKey } from './variants_key';
import { count, duration } from '../format';
import { card, redraw } from '../card';
import { h } from '../dom';

/** The response times or the service times of a row. */
interface Line {
  row: number;
  words: string;
  points: [number, number][];
  style: LineStyle;
  /** The shape of the system; null for service times. */
  shape: number | null;
}

interface Shown {
  rows: Set<number>;
  has_service: boolean;
}

export function spectrum(report: Report, load: Load): HTMLElement | null {
  const all = withSpectrum(load);
  if (all.length === 0) return null;
  const shown: Shown = { rows: new Set(defaultRows(load)), has_service: false };
  const made: uPlot[] = [];
  const index = report.loads.indexOf(load);
  const element = card({
    id: index === 0 ? 'spectrum' : `spectrum-${index + 1}`,
    title: 'Response time by percentile',
    about: about(report, load, all),
    help: help(report, all.length),
    controls: controls(report, load, all, shown, () => {
      redraw(element);
    }),
    draw: (host, width) => {
      destroy(made);
      made.push(...drawn(host, width, report, load, shown));
    },
    numbers: () => ({
      heads: ['variant', 'n', 'percentile, %', 'response time, ms', 'service time, ms'],
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
  return element;
}

function about(report: Report, load: Load, all: number[]): string {
  const n = all.reduce((sum, row) => sum + (load.rows[row]?.spectrum?.n ?? 0), 0);
  const runs = all.reduce((sum, row) => sum + (load.rows[row]?.metric?.n ?? 0), 0);
  const of = runs > all.length ? `, all valid runs of a variant combined` : '';
  const lines = all.length > 1 ? ` of ${all.length} ${report.kind === 'runs' ? 'runs' : 'variants'}` : '';
  return `x: percentile, log scale towards 100 % · y: response time, log scale · n = ${countText(report, n)}${lines}${of}`;
}

function help({ counted: { many } }: Report, lines: number): string {
  const crossing =
    lines < 2 ? '' : `If lines cross, one variant is faster for most ${many} and the other for the slowest. `;
  return `Lower is faster. ${crossing}A line ends where fewer than ten slower ${many} remain.`;
}

/** The legend of all variants, and the button for service times. */
function controls(report: Report, load: Load, all: number[], shown: Shown, draw: () => void): HTMLElement[] {
  const variants = all.length < 2 ? [] : [variantsKey(report, load, all, shown.rows, draw)];
  const hasService = all.some((row) => (load.rows[row]?.spectrum?.service.length ?? 0) > 1);
  if (!hasService) return variants;
  const entry = {
    words: 'Show service time',
    colors: ['of-machine'],
    width: 1.25,
    dash: SERVICE_DASH,
    is_shown: false,
  };
  const service = key('Service time', [entry], (_, isShown) => {
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
        style: { color, width: 2, dash: dashOf(load, row), alpha: 1 },
        shape: shapeOf(report, load, row),
      };
      const service: Line = {
        row,
        words: `${name}, service time`,
        points: mine?.service ?? [],
        style: { color, width: 1.25, dash: SERVICE_DASH, alpha: 1 },
        shape: null,
      };
      return shown.has_service && service.points.length > 1 ? [response, service] : [response];
    });
}

function drawn(host: HTMLElement, width: number, report: Report, load: Load, shown: Shown): uPlot[] {
  const lines = linesOf(report, load, shown);
  if (lines.length === 0) {
    host.append(h('p', { class: 'nothing' }, 'Select a variant above.'));
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
    label: 'Response time by percentile; arrow keys move between percentiles',
    width,
    height,
    x: { low: 0, high: end * 1.02, ticks: shareTicks(end, width - LEFT_PX - right) },
    y: { ...scale, is_log: true },
    data: [shares.map(placeOfShare), ...values],
    styles: lines.map(({ style }) => style),
    right: Math.max(18, right),
    is_joined: true,
    stack: { frames: new Map(), index: 0 },
    tip: (column) => tooltipLines(report, lines, shares[column] ?? 0),
    over: (made, pixels) => {
      paintShapes(made, pixels, lines);
      paintEnds(made, pixels, named);
    },
  });
  return [chart];
}

/** In the order of the lines, from top to bottom. */
function tooltipLines({ counted }: Report, lines: Line[], share: number): string[] {
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

/** Shapes at the common percentiles, and at the end of each line. */
function paintShapes(chart: uPlot, pixels: number, lines: Line[]): void {
  for (const { points, style, shape: form } of lines) {
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
      paintShape(chart.ctx, form, x, chart.valToPos(ms, 'y', true), 3.5 * pixels, style.color);
    }
  }
}

/** The labels at the ends of lines: the system, or the variant if several variants of it are shown. */
function endsOf(load: Load, lines: Line[]): End[] {
  return lines.flatMap(({ row, points, shape: form }) => {
    const [it, last] = [load.rows[row], points.at(-1)];
    if (form === null || !it || !last) return [];
    const others = lines.filter((line) => line.shape !== null && load.rows[line.row]?.system === it.system);
    const words = others.length > 1 && it.variant !== '' ? it.variant : it.system;
    return [{ words, x: placeOfShare(last[0]), y: last[1] }];
  });
}

/** Each line with its number of samples and its highest percentile. */
function legend(report: Report, load: Load, lines: Line[]): HTMLElement {
  const items = lines.flatMap(({ row, words, style, shape: form }) => {
    const mine = load.rows[row]?.spectrum;
    if (form === null) return [];
    const mark = { mark: shape(form, 13, 6, 3.5) };
    const line = sample({
      colors: [colorClass(report, load, row)],
      width: style.width,
      dash: style.dash,
      ...mark,
    });
    const reached = mine ? `: n = ${count(mine.n)}, ${reach(mine).replace(' %', '\u00a0%')}` : '';
    return [h('li', {}, line, h('span', {}, h('b', {}, words), reached))];
  });
  return h('ul', { class: 'line-ends' }, ...items);
}
