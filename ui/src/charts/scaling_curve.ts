/** Throughput by users, with the scalability law if it fits, and where throughput stops growing. */

import type { Scaling } from '../report_experiment';
import { s } from '../dom';
import { scalingLines } from '../views/effects';
import { fromZero } from '../views/scale';
import { dot, line, round, word } from './marks';
import { axisRoom, plotArea, xTick } from './plot_area';
import { rovingFocus, type Stop } from './roving_focus';

export function scalingCurve(scaling: Scaling, color: string, width: number): SVGSVGElement {
  const { steps, law, saturated_at: at, saturated_words: words } = scaling;
  const height = width < 520 ? 240 : 280;
  const most = Math.max(...steps.map(({ users }) => users), 1);
  const highest = Math.max(...steps.map(({ per_s }) => per_s), ...law.map(([, perSecond]) => perSecond));
  const y = fromZero(highest, 'per_s', { from: height - 50, to: 26 });
  const frame = { left: axisRoom(y), right: width - 24, top: 26, bottom: height - 50 };
  const x = fromZero(most, 'count', { from: frame.left, to: frame.right });
  const area = plotArea(width, height, frame, y, 'users', 'Throughput by users');
  for (const tick of x.ticks) xTick(area, x.at(tick.value), tick.text, true);
  const parts = area.svg.appendChild(s('g', { class: color }));
  if (at !== null && at <= x.high) {
    area.svg.append(line('limit', x.at(at), frame.top, x.at(at), frame.bottom));
    const isLate = x.at(at) > (frame.left + frame.right) / 2;
    const place = x.at(at) + (isLate ? -6 : 6);
    area.svg.append(
      word('tick halo', place, frame.bottom - 8, `saturated at ${words}`, isLate ? 'end' : undefined),
    );
  }
  const path = (points: [number, number][]): string =>
    `M${points.map(([users, perSecond]) => `${round(x.at(users))} ${round(y.at(perSecond))}`).join('L')}`;
  if (law.length > 1) parts.append(s('path', { class: 'path dashed', d: path(law) }));
  else parts.append(s('path', { class: 'path', d: path(steps.map(({ users, per_s }) => [users, per_s])) }));
  const stops = steps.map((step): Stop => {
    const mark = s('g', { class: `stop ${color}` }, dot(x.at(step.users), y.at(step.per_s), 5, true));
    return { mark: area.svg.appendChild(mark), lines: () => scalingLines(step) };
  });
  rovingFocus(stops);
  return area.svg;
}
