/** Response time vs. throughput within one run: a point per time bin. */

import type { Load, Report } from '../report';
import { card } from '../card';
import { h, s } from '../dom';
import { decimal, duration } from '../format';
import { legend } from '../charts/legend';
import { round } from '../charts/marks';
import { axisRoom, plotArea, xTick } from '../charts/plot_area';
import { pointed } from '../charts/rows';
import { rateTitle } from '../views/counted';
import { binPoints, isSpread, upperOf, type BinPoint } from '../views/load_curve';
import { extent, positiveExtent } from '../views/measures';
import { fromZero, logarithmic } from '../views/scale';

export function latencyOfRun(report: Report, load: Load): HTMLElement | null {
  const at = load.rows[0]?.runs[0];
  const run = at === undefined ? undefined : report.runs[at];
  if (!run?.series) return null;
  const all = binPoints(run);
  if (all.length < 3 || !isSpread(all)) return null;
  const upper = upperOf(run);
  const bin = `${decimal(run.series.bin_s, Number.isInteger(run.series.bin_s) ? 0 : 1)} s`;
  return card({
    id: `latency-load-${report.loads.indexOf(load) + 1}`,
    title: 'Response time vs. throughput',
    about: `x: ${rateTitle(report)}, from zero · y: response time, ms, log scale · n = ${all.length} bins of ${bin}, without the warm-up`,
    help: 'Points rise to the right: response time grows with throughput. Flat cloud: no effect. Points at the top left: the system was slow and answered little.',
    draw: (host, width) => {
      host.append(
        legend([
          {
            sample: [s('circle', { class: 'dot', cx: 11, cy: 7, r: 3.4 })],
            words: 'p50',
            color: 'series-1',
          },
          { sample: [square(11, 7)], words: `${upper}, where there are enough samples`, color: 'series-2' },
        ]),
        cloud(report, all, upper, width),
      );
    },
    numbers: () => ({
      heads: ['second', `ok ${report.counted.answers}, per second`, 'p50, ms', `${upper}, ms`],
      rows: all.map(({ at_s, rate, median, upper: time }) => [at_s, rate, median, time]),
    }),
  });
}

function cloud(report: Report, all: BinPoint[], label: string, width: number): Element {
  const height = width < 520 ? 300 : 360;
  const [low, high] = positiveExtent(all.flatMap(({ median, upper }) => [median, upper]));
  const y = logarithmic(low, high, 'ms', { from: height - 50, to: 14 });
  const frame = { left: axisRoom(y), right: width - 24, top: 14, bottom: height - 50 };
  const x = fromZero(extent(all.map(({ rate }) => rate))?.[1] ?? 0, 'per_s', {
    from: frame.left,
    to: frame.right,
  });
  const area = plotArea(width, height, frame, y, rateTitle(report), `response time vs. ${rateTitle(report)}`);
  for (const tick of x.ticks) xTick(area, x.at(tick.value), tick.text, true);
  const parts = { median: s('g', { class: 'series-1' }), upper: s('g', { class: 'series-2' }) };
  for (const instant of all) {
    const lines = (): string[] => [
      `second ${decimal(instant.at_s, 0)}`,
      `${decimal(instant.rate, 1)} ${rateTitle(report)}`,
      ...(instant.median === null ? [] : [`p50 ${duration(instant.median)}`]),
      ...(instant.upper === null ? [] : [`${label} ${duration(instant.upper)}`]),
    ];
    const at = x.at(instant.rate);
    if (instant.median !== null) {
      const mark = s('circle', { class: 'dot cloudy', cx: round(at), cy: round(y.at(instant.median)), r: 3 });
      parts.median.append(pointed(mark, lines));
    }
    if (instant.upper !== null) parts.upper.append(pointed(square(at, y.at(instant.upper)), lines));
  }
  area.svg.append(parts.upper, parts.median);
  area.svg.setAttribute('role', 'img');
  return h('div', {}, area.svg);
}

function square(x: number, y: number): SVGElement {
  return s('rect', { class: 'dot cloudy', x: round(x - 2.6), y: round(y - 2.6), width: 5.2, height: 5.2 });
}
