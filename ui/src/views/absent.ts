/** What one run lacks of the lines that a chart of several runs has. */

import type { Track } from '../report';

/** Such as `Not in this run: failed (zero all the time, or not read).`; null if it has all that are shown. */
export function absent(shown: readonly Track[], own: readonly Track[]): string | null {
  if (own.length === 0) return 'Nothing in this run: zero all the time, or not read.';
  const labels = shown.filter((track) => !own.includes(track)).map(({ label }) => label);
  return labels.length === 0
    ? null
    : `Not in this run: ${labels.join(', ')} (zero all the time, or not read).`;
}
