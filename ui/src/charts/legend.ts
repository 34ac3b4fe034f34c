/** A legend: samples of marks with labels. */

import { h, s } from '../dom';

export interface Entry {
  /** Drawn into 22 × 14 pixels. */
  sample: SVGElement[];
  words: string;
  /** The class that sets the color; may be empty. */
  color?: string;
}

export function legend(entries: Entry[]): HTMLElement {
  return h(
    'ul',
    { class: 'marks-key' },
    ...entries.map(({ sample, words, color }) =>
      h(
        'li',
        { class: color ?? null },
        s(
          'svg',
          { class: 'chart key-sample', width: 22, height: 14, viewBox: '0 0 22 14', 'aria-hidden': 'true' },
          ...sample,
        ),
        words,
      ),
    ),
  );
}
