/** Colours as the page has them, and how often they are in a picture. */

import type { Picture } from './png';

export type Rgb = [number, number, number];

/** Of a computed value such as `rgb(0, 114, 178)` or `rgba(0, 0, 0, 0.5)`; null for other kinds and for what is not opaque. */
export function parsed(color: string): Rgb | null {
  const parts = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/.exec(color);
  if (!parts || (parts[4] !== undefined && Number(parts[4]) < 1)) return null;
  return [Number(parts[1]), Number(parts[2]), Number(parts[3])];
}

/** Pixels whose channels are all within `tolerance` of the colour. */
export function pixelsOf(picture: Picture, color: Rgb, tolerance = 24): number {
  let count = 0;
  for (let at = 0; at < picture.rgb.length; at += 3) {
    if (color.every((value, channel) => Math.abs((picture.rgb[at + channel] ?? 0) - value) <= tolerance)) {
      count += 1;
    }
  }
  return count;
}

/** Relative luminance as in WCAG: 0 is black, 1 is white. */
export function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Contrast as in WCAG: from 1 to 21. */
export function contrast(one: Rgb, other: Rgb): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}
