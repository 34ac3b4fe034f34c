/** A heading and the sections below it. */

import { append, h } from './dom';

/** Null if none of the sections has content. */
export function group(id: string, title: string, sections: (HTMLElement | null)[]): HTMLElement | null {
  const shown = sections.filter((section) => section !== null);
  if (shown.length === 0) return null;
  const heading = h('h2', { id: `${id}-title` }, title);
  const part = h('section', { class: 'group', id, 'aria-labelledby': `${id}-title` }, heading);
  append(part, ...shown);
  return part;
}
