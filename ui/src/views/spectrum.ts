/** The data of the percentile chart: an axis on which each nine has the same width, and lines that end with their samples. */

import type { Load, Spectrum } from '../report';

/** The position of a share from 0 to 1 on the axis: 0 % at 0, 90 % at 1, 99 % at 2. */
export function placeOfShare(share: number): number {
  return Math.log10(1 / (1 - Math.min(share, 1 - 1e-12)));
}

export const SHARES = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999] as const;

/** `0 %`, `50 %`, `99.9 %`, with as many digits as the share has nines. */
export function percent(share: number): string {
  const decimals = Math.max(0, Math.min(8, Math.ceil(placeOfShare(share) - 2 + 1e-9)));
  return `${Number((share * 100).toFixed(share > 0.9 ? Math.max(1, decimals) : 1))} %`;
}

type Line = readonly (readonly [number, number])[];

/** All lines on a common list of shares; null where a line has no point. */
export function joined(lines: readonly Line[]): { shares: number[]; values: (number | null)[][] } {
  const shares = [...new Set(lines.flatMap((line) => line.map(([share]) => share)))]
    .filter((share) => share >= 0 && share < 1)
    .sort((a, b) => a - b);
  const values = lines.map((line) => {
    const own = new Map(line.map(([share, ms]) => [share, ms]));
    return shares.map((share) => own.get(share) ?? null);
  });
  return { shares, values };
}

/** The time at a share: a point of the line, or interpolated between two points; null beyond its end. */
export function at(line: Line, share: number): number | null {
  const after = line.findIndex(([own]) => own >= share - 1e-12);
  const right = line[after];
  if (!right) return null;
  const left = line[after - 1];
  if (!left || Math.abs(right[0] - share) < 1e-12) return right[0] > share + 1e-12 ? null : right[1];
  const part =
    (placeOfShare(share) - placeOfShare(left[0])) / (placeOfShare(right[0]) - placeOfShare(left[0]));
  return left[1] + (right[1] - left[1]) * part;
}

/** The highest percentile, such as `up to 99.9 %`. */
export function reach(spectrum: Spectrum): string {
  const last = spectrum.response.at(-1)?.[0];
  return last === undefined ? 'no samples' : `up to ${percent(last)}`;
}

/** The rows with a line. */
export function withSpectrum(load: Load): number[] {
  return load.rows.flatMap(({ spectrum }, row) => (spectrum && spectrum.response.length > 1 ? [row] : []));
}

/** All rows if there are few; else the best of each system, or the first rows. */
export function defaultRows(load: Load, few = 6): number[] {
  const all = withSpectrum(load);
  if (all.length <= few) return all;
  const best = all.filter((row) => load.rows[row]?.is_best);
  return (best.length > 0 ? best : all).slice(0, few);
}

/** The share of slower requests, such as `: 1 of 1,000 is slower`; empty unless it is a round number. */
export function slower(share: number): string {
  const one = 1 / (1 - share);
  const whole = Math.round(one);
  const isRound = share >= 0.5 && Math.abs(one - whole) < one * 1e-6;
  return isRound ? `: 1 of ${whole.toLocaleString('en-US')} is slower` : '';
}

/** The ticks up to the position `end` that fit into the width in pixels. */
export function shareTicks(end: number, width: number): { value: number; text: string }[] {
  const kept: { value: number; text: string }[] = [];
  // From the right: the tail matters most.
  for (const share of SHARES.toReversed()) {
    const value = placeOfShare(share);
    const text = percent(share);
    const before = kept.at(-1);
    if (value > end * 1.02) continue;
    const gap = ((text.length + (before?.text.length ?? 0)) / 2) * 6.5 + 8;
    if (before && ((before.value - value) / end) * width < gap) continue;
    kept.push({ value, text });
  }
  return kept.reverse();
}
