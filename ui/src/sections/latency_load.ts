/** Response time vs. throughput: a curve per variant over the loads. */

import type { Load, Report } from '../report';
import { card, redraw } from '../card';
import { s } from '../dom';
import { decimal, formatValue } from '../format';
import { colorClass, systems } from '../colors';
import { choice } from '../charts/choice';
import { legend } from '../charts/legend';
import { dot, round, shape, word } from '../charts/marks';
import { axisRoom, plotArea, xTick, type PlotArea } from '../charts/plot_area';
import { rovingFocus, type Stop } from '../charts/roving_focus';
import { rateTitle } from '../views/counted';
import { bestCurves, curves, type Curve, type Spot } from '../views/load_curve';
import { extent, measures, positiveExtent, rowValue, type Measure } from '../views/measures';
import { boxAround, placeLabels, type LabelRequest } from '../views/place_labels';
import { columnTitle, selectOptions, sampleSize } from '../views/labels';
import { fromZero, logarithmic, type Scale } from '../views/scale';
import { textWidth } from '../views/text';
import { latencyOfRun } from './latency_run';

/** With more variants, only the best are shown at first. */
const SHOW_ALL_MAX = 10;

interface View {
  report: Report;
  load: Load;
  at: number;
  time: Measure;
  curves: Curve[];
}

export function latencyLoad(report: Report, load: Load): HTMLElement | null {
  if (report.kind === 'run') return latencyOfRun(report, load);
  const all = measures(report, load);
  const rate = all.find((one) => one.key === 'throughput');
  const times = all.filter((one) => one.is_log && one.unit === 'ms');
  const first = times.find((one) => one.key === 'p99') ?? times[0];
  if (rate === undefined || first === undefined) return null;
  const made = curves(report, rate, first);
  // A single point shows no relation.
  if (made.flatMap(({ spots }) => spots).length < 2) return null;
  const isMany = made.length > SHOW_ALL_MAX && report.kind === 'study';
  let showsAll = !isMany;
  let time = first;
  const drawn = (): Curve[] => {
    const every = curves(report, rate, time);
    return showsAll ? every : bestCurves(load, every);
  };
  const words = [
    { key: 'best', words: 'Best of each system' },
    { key: 'all', words: 'All variants' },
  ];
  const which = choice('Variants', words, 'best', (key) => {
    showsAll = key === 'all';
    redraw(element);
  });
  const element = card({
    id: `latency-load-${report.loads.indexOf(load) + 1}`,
    title: 'Response time vs. throughput',
    about: `x: ${rateTitle(report)}, from zero · y: response time, log scale · ${sampleSize(report, load)}`,
    help: helpOf(report),
    controls: [
      choice('Response time', selectOptions(times), first.key, (key) => {
        time = times.find((one) => one.key === key) ?? first;
        redraw(element);
      }),
      ...(isMany ? [which] : []),
    ],
    draw: (host, width) => {
      host.append(
        systemKey(report, load),
        draw({ report, load, at: report.loads.indexOf(load), time, curves: drawn() }, width),
      );
    },
    numbers: () => ({
      heads: ['variant', 'load', `ok ${report.counted.answers}, per second`, ...times.map(columnTitle)],
      rows: report.loads.flatMap((under) =>
        under.rows.map((row) => [
          row.name,
          under.name,
          ...[rate, ...times].map((one) => rowValue(under, row, one)),
        ]),
      ),
    }),
  });
  return element;
}

/** The color and the shape of each system, for marks without a label. */
function systemKey(report: Report, load: Load): HTMLElement {
  const order = systems(report);
  const mine = [...new Map(load.rows.map((row, at) => [row.system, at]))];
  return legend(
    mine.map(([system, at]) => ({
      sample: [shape(order.indexOf(system), 11, 7, 4.6)],
      words: system,
      color: colorClass(report, load, at),
    })),
  );
}

function helpOf(report: Report): string {
  const better = 'Lower and further right is better.';
  if (report.loads.length < 2)
    return `Large marks: all runs of a variant. Small marks: single runs. ${better}`;
  return `Lines connect the loads of a variant. Solid marks: this load. Hollow marks: other loads. Faint points: single runs. ${better}`;
}

function draw(view: View, width: number): SVGSVGElement {
  const { report, time } = view;
  const height = width < 520 ? 320 : 400;
  const spots = view.curves.flatMap((curve) => curve.spots);
  const xs = spots.flatMap((spot) => [spot.x, ...spot.runs.map((run) => run.x)]);
  const ys = spots.flatMap((spot) => [spot.y, ...spot.runs.map((run) => run.y)]);
  const [low, high] = positiveExtent(ys);
  const y = logarithmic(low, high, time.unit, { from: height - 50, to: 14 });
  const frame = { left: axisRoom(y), right: width - 24, top: 14, bottom: height - 50 };
  const x = fromZero(extent(xs)?.[1] ?? 0, 'per_s', { from: frame.left, to: frame.right });
  const area = plotArea(width, height, frame, y, rateTitle(report), `${time.words} vs. ${rateTitle(report)}`);
  for (const tick of x.ticks) xTick(area, x.at(tick.value), tick.text, true);
  const order = systems(report);
  const stops: Stop[] = [];
  for (const curve of view.curves) drawCurve(view, curve, order.indexOf(curve.system), { area, x, y, stops });
  labels(view, { area, x, y, stops });
  rovingFocus(stops);
  return area.svg;
}

interface Drawing {
  area: PlotArea;
  x: Scale;
  y: Scale;
  stops: Stop[];
}

function drawCurve(view: View, curve: Curve, place: number, { area, x, y, stops }: Drawing): void {
  const color = colorOf(view, curve);
  const parts = area.svg.appendChild(s('g', { class: color }));
  const at = (spot: { x: number; y: number }): string => `${round(x.at(spot.x))} ${round(y.at(spot.y))}`;
  if (curve.spots.length > 1)
    parts.append(s('path', { class: 'path', d: `M${curve.spots.map(at).join('L')}` }));
  for (const spot of curve.spots) {
    for (const run of spot.runs) {
      const mark = dot(x.at(run.x), y.at(run.y), 2, run.is_valid);
      if (run.is_valid) mark.classList.add('faint');
      parts.append(mark);
    }
    const mark = shape(place, x.at(spot.x), y.at(spot.y), 5);
    if (spot.load !== view.at) mark.classList.add('hollow');
    const stop = parts.appendChild(s('g', { class: 'stop' }, mark));
    stops.push({ mark: stop, lines: () => spotTooltip(view, curve, spot) });
  }
}

function colorOf({ report, load, at }: View, curve: Curve): string {
  const spot = curve.spots.find((one) => one.load === at) ?? curve.spots[0];
  const mine = spot ? (report.loads[spot.load] ?? load) : load;
  return spot ? colorClass(report, mine, mine.rows.indexOf(spot.row)) : '';
}

function spotTooltip({ report, time }: View, curve: Curve, spot: Spot): string[] {
  return [
    curve.name,
    report.loads[spot.load]?.name ?? '',
    `${decimal(spot.x, 1)} ${rateTitle(report)}`,
    `${time.words}: ${formatValue(spot.y, 'ms')}`,
    `n = ${spot.runs.length} ${spot.runs.length === 1 ? 'run' : 'runs'}`,
  ];
}

/** Labels where they fit, the best first; all names are in the tooltips. */
function labels(view: View, { area, x, y }: Drawing): void {
  const { frame } = area;
  const named = view.curves
    .flatMap((curve) => curve.spots.filter((spot) => spot.load === view.at).map((spot) => ({ curve, spot })))
    .sort((a, b) => Number(b.spot.row.is_best) - Number(a.spot.row.is_best));
  const requests = named.map(({ curve, spot }): LabelRequest => ({
    x: x.at(spot.x),
    y: y.at(spot.y),
    width: textWidth(curve.name, 12.5),
  }));
  const marks = view.curves.flatMap((curve) =>
    curve.spots.map((spot) => boxAround(x.at(spot.x), y.at(spot.y), 6)),
  );
  placeLabels(requests, { ...frame, right: frame.right + 20, bottom: frame.bottom - 2 }, marks).forEach(
    (place, at) => {
      const one = named[at];
      if (!place || !one) return;
      const anchor = place.anchor === 'start' ? undefined : place.anchor;
      area.svg.append(
        word(
          one.spot.row.is_best ? 'name halo strong' : 'name halo',
          place.x,
          place.y,
          one.curve.name,
          anchor,
        ),
      );
    },
  );
}
