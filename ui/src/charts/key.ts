/** The legend of a line chart: buttons that show and hide lines. */

import { h, s } from '../dom';

export interface Entry {
  words: string;
  /** Classes that set `--mine`, one for each color that the line has. */
  colors: string[];
  width: number;
  dash: readonly number[];
  alpha?: number;
  /** A shape on the line. */
  mark?: SVGElement;
  is_shown: boolean;
}

/** A button per line; calls `toggle` with its index and whether to show it. */
export function key(
  label: string,
  entries: Entry[],
  toggle: (index: number, isShown: boolean) => void,
): HTMLElement {
  const buttons = entries.map((entry, index) =>
    keyButton(entry, (isShown) => {
      toggle(index, isShown);
    }),
  );
  return h('div', { class: 'keys', role: 'group', 'aria-label': label }, ...buttons);
}

export function keyButton(entry: Entry, toggle: (isShown: boolean) => void): HTMLButtonElement {
  const button = h('button', { type: 'button', class: 'key' }, sample(entry), h('span', {}, entry.words));
  press(button, entry.is_shown);
  button.addEventListener('click', () => {
    const isShown = button.getAttribute('aria-pressed') !== 'true';
    press(button, isShown);
    toggle(isShown);
  });
  return button;
}

export function press(button: HTMLButtonElement, isPressed: boolean): void {
  button.setAttribute('aria-pressed', String(isPressed));
}

const LONG = 26;

/** The line as it is drawn, with a part in each of its colors. */
export function sample({ colors, width, dash, alpha, mark }: Omit<Entry, 'words' | 'is_shown'>): SVGElement {
  const part = LONG / Math.max(1, colors.length);
  const lines = colors.map((color, index) =>
    s('line', {
      class: color,
      x1: index * part,
      x2: (index + 1) * part,
      y1: 6,
      y2: 6,
      'stroke-width': width + 0.25,
      'stroke-dasharray': dash.length > 0 ? dash.join(' ') : null,
      'stroke-opacity': alpha ?? 1,
    }),
  );
  const svg = s('svg', { class: 'sample', width: LONG, height: 12, 'aria-hidden': 'true' }, ...lines);
  if (mark) svg.append(s('g', { class: colors[0] ?? '' }, mark));
  return svg;
}
