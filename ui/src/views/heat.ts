/** Maps shares from 0 to 1 to shades; higher shares have more contrast with the background. */

type Rgb = readonly [number, number, number];

/** Reads `#abc`, `#aabbcc` and `rgb(1, 2, 3)`; anything else is a medium gray. */
export function rgb(color: string): Rgb {
  const hex = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(color.trim())?.[1];
  if (hex) {
    const wide = hex.length === 3 ? hex.replace(/./g, '$&$&') : hex;
    return [0, 2, 4].map((from) => parseInt(wide.slice(from, from + 2), 16)) as unknown as Rgb;
  }
  const parts = color.match(/\d+(\.\d+)?/g)?.map(Number) ?? [];
  const [red, green, blue] = parts;
  return color.startsWith('rgb') && red !== undefined && green !== undefined && blue !== undefined
    ? [red, green, blue]
    : [128, 128, 128];
}

/** The shade of a share from 0 to 1, interpolated between evenly spaced stops. */
export function shade(share: number, stops: readonly Rgb[]): string {
  const index = Math.min(1, Math.max(0, share)) * (stops.length - 1);
  const left = Math.min(Math.floor(index), stops.length - 2);
  const from = stops[left] ?? [128, 128, 128];
  const to = stops[left + 1] ?? from;
  const mixed = from.map((part, place3) => Math.round(part + ((to[place3] ?? part) - part) * (index - left)));
  return `rgb(${mixed.join(', ')})`;
}

/** The tooltip lines of all strips at one time: each strip, or the extremes if there are many. */
export function strips(
  all: readonly { label: string; share: number | null }[],
  words: (share: number | null) => string,
  most = 16,
): string[] {
  if (all.length <= most) return all.map(({ label, share }) => `${label}: ${words(share)}`);
  const known = all.flatMap(({ label, share }) => (share === null ? [] : [{ label, share }]));
  const sorted = known.toSorted((a, b) => b.share - a.share);
  const [busiest, idlest] = [sorted[0], sorted.at(-1)];
  if (!busiest || !idlest) return [words(null)];
  return [
    `busiest of ${known.length}: ${busiest.label}, ${words(busiest.share)}`,
    `idlest: ${idlest.label}, ${words(idlest.share)}`,
  ];
}
