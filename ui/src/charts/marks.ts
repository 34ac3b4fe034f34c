/** The marks of charts. Valid runs are filled circles; suspect and invalid runs are hollow diamonds. */

import { s } from '../dom';

/** One run. */
export function dot(x: number, y: number, radius: number, isValid: boolean): SVGElement {
  if (isValid) return s('circle', { class: 'dot', cx: round(x), cy: round(y), r: radius });
  const size = radius * 1.4;
  return s('path', { class: 'dot hollow', d: diamond(x, y, size) });
}

/** The shape of a system, in addition to its color. */
export function shape(index: number, x: number, y: number, size: number): SVGElement {
  switch (index % 4) {
    case 0:
      return s('circle', { class: 'shape', cx: round(x), cy: round(y), r: size });
    case 1: {
      const side = size * 0.9;
      return s('rect', {
        class: 'shape',
        x: round(x - side),
        y: round(y - side),
        width: side * 2,
        height: side * 2,
      });
    }
    case 2: {
      const [top, bottom] = [round(y - size * 1.2), round(y + size * 0.8)];
      return s('path', {
        class: 'shape',
        d: `M${round(x)} ${top}L${round(x + size * 1.15)} ${bottom}H${round(x - size * 1.15)}Z`,
      });
    }
    default:
      return s('path', { class: 'shape', d: diamond(x, y, size * 1.3) });
  }
}

function diamond(x: number, y: number, size: number): string {
  const d = round(size);
  return `M${round(x - size)} ${round(y)}l${d} ${-d}l${d} ${d}l${-d} ${d}Z`;
}

export function line(kind: string, x1: number, y1: number, x2: number, y2: number): SVGElement {
  return s('line', { class: kind, x1: round(x1), y1: round(y1), x2: round(x2), y2: round(y2) });
}

export function word(
  kind: string,
  x: number,
  y: number,
  text: string,
  anchor?: 'middle' | 'end',
): SVGElement {
  return s('text', { class: kind, x: round(x), y: round(y), 'text-anchor': anchor }, text);
}

/** To a tenth of a pixel. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
