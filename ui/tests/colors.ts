/** Parses computed colors, and counts their pixels in a screenshot. */

import type { Bitmap } from './png';

export type Rgb = [number, number, number];

/** Parses a computed value such as `rgb(0, 114, 178)`; null for other formats and for transparent colors. */
export function parsed(color: string): Rgb | null {
  const parts = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/.exec(color);
  if (!parts || (parts[4] !== undefined && Number(parts[4]) < 1)) return null;
  return [Number(parts[1]), Number(parts[2]), Number(parts[3])];
}

/** The number of pixels with one of these colors, or a similar one. */
export function pixelsOf(bitmap: Bitmap, colors: Rgb[]): number {
  // One entry per color with six bits per channel.
  const isMatch = new Uint8Array(1 << 18);
  const near = [-1, 0, 1];
  for (const [red, green, blue] of colors.map((color) => color.map((value) => value >> 2) as Rgb)) {
    for (const r of near)
      for (const g of near) for (const b of near) isMatch[place(red + r, green + g, blue + b)] = 1;
  }
  let count = 0;
  const { rgb } = bitmap;
  for (let at = 0; at < rgb.length; at += 3) {
    const [red = 0, green = 0, blue = 0] = [rgb[at], rgb[at + 1], rgb[at + 2]];
    count += isMatch[((red >> 2) << 12) | ((green >> 2) << 6) | (blue >> 2)] ?? 0;
  }
  return count;
}

function place(red: number, green: number, blue: number): number {
  const [r, g, b] = [red, green, blue].map((value) => Math.max(0, Math.min(63, value))) as Rgb;
  return (r << 12) | (g << 6) | b;
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
