/** Pictures are there, are not blank, say their unit and n, and give exact values. */

import { expect, test } from 'vitest';
import { scrolledThrough, settled, withPage } from './browser';
import { markColors, markPixels } from './drawn';
import { PAGES } from './pages';

/** Fewer pixels of marks than this is a blank picture. */
const LEAST = 25;

test.each(PAGES)(
  '%s: no picture is blank, in light, dark and on paper',
  async (name) => {
    await withPage(name, { deviceScaleFactor: 2 }, async (page) => {
      await scrolledThrough(page);
      for (const media of [
        { colorScheme: 'light', media: 'screen' },
        { colorScheme: 'dark', media: 'screen' },
        { colorScheme: 'dark', media: 'print' },
      ] as const) {
        await page.emulateMedia(media);
        await settled(page);
        const colors = await markColors(page);
        for (const card of await page.locator('.card:visible').all()) {
          const pixels = await markPixels(card.locator('.drawing'), colors);
          expect(
            pixels,
            `${(await card.getAttribute('id')) ?? ''} in ${JSON.stringify(media)}`,
          ).toBeGreaterThan(LEAST);
        }
      }
    });
  },
  60_000,
);

test('a picture whose marks are hidden counts as blank', async () => {
  await withPage('study', { deviceScaleFactor: 2 }, async (page) => {
    await scrolledThrough(page);
    const colors = await markColors(page);
    for (const card of await page.locator('.card:visible').all()) {
      await card.evaluate((element) => {
        for (const mark of element.querySelectorAll<HTMLElement | SVGElement>('.drawing *')) {
          const isWord = mark instanceof SVGTextElement || mark instanceof HTMLElement;
          if (!isWord || mark instanceof HTMLCanvasElement) mark.style.visibility = 'hidden';
          if (isWord && !(mark instanceof HTMLCanvasElement)) mark.style.color = mark.style.fill = 'black';
        }
      });
      expect(await markPixels(card.locator('.drawing'), colors)).toBeLessThanOrEqual(LEAST);
    }
  });
});

test.each(PAGES)('%s: every picture says its unit and n', async (name) => {
  await withPage(name, {}, async (page) => {
    await scrolledThrough(page);
    for (const card of await page.locator('.card:visible').all()) {
      const about = await card.locator('.about').first().innerText();
      expect(about, (await card.getAttribute('id')) ?? '').toMatch(/n = [\d,]+|\d/);
    }
  });
});
