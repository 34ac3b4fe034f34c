/** Roving focus: a chart is one Tab stop, and arrow keys move between its marks. */

import { addTooltip } from '../tooltip';

export interface Stop {
  mark: SVGElement;
  /** Title first. */
  lines: () => string[];
}

export function rovingFocus(stops: Stop[]): void {
  const marks = stops.map((stop) => stop.mark);
  stops.forEach(({ mark, lines }, index) => {
    mark.setAttribute('tabindex', index === 0 ? '0' : '-1');
    mark.setAttribute('role', 'img');
    mark.setAttribute('aria-label', lines().join('; '));
    addTooltip(mark, lines);
    mark.addEventListener('keydown', (event) => {
      const next = marks[step(event.key, index, marks.length)];
      if (next === undefined || next === mark) return;
      event.preventDefault();
      mark.setAttribute('tabindex', '-1');
      next.setAttribute('tabindex', '0');
      next.focus();
    });
  });
}

function step(key: string, index: number, count: number): number {
  switch (key) {
    case 'ArrowDown':
    case 'ArrowRight':
      return Math.min(count - 1, index + 1);
    case 'ArrowUp':
    case 'ArrowLeft':
      return Math.max(0, index - 1);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return index;
  }
}
