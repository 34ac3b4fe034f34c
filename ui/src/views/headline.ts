/** Splits a result into its first clause, a headline of at most two lines on a desktop, and the qualifications below it. */

import { textWidth } from './text';

/** Font sizes of `.sentence` in head.css, in pixels. */
const LARGE = 34;
const NORMAL = 24;
/** Two lines of the page's width, minus the space that line breaks waste. */
const ROOM = 2 * 1080;

export interface Headline {
  text: string;
  /** The remaining sentences; may be empty. */
  rest: string;
  is_short: boolean;
}

export function headline(text: string): Headline {
  const clause = ends(text, /[.;] /g)[0] ?? text.length;
  for (const [size, is_short] of [
    [LARGE, true],
    [NORMAL, false],
  ] as const) {
    if (fits(text, clause, size)) return split(text, clause, is_short);
  }
  return split(text, breakIn(text), false);
}

/** The last end of a clause that fits, or else of a word. */
function breakIn(text: string): number {
  for (const pattern of [/[,:] /g, / /g]) {
    const last = ends(text, pattern).findLast((end) => fits(text, end, NORMAL));
    if (last !== undefined) return last;
  }
  return text.length;
}

function ends(text: string, pattern: RegExp): number[] {
  return [...text.matchAll(pattern)].map(({ index, 0: found }) => index + found.length);
}

function fits(text: string, end: number, size: number): boolean {
  return textWidth(text.slice(0, end), size) <= ROOM;
}

function split(text: string, end: number, is_short: boolean): Headline {
  const [first, rest] = [text.slice(0, end).trimEnd(), text.slice(end).trimStart()];
  return { text: first.replace(/;$/, '.'), rest, is_short };
}
