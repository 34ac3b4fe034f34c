/** Response time against load: what was answered across, how long it took up. */

import type { Load, Report } from '../report';
import { card, redraw } from '../card';
import { s } from '../dom';
import { decimal, figure } from '../format';
import { colorClass, systems } from '../colors';
import { choice } from '../charts/choice';
import { legend } from '../charts/legend';
import { dot, round, shape, word } from '../charts/marks';
import { axisRoom, plane, xTick, type Plane } from '../charts/plane';
import { rove, type Stop } from '../charts/rove';
import { rateWords } from '../views/counted';
import { bestCurves, curves, type Curve, type Spot } from '../views/load_curve';
import { extent, measures, positiveExtent, rowValue, type Measure } from '../views/measures';
import { around, placed, type Wish } from '../views/place';
import { headOf, optionsOf, runCounts } from '../views/say';
import { fromZero, logarithmic, type Scale } from '../views/scale';
import { textWidth } from '../views/text';
import { latencyOfRun } from './latency_run';

/** With more variants, the best are shown first. */
const ALL_UP_TO = 10;

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
  // One point says nothing; one variant under several loads says most.
  if (made.flatMap(({ spots }) => spots).length < 2) return null;
  const isMany = made.length > ALL_UP_TO && report.kind === 'study';
  let showsAll = !isMany;
  let time = first;
  const drawn = (): Curve[] => {
    const every = curves(report, rate, time);
    return showsAll ? every : bestCurves(load, every);
  };
  const words = [
    { key: 'best', words: 'The best of each system' },
    { key: 'all', words: 'All variants' },
  ];
  const which = choice('Variants', words, 'best', (key) => {
    showsAll = key === 'all';
    redraw(figureOf);
  });
  const figureOf = card({
    id: `latency-load-${report.loads.indexOf(load) + 1}`,
    title: 'Response time against load',
    about: `across: ${rateWords(report)}, from zero; up: response time, log axis · ${runCounts(report, load)}`,
    help: helpOf(report),
    controls: [
      choice('Up', optionsOf(times), first.key, (key) => {
        time = times.find((one) => one.key === key) ?? first;
        redraw(figureOf);
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
      heads: ['variant', 'load', `ok ${report.counted.answers}, per second`, ...times.map(headOf)],
      rows: report.loads.flatMap((under) =>
        under.rows.map((row) => [
          row.name,
          under.name,
          ...[rate, ...times].map((one) => rowValue(under, row, one)),
        ]),
      ),
    }),
  });
  return figureOf;
}

/** The colour and the shape of each system, for marks without a name. */
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
  const better = `The lower and the farther right, the better: more ${report.counted.answers}, each sooner.`;
  if (report.loads.length < 2)
    return `Large marks: all runs of a variant together; small ones: its runs. ${better}`;
  return `A line joins the loads of one variant; solid marks are this load, hollow ones the others; faint points are runs. ${better}`;
}

function draw(view: View, width: number): SVGSVGElement {
  const { report, time } = view;
  const height = width < 520 ? 320 : 400;
  const spots = view.curves.flatMap((curve) => curve.spots);
  const xs = spots.flatMap((spot) => [spot.x, ...spot.runs.map((run) => run.x)]);
  const ys = spots.flatMap((spot) => [spot.y, ...spot.runs.map((run) => run.y)]);
  const [low, high] = positiveExtent(ys);
  const y = logarithmic(low, high, time.unit, { from: height - 50, to: 14 });
  const frame = { left: axisRoom(y), right: width - 24, top: 14, foot: height - 50 };
  const x = fromZero(extent(xs)?.[1] ?? 0, 'per_s', { from: frame.left, to: frame.right });
  const paper = plane(
    width,
    height,
    frame,
    y,
    rateWords(report),
    `${time.words} against ${rateWords(report)}`,
  );
  for (const tick of x.ticks) xTick(paper, x.at(tick.value), tick.text, true);
  const order = systems(report);
  const stops: Stop[] = [];
  for (const curve of view.curves)
    drawCurve(view, curve, order.indexOf(curve.system), { paper, x, y, stops });
  labels(view, { paper, x, y, stops });
  rove(stops);
  return paper.svg;
}

interface Drawing {
  paper: Plane;
  x: Scale;
  y: Scale;
  stops: Stop[];
}

function drawCurve(view: View, curve: Curve, place: number, { paper, x, y, stops }: Drawing): void {
  const color = colorOf(view, curve);
  const parts = paper.svg.appendChild(s('g', { class: color }));
  const at = (spot: { x: number; y: number }): string => `${round(x.at(spot.x))} ${round(y.at(spot.y))}`;
  if (curve.spots.length > 1)
    parts.append(s('path', { class: 'path', d: `M${curve.spots.map(at).join('L')}` }));
  for (const spot of curve.spots) {
    for (const run of spot.runs) {
      const mark = dot(x.at(run.x), y.at(run.y), 2, run.is_sound);
      if (run.is_sound) mark.classList.add('faint');
      parts.append(mark);
    }
    const mark = shape(place, x.at(spot.x), y.at(spot.y), 5);
    if (spot.load !== view.at) mark.classList.add('hollow');
    const stop = parts.appendChild(s('g', { class: 'stop' }, mark));
    stops.push({ mark: stop, lines: () => spotLines(view, curve, spot) });
  }
}

function colorOf({ report, load, at }: View, curve: Curve): string {
  const spot = curve.spots.find((one) => one.load === at) ?? curve.spots[0];
  const mine = spot ? (report.loads[spot.load] ?? load) : load;
  return spot ? colorClass(report, mine, mine.rows.indexOf(spot.row)) : '';
}

function spotLines({ report, time }: View, curve: Curve, spot: Spot): string[] {
  return [
    curve.name,
    report.loads[spot.load]?.name ?? '',
    `${decimal(spot.x, 1)} ${rateWords(report)}`,
    `${time.words}: ${figure(spot.y, 'ms')}`,
    `n = ${spot.runs.length} ${spot.runs.length === 1 ? 'run' : 'runs'}`,
  ];
}

/** Names where there is room for them, the best first; all have them when pointed at. */
function labels(view: View, { paper, x, y }: Drawing): void {
  const { frame } = paper;
  const named = view.curves
    .flatMap((curve) => curve.spots.filter((spot) => spot.load === view.at).map((spot) => ({ curve, spot })))
    .sort((a, b) => Number(b.spot.row.is_best) - Number(a.spot.row.is_best));
  const wishes = named.map(({ curve, spot }): Wish => ({
    x: x.at(spot.x),
    y: y.at(spot.y),
    width: textWidth(curve.name, 12.5),
  }));
  const marks = view.curves.flatMap((curve) =>
    curve.spots.map((spot) => around(x.at(spot.x), y.at(spot.y), 6)),
  );
  placed(wishes, { ...frame, right: frame.right + 20, foot: frame.foot - 2 }, marks).forEach((place, at) => {
    const one = named[at];
    if (!place || !one) return;
    const anchor = place.anchor === 'start' ? undefined : place.anchor;
    paper.svg.append(
      word(one.spot.row.is_best ? 'name halo strong' : 'name halo', place.x, place.y, one.curve.name, anchor),
    );
  });
}
