/** Small shapes that repeat what a color says, for color-blind readers. */

import { s } from './dom';
import type { Tone } from './report';

/** `sure`: a check mark; `open`: a half-filled circle; `none`: a ring; the others by tone. */
export type Shape = Tone | 'sure' | 'open' | 'none';

export function icon(shape: Shape): SVGSVGElement {
  return s('svg', { class: `icon ${shape}`, viewBox: '0 0 16 16', 'aria-hidden': 'true' }, ...parts(shape));
}

function parts(shape: Shape): SVGElement[] {
  switch (shape) {
    case 'sure':
    case 'good':
      return [
        s('circle', { cx: 8, cy: 8, r: 7.5, class: 'fill' }),
        s('path', { d: 'M4.6 8.3l2.3 2.4 4.6-5', class: 'cut' }),
      ];
    case 'open':
      return [
        s('circle', { cx: 8, cy: 8, r: 6.75, class: 'edge' }),
        s('path', { d: 'M8 1.25a6.75 6.75 0 0 0 0 13.5z', class: 'fill' }),
      ];
    case 'none':
    case 'plain':
      return [s('circle', { cx: 8, cy: 8, r: 6.75, class: 'edge' })];
    case 'doubtful':
      return [
        s('path', { d: 'M8 1L15.4 14.5H.6z', class: 'fill' }),
        s('path', { d: 'M8 5.8v4.4M8 11.6v1.4', class: 'cut' }),
      ];
    case 'bad':
      return [
        s('path', { d: 'M5 .75h6L15.25 5v6L11 15.25H5L.75 11V5z', class: 'fill' }),
        s('path', { d: 'M5.3 5.3l5.4 5.4M10.7 5.3l-5.4 5.4', class: 'cut' }),
      ];
  }
}
