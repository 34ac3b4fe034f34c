/** One figure of what an event cost, a row per variant: a dot for each block, the median, and its interval. */

import type { CostFigure, Load, PooledEvent, Report, RowCost } from '../report';
import { s } from '../dom';
import { colorClass } from '../colors';
import { costLines, differenceLines, spanOf } from '../views/costs';
import { aroundZero, type Room, type Scale } from '../views/scale';
import { dot, line, round } from './marks';
import { rows, type Item, type Place } from './rows';

const DOT = 3.2;

/** The figure itself. Figures with the same span have the same axis. */
export function costChart(
  report: Report,
  load: Load,
  event: PooledEvent,
  figure: CostFigure,
  span: [number, number],
  width: number,
): SVGSVGElement {
  const isRecovery = figure.rows.some(({ blocks, row }) => {
    const of = event.rows.find((each) => each.row === row);
    return blocks.some(({ value }) => value === null) && (of?.not_recovered ?? 0) > 0;
  });
  return chart(report, load, figure.rows, width, {
    title: `${figure.title} of ${event.name}`,
    figures: figure.unit === 'request-seconds' ? figure.unit : '',
    scale: (room) => aroundZero(span[0], span[1], figure.unit, room),
    lines: (cost) => costLines(load, figure, cost),
    marksMissing: isRecovery,
    narrow: 520,
  });
}

/** By how much more it was than in the row that the others are compared with. */
export function differenceChart(
  report: Report,
  load: Load,
  event: PooledEvent,
  figure: CostFigure,
  width: number,
): SVGSVGElement {
  const [low, high] = spanOf(figure.differences);
  return chart(report, load, figure.differences, width, {
    title: `${figure.title} of ${event.name}: difference`,
    figures: figure.unit === 'request-seconds' ? figure.unit : '',
    scale: (room) => aroundZero(low, high, figure.unit, room),
    lines: (cost) => differenceLines(load, event, figure, cost),
    marksMissing: false,
    narrow: Infinity,
  });
}

interface Drawn {
  title: string;
  figures: string;
  scale: (room: Room) => Scale;
  lines: (cost: RowCost) => string[];
  /** Whether blocks without a value are marked at the end of the axis. */
  marksMissing: boolean;
  /** Below this width names are above the marks. */
  narrow: number;
}

function chart(report: Report, load: Load, costs: RowCost[], width: number, drawn: Drawn): SVGSVGElement {
  const items = costs.map((cost): Item => ({
    label: load.rows[cost.row]?.name ?? '?',
    group: '',
    color: colorClass(report, load, cost.row),
    is_winner: false,
    figure: cost.text,
    ...(cost.verdict === null ? {} : { aside: cost.verdict }),
    lines: () => drawn.lines(cost),
    draw: (place) => {
      draw(cost, place, drawn.marksMissing);
    },
  }));
  return rows({
    width,
    items,
    scale: drawn.scale,
    title: drawn.title,
    figures: drawn.figures,
    is_narrow: width < drawn.narrow,
    height: 34,
  });
}

function draw({ middle, low, high, blocks }: RowCost, place: Place, marksMissing: boolean): void {
  const { parts, scale, y } = place;
  blocks.forEach(({ value }, index) => {
    // Equal values stay visible as several dots.
    const at = y - 9 + (index % 3) * 3.5;
    if (value !== null) {
      const mark = dot(scale.at(value), at, DOT, true);
      mark.classList.add('cloudy');
      parts.append(mark);
    } else if (marksMissing) parts.append(dot(scale.at(scale.high), at, DOT, false));
  });
  if (low !== null && high !== null) {
    const [from, to] = [scale.at(low), scale.at(high)];
    parts.append(line('interval', from, y + 9, to, y + 9));
    parts.append(
      line('interval-end', from, y + 5, from, y + 13),
      line('interval-end', to, y + 5, to, y + 13),
    );
  }
  if (middle !== null) {
    parts.append(s('circle', { class: 'dot estimate', cx: round(scale.at(middle)), cy: y + 9, r: 4.5 }));
  }
}
