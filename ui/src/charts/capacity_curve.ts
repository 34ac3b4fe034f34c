/** Response time vs. target rate, with the limits and the capacity interval. */

import type { Capacity, CapacitySearch, TimeKey } from '../report';
import { s } from '../dom';
import { decimal, duration, formatValue } from '../format';
import { interval, limits, spots, TIME_WORDS, type Outcome, type Spot } from '../views/capacity';
import { positiveExtent } from '../views/measures';
import { fromZero, logarithmic, tickText, type Scale } from '../views/scale';
import { textWidth } from '../views/text';
import { legend, type Entry } from './legend';
import { dot, line, round, word } from './marks';
import { axisRoom, plotArea, xTick, type PlotArea } from './plot_area';
import { rovingFocus, type Stop } from './roving_focus';

const WORDS: Record<Outcome, string> = {
  passed: 'all runs passed',
  mixed: 'some runs passed, some failed',
  failed: 'all runs failed',
  invalid: 'no valid run',
};

export function capacityKey(row: Capacity, time: TimeKey, color: string): HTMLElement {
  const seen = new Set(spots(row, time).map((spot) => spot.outcome));
  const marks = (Object.keys(WORDS) as Outcome[]).filter((outcome) => seen.has(outcome));
  const entries: Entry[] = marks.map((outcome) => ({
    sample: [mark(outcome, 11, 7)],
    words: WORDS[outcome],
    color,
  }));
  const band = s('rect', { class: 'between', x: 3, y: 1, width: 16, height: 12 });
  if (interval(row) !== null) entries.push({ sample: [band], words: 'capacity interval', color });
  return legend(entries);
}

export function capacityCurve(
  search: CapacitySearch,
  row: Capacity,
  time: TimeKey,
  color: string,
  width: number,
): SVGSVGElement {
  const height = width < 520 ? 300 : 360;
  const all = spots(row, time);
  const limited = limits(search, time);
  const bounds = limited.flatMap(({ limit_ms }) => (limit_ms === null ? [] : [limit_ms]));
  const [low, high] = positiveExtent([...all.map(({ y }) => y), ...bounds]);
  const y = logarithmic(low, high, 'ms', { from: height - 50, to: 26 });
  const frame = { left: axisRoom(y), right: width - 24, top: 26, bottom: height - 50 };
  const between = interval(row);
  const most = Math.max(...all.map(({ x }) => x), ...(between ?? []), 0);
  const x = fromZero(most, 'per_s', { from: frame.left, to: frame.right });
  const title = `${row.name}: ${TIME_WORDS[time]} vs. target rate`;
  const area = plotArea(width, height, frame, y, 'target rate, per second', title);
  for (const tick of x.ticks) xTick(area, x.at(tick.value), tick.text, true);
  if (between !== null) band(area, x, between);
  for (const { words, limit_ms } of limited) if (limit_ms !== null) limit(area, y, limit_ms, words);
  points(area, { x, y }, all, time, color);
  return area.svg;
}

function band({ svg, frame }: PlotArea, x: Scale, [from, to]: [number, number]): void {
  const [left, right] = [x.at(from), x.at(to)];
  const area = s('rect', {
    class: 'between',
    x: round(left),
    y: frame.top,
    width: round(Math.max(right - left, 1.5)),
    height: round(frame.bottom - frame.top),
  });
  const words = `${tickText(from, 'per_s', to)} – ${tickText(to, 'per_s', to)}`;
  const half = textWidth(words, 12.5) / 2;
  const middle = Math.min(Math.max((left + right) / 2, frame.left + half), frame.right - half);
  svg.append(area, word('name strong', middle, frame.top - 8, words, 'middle'));
}

function limit({ svg, frame }: PlotArea, y: Scale, limit_ms: number, words: string): void {
  const at = y.at(limit_ms);
  svg.append(line('limit', frame.left, at, frame.right, at));
  svg.append(word('tick halo', frame.left + 6, at - 5, words));
}

function points(
  area: PlotArea,
  { x, y }: { x: Scale; y: Scale },
  all: Spot[],
  time: TimeKey,
  color: string,
): void {
  const parts = area.svg.appendChild(s('g', { class: color }));
  const joined = all.filter(({ outcome }) => outcome !== 'invalid');
  if (joined.length > 1) {
    const d = `M${joined.map((spot) => `${round(x.at(spot.x))} ${round(y.at(spot.y))}`).join('L')}`;
    parts.append(s('path', { class: 'path', d }));
  }
  const stops = all.map((spot): Stop => {
    const drawn = s('g', { class: 'stop' }, mark(spot.outcome, x.at(spot.x), y.at(spot.y)));
    return { mark: parts.appendChild(drawn), lines: () => lines(spot, time) };
  });
  rovingFocus(stops);
}

/** Filled if all runs passed, hollow if all failed, hollow with a dot if mixed. */
function mark(outcome: Outcome, x: number, y: number): SVGElement {
  if (outcome === 'passed') return dot(x, y, 5, true);
  if (outcome !== 'mixed') return dot(x, y, outcome === 'failed' ? 5 : 3.4, false);
  return s('g', {}, dot(x, y, 5, false), dot(x, y, 2.2, true));
}

function lines({ level, y, outcome }: Spot, time: TimeKey): string[] {
  const runs = [
    ...(level.passed > 0 ? [`${level.passed} passed`] : []),
    ...(level.failed > 0 ? [`${level.failed} failed`] : []),
    ...(level.invalid > 0 ? [`${level.invalid} invalid`] : []),
  ];
  return [
    `target rate ${formatValue(level.per_s, 'per_s')}`,
    WORDS[outcome],
    runs.join(', '),
    ...(level.failed_by === '' ? [] : [level.failed_by]),
    `${TIME_WORDS[time]}: ${duration(y)}`,
    ...(level.ok_per_s === null ? [] : [`${decimal(level.ok_per_s, 1)} ok per second`]),
  ];
}
