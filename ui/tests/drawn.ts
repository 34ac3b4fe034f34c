/** Counts the pixels of marks in charts. */

import type { Locator, Page } from 'playwright-core';
import { parsed, pixelsOf, type Rgb } from './colors';
import { decoded } from './png';

/** The current colors of marks: series, tones, and darker heat steps. Excludes colors that occur at the edges of letters. */
export async function markColors(page: Page): Promise<Rgb[]> {
  const texts = await page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement('i'));
    const names = [1, 2, 3, 4, 5, 6].map((at) => `--series-${at}`);
    const heat = [2, 3, 4, 5].map((at) => `--heat-${at}`);
    const tones = ['--good', '--doubtful', '--bad'];
    const flames = ['--flame-own', '--flame-kernel', '--flame-more-large', '--flame-less-large'];
    const colors = [...names, ...heat, ...tones, ...flames].map((name) => {
      probe.style.color = `var(${name})`;
      return getComputedStyle(probe).color;
    });
    probe.remove();
    return colors;
  });
  return texts.map((text) => {
    const color = parsed(text);
    if (!color) throw new Error(`not a color: ${text}`);
    return color;
  });
}

/** The number of pixels of the chart in these colors. */
export async function markPixels(chart: Locator, colors: Rgb[]): Promise<number> {
  return pixelsOf(decoded(await chart.screenshot()), colors);
}
