/** A part that fails says so in its place, and the parts after it go on. */

import { h } from './dom';

/** What `make` makes, or why it could not. */
export function sound<T extends Element>(make: () => T | null): T | HTMLElement | null {
  try {
    return make();
  } catch (error) {
    return broken(error);
  }
}

/** Says what went wrong to the reader, and to the console of the browser. */
export function broken(error: unknown): HTMLElement {
  reportError(error);
  const why = error instanceof Error ? error.message : String(error);
  return h(
    'p',
    { class: 'broken', role: 'alert' },
    `This part could not be drawn (${why}). This is a fault of the page; the figures are in the other formats of the report.`,
  );
}
