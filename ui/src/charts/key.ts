/** What the lines of a chart are: a sample and words each, that show or hide it. */

import { h, s } from '../dom';

export interface Entry {
  words: string;
  /** Classes that set `--mine`, one for each colour that the line has on the page. */
  colors: string[];
  width: number;
  dash: readonly number[];
  alpha?: number;
  /** A shape on the line. */
  mark?: SVGElement;
  is_shown: boolean;
}

/** A button for each line; `toggle` is told which, and whether it is to be shown. */
export function key(
  label: string,
  entries: Entry[],
  toggle: (place: number, isShown: boolean) => void,
): HTMLElement {
  const buttons = entries.map((entry, place) => {
    const button = h('button', { type: 'button', class: 'key', 'aria-pressed': String(entry.is_shown) });
    button.append(sample(entry), h('span', {}, entry.words));
    button.addEventListener('click', () => {
      const isShown = button.getAttribute('aria-pressed') !== 'true';
      button.setAttribute('aria-pressed', String(isShown));
      toggle(place, isShown);
    });
    return button;
  });
  return h('div', { class: 'keys', role: 'group', 'aria-label': label }, ...buttons);
}

const LONG = 26;

/** The line as it is drawn, a part in each of its colours. */
export function sample({ colors, width, dash, alpha, mark }: Omit<Entry, 'words' | 'is_shown'>): SVGElement {
  const part = LONG / Math.max(1, colors.length);
  const lines = colors.map((color, place) =>
    s('line', {
      class: color,
      x1: place * part,
      x2: (place + 1) * part,
      y1: 6,
      y2: 6,
      'stroke-width': width + 0.25,
      'stroke-dasharray': dash.length > 0 ? dash.join(' ') : null,
      'stroke-opacity': alpha ?? 1,
    }),
  );
  const picture = s('svg', { class: 'sample', width: LONG, height: 12, 'aria-hidden': 'true' }, ...lines);
  if (mark) picture.append(s('g', { class: colors[0] ?? '' }, mark));
  return picture;
}
