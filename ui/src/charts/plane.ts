/** The paper of a picture with two axes: lines across, words at both axes, and labels at the ends of lines. */

import { s } from '../dom';
import { apart } from '../views/apart';
import type { Scale } from '../views/scale';
import { cut, textWidth } from '../views/text';
import { line, round, word } from './marks';
import { chart } from './rows';

export interface Frame {
  left: number;
  right: number;
  top: number;
  foot: number;
}

export interface Plane {
  svg: SVGSVGElement;
  frame: Frame;
}

/** How much room the words of the y axis need. */
export function axisRoom(scale: Scale): number {
  return Math.max(...scale.ticks.map((tick) => textWidth(tick.text, 11.5)), 20) + 10;
}

/** Draws the y axis with its lines, and the words below the x axis. */
export function plane(
  width: number,
  height: number,
  frame: Frame,
  y: Scale,
  xWords: string,
  title: string,
): Plane {
  const svg = chart(width, height, title);
  const back = svg.appendChild(s('g', { class: 'backdrop' }));
  for (const { value, text } of y.ticks) {
    const at = y.at(value);
    back.append(line(value === 0 ? 'zero' : 'grid', frame.left, at, frame.right, at));
    back.append(word('tick', frame.left - 8, at + 4, text, 'end'));
  }
  if (y.low > 0) back.append(line('zero', frame.left, frame.foot, frame.right, frame.foot));
  const middle = (frame.left + frame.right) / 2;
  back.append(
    word('caption', middle, frame.foot + 38, cut(xWords, frame.right - frame.left, 11.5), 'middle'),
  );
  return { svg, frame };
}

/** A word below the x axis, with a line up if asked for. */
export function xTick({ svg, frame }: Plane, x: number, text: string, hasLine = false): void {
  if (hasLine) svg.firstElementChild?.append(line('grid', x, frame.top, x, frame.foot));
  svg.firstElementChild?.append(word('tick', x, frame.foot + 18, text, 'middle'));
}

export interface EndLabel {
  text: string;
  /** Where its line ends. */
  x: number;
  y: number;
  color: string;
  is_best?: boolean;
}

/** Labels at the right, each as near to the end of its line as the others let it; those without room are left out. */
export function endLabels({ svg, frame }: Plane, labels: EndLabel[], x: number, width: number): void {
  const places = apart(
    labels.map((label) => label.y),
    15,
    frame.top + 4,
    frame.foot - 2,
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
