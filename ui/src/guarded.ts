/** A section that throws is replaced by its error; the sections after it are still drawn. */

import { h } from './dom';

/** The result of `make`, or a notice with its error. */
export function guarded<T extends Element>(make: () => T | null): T | HTMLElement | null {
  try {
    return make();
  } catch (error) {
    return failure(error);
  }
}

/** Shows the error to the reader and reports it to the browser's console. */
export function failure(error: unknown): HTMLElement {
  reportError(error);
  const why = error instanceof Error ? error.message : String(error);
  return h(
    'p',
    { class: 'failure', role: 'alert' },
    `error: this section could not be drawn: ${why}. help: this is a bug in the page; use another report format, such as --format json.`,
  );
}
