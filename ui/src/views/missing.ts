/** Names the tracks of a chart for which a run has no data. */

import type { Track } from '../report';

/** Such as `No data in this run: failed (always zero, or not measured).`; null if the run has all shown tracks. */
export function missingNote(shown: readonly Track[], own: readonly Track[]): string | null {
  if (own.length === 0) return 'No data in this run: always zero, or not measured.';
  const labels = shown.filter((track) => !own.includes(track)).map(({ label }) => label);
  return labels.length === 0
    ? null
    : `No data in this run: ${labels.join(', ')} (always zero, or not measured).`;
}
