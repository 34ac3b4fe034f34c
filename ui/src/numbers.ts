/** The figures behind a picture as a table that opens, and that can be copied. */

import { h } from './dom';

/** Heads with their units, and rows of texts and figures. Null is a figure that is not known. */
export interface Numbers {
  heads: string[];
  rows: (string | number | null)[][];
}

export function numbers(title: string, make: () => Numbers): HTMLElement {
  const details = h('details', { class: 'numbers' }, h('summary', {}, `Numbers of “${title}”`));
  details.addEventListener(
    'toggle',
    () => {
      const { heads, rows } = make();
      const head = h('tr', {}, ...heads.map((text) => h('th', { scope: 'col' }, text)));
      const body = rows.map((row) => h('tr', {}, ...row.map((cell) => h('td', {}, cell ?? '–'))));
      details.append(h('table', {}, h('thead', {}, head), h('tbody', {}, ...body)));
    },
    { once: true },
  );
  return details;
}
