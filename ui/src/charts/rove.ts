/** Marks that take turns in being reached: one stop of the Tab key for a picture, arrows within it. */

import { tip } from '../tooltip';

export interface Stop {
  mark: SVGElement;
  /** Title first. */
  lines: () => string[];
}

export function rove(stops: Stop[]): void {
  const marks = stops.map((stop) => stop.mark);
  stops.forEach(({ mark, lines }, place) => {
    mark.setAttribute('tabindex', place === 0 ? '0' : '-1');
    mark.setAttribute('role', 'img');
    mark.setAttribute('aria-label', lines().join('; '));
    tip(mark, lines);
    mark.addEventListener('keydown', (event) => {
      const next = marks[step(event.key, place, marks.length)];
      if (next === undefined || next === mark) return;
      event.preventDefault();
      mark.setAttribute('tabindex', '-1');
      next.setAttribute('tabindex', '0');
      next.focus();
    });
  });
}

function step(key: string, place: number, count: number): number {
  switch (key) {
    case 'ArrowDown':
    case 'ArrowRight':
      return Math.min(count - 1, place + 1);
    case 'ArrowUp':
    case 'ArrowLeft':
      return Math.max(0, place - 1);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return place;
  }
}
