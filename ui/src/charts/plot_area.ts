/** The plot area of a chart with two axes: grid lines, axis labels, and labels at the ends of lines. */

import { s } from '../dom';
import { avoidOverlap } from '../views/avoid_overlap';
import type { Scale } from '../views/scale';
import { cut, textWidth } from '../views/text';
import { line, round, word } from './marks';
import { chart } from './rows';

export interface Frame {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface PlotArea {
  svg: SVGSVGElement;
  frame: Frame;
}

/** The width that the labels of the y axis need. */
export function axisRoom(scale: Scale): number {
  return Math.max(...scale.ticks.map((tick) => textWidth(tick.text, 11.5)), 20) + 10;
}

/** Draws the y axis with its grid lines, and the title of the x axis. */
export function plotArea(
  width: number,
  height: number,
  frame: Frame,
  y: Scale,
  xWords: string,
  title: string,
): PlotArea {
  const svg = chart(width, height, title);
  const back = svg.appendChild(s('g', { class: 'backdrop' }));
  for (const { value, text } of y.ticks) {
    const at = y.at(value);
    back.append(line(value === 0 ? 'zero' : 'grid', frame.left, at, frame.right, at));
    back.append(word('tick', frame.left - 8, at + 4, text, 'end'));
  }
  if (y.low > 0) back.append(line('zero', frame.left, frame.bottom, frame.right, frame.bottom));
  const middle = (frame.left + frame.right) / 2;
  back.append(
    word('caption', middle, frame.bottom + 38, cut(xWords, frame.right - frame.left, 11.5), 'middle'),
  );
  return { svg, frame };
}

/** A tick label below the x axis, with an optional grid line. */
export function xTick({ svg, frame }: PlotArea, x: number, text: string, hasLine = false): void {
  if (hasLine) svg.firstElementChild?.append(line('grid', x, frame.top, x, frame.bottom));
  svg.firstElementChild?.append(word('tick', x, frame.bottom + 18, text, 'middle'));
}

export interface EndLabel {
  text: string;
  /** The end of its line. */
  x: number;
  y: number;
  color: string;
  is_best?: boolean;
}

/** Labels at the right, near the ends of their lines without overlapping; labels that do not fit are omitted. */
export function endLabels({ svg, frame }: PlotArea, labels: EndLabel[], x: number, width: number): void {
  const places = avoidOverlap(
    labels.map((label) => label.y),
    15,
    frame.top + 4,
    frame.bottom - 2,
  );
  labels.forEach((label, at) => {
    const y = places[at] ?? null;
    if (y === null) return;
    const parts = s('g', { class: `end ${label.color}${label.is_best ? ' best' : ''}` });
    if (Math.abs(y - label.y) > 3 || x - label.x > 24) {
      parts.append(
        s('path', {
          class: 'leader',
          fill: 'none',
          d: `M${round(label.x + 7)} ${round(label.y)}L${round(x - 3)} ${round(y)}`,
        }),
      );
    }
    parts.append(word('name', x, y + 4, cut(label.text, width, label.is_best ? 14.4 : 12.5)));
    svg.append(parts);
  });
}
