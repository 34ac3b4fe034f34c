/** Counts what a picture shows in the colours of the series, as a reader sees it. */

import type { Locator, Page } from 'playwright-core';
import { parsed, pixelsOf, type Rgb } from './colors';
import { decoded } from './png';

/** The colours of marks now: of the series and of heat that is not nothing. */
export async function markColors(page: Page): Promise<Rgb[]> {
  const texts = await page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement('i'));
    const names = [1, 2, 3, 4, 5, 6, 7, 8].map((at) => `--series-${at}`);
    const heat = [1, 2, 3, 4, 5].map((at) => `--heat-${at}`);
    const colors = [...names, ...heat].map((name) => {
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
  const seen = decoded(await picture.screenshot());
  return colors.reduce((sum, color) => sum + pixelsOf(seen, color, 10), 0);
}
