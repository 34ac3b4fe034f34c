/** Fill patterns that are distinct without colors. */

import { s } from '../dom';
import type { Outcome } from '../views/outcomes';

let made = 0;

/** Adds the fill pattern of each outcome to the chart, with unique ids. */
export function outcomeFills(svg: SVGSVGElement): Record<Outcome, string> {
  made += 1;
  const pattern = (outcome: Outcome, size: number, ...marks: SVGElement[]): string => {
    const id = `fill-${outcome}-${made}`;
    const ground = s('rect', { class: 'ground', width: size, height: size });
    svg.append(
      s(
        'defs',
        { class: `outcome-${outcome}` },
        s('pattern', { id, width: size, height: size, patternUnits: 'userSpaceOnUse' }, ground, ...marks),
      ),
    );
    return `url(#${id})`;
  };
  return {
    rejected: pattern('rejected', 6, s('rect', { class: 'ink', width: 6, height: 6 })),
    failed: pattern(
      'failed',
      6,
      s('path', { class: 'ink', d: 'M0 6L6 0M-1.5 1.5L1.5 -1.5M4.5 7.5L7.5 4.5' }),
    ),
    timed_out: pattern('timed_out', 6, s('circle', { class: 'ink', cx: 3, cy: 3, r: 0.9 })),
    not_sent: pattern('not_sent', 6, s('path', { class: 'ink thin', d: 'M0 3H6M3 0V6' })),
  };
}
