/** Counts what a picture shows in the colours of the series, as a reader sees it. */

import type { Locator, Page } from 'playwright-core';
import { parsed, pixelsOf, type Rgb } from './colors';
import { decoded } from './png';

/** The colours of marks now: of series, of tones, and of heat that is not little; those that edges of black letters have are left out. */
export async function markColors(page: Page): Promise<Rgb[]> {
  const texts = await page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement('i'));
    const names = [1, 2, 3, 4, 5, 6].map((at) => `--series-${at}`);
    const heat = [2, 3, 4, 5].map((at) => `--heat-${at}`);
    const tones = ['--good', '--doubtful', '--bad'];
    const colors = [...names, ...heat, ...tones].map((name) => {
      probe.style.color = `var(${name})`;
      return getComputedStyle(probe).color;
    });
    probe.remove();
    return colors;
  });
  return texts.map((text) => {
    const color = parsed(text);
    if (!color) throw new Error(`not a colour: ${text}`);
    return color;
  });
}

/** Pixels of the picture in any of these colours. */
export async function markPixels(picture: Locator, colors: Rgb[]): Promise<number> {
  return pixelsOf(decoded(await picture.screenshot()), colors);
}
