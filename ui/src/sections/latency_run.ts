/** Response time against load within one run: a point for each stretch of time. */

import type { Load, Report } from '../report';
import { card } from '../card';
import { h, s } from '../dom';
import { decimal, duration } from '../format';
import { legend } from '../charts/legend';
import { round } from '../charts/marks';
import { axisRoom, plane, xTick } from '../charts/plane';
import { pointed } from '../charts/rows';
import { rateWords } from '../views/counted';
import { instants, isSpread, upperOf, type Instant } from '../views/load_curve';
import { extent, positiveExtent } from '../views/measures';
import { fromZero, logarithmic } from '../views/scale';

export function latencyOfRun(report: Report, load: Load): HTMLElement | null {
  const at = load.rows[0]?.runs[0];
  const run = at === undefined ? undefined : report.runs[at];
  if (!run?.series) return null;
  const all = instants(report, run);
  if (all.length < 3 || !isSpread(all)) return null;
  const upper = upperOf(report, run);
  const bin = `${decimal(run.series.bin_s, Number.isInteger(run.series.bin_s) ? 0 : 1)} s`;
  return card({
    id: `latency-load-${report.loads.indexOf(load) + 1}`,
    title: 'Response time against load',
    about: `across: ${rateWords(report)}, from zero; up: response time, ms, log axis · n = ${all.length} points of ${bin} each, after the warm-up`,
    help: 'Points that rise towards the right: the more was answered, the longer it took. A flat cloud: load did not slow it down. Points high at the left: it answered little, and slowly.',
    draw: (host, width) => {
      host.append(
        legend([
          {
            sample: [s('circle', { class: 'dot', cx: 11, cy: 7, r: 3.4 })],
            words: 'median',
            color: 'series-1',
          },
          { sample: [square(11, 7)], words: `${upper}, where there are samples enough`, color: 'series-2' },
        ]),
        cloud(report, all, upper, width),
      );
    },
    numbers: () => ({
      heads: ['second', `ok ${report.counted.answers}, per second`, 'median, ms', `${upper}, ms`],
      rows: all.map(({ at_s, rate, median, upper: time }) => [at_s, rate, median, time]),
    }),
  });
}

function cloud(report: Report, all: Instant[], label: string, width: number): Element {
  const height = width < 520 ? 300 : 360;
  const [low, high] = positiveExtent(all.flatMap(({ median, upper }) => [median, upper]));
  const y = logarithmic(low, high, 'ms', { from: height - 50, to: 14 });
  const frame = { left: axisRoom(y), right: width - 24, top: 14, foot: height - 50 };
  const x = fromZero(extent(all.map(({ rate }) => rate))?.[1] ?? 0, 'per_s', {
    from: frame.left,
    to: frame.right,
  });
  const paper = plane(
    width,
    height,
    frame,
    y,
    rateWords(report),
    `response time against ${rateWords(report)}`,
  );
  for (const tick of x.ticks) xTick(paper, x.at(tick.value), tick.text, true);
  const parts = { median: s('g', { class: 'series-1' }), upper: s('g', { class: 'series-2' }) };
  for (const instant of all) {
    const lines = (): string[] => [
      `second ${decimal(instant.at_s, 0)}`,
      `${decimal(instant.rate, 1)} ${rateWords(report)}`,
      ...(instant.median === null ? [] : [`median ${duration(instant.median)}`]),
      ...(instant.upper === null ? [] : [`${label} ${duration(instant.upper)}`]),
    ];
    const at = x.at(instant.rate);
    if (instant.median !== null) {
      const mark = s('circle', { class: 'dot cloudy', cx: round(at), cy: round(y.at(instant.median)), r: 3 });
      parts.median.append(pointed(mark, lines));
    }
    if (instant.upper !== null) parts.upper.append(pointed(square(at, y.at(instant.upper)), lines));
  }
  paper.svg.append(parts.upper, parts.median);
  paper.svg.setAttribute('role', 'img');
  return h('div', {}, paper.svg);
}

function square(x: number, y: number): SVGElement {
  return s('rect', { class: 'dot cloudy', x: round(x - 2.6), y: round(y - 2.6), width: 5.2, height: 5.2 });
}
