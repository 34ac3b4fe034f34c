/** Splits a result into a headline of at most two lines on a desktop and the text below it. */

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
  if (textWidth(text, LARGE) <= ROOM) return { text, rest: '', is_short: true };
  const end = textWidth(text, NORMAL) <= ROOM ? text.length : breakIn(text);
  return { text: text.slice(0, end).trimEnd(), rest: text.slice(end).trimStart(), is_short: false };
}

/** The last end of a sentence or a clause that fits, or else of a word. */
function breakIn(text: string): number {
  const fits = (end: number): boolean => textWidth(text.slice(0, end), NORMAL) <= ROOM;
  for (const pattern of [/[.;] /g, /[,:] /g, / /g]) {
    const ends = [...text.matchAll(pattern)].map(({ index, 0: found }) => index + found.length);
    const last = ends.findLast(fits);
    if (last !== undefined) return last;
  }
  return text.length;
}
