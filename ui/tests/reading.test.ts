/** Pages can be read: in light and dark, on a phone, and by those who do not see them. */

import { expect, test } from 'vitest';
import { DESKTOP, PHONE, scrolledThrough, settled, withPage } from './browser';
import { inaccessible, paleTexts, smallTexts, wideElements } from './inspect';
import { PAGES } from './pages';

const FIRST_SCREEN = 800;

test.each(PAGES)('%s: question and answer are on the first screen', async (name) => {
  await withPage(name, { viewport: { ...DESKTOP, height: FIRST_SCREEN } }, async (page) => {
    for (const part of ['h1', '.answer']) {
      const box = await page.locator(part).first().boundingBox();
      expect(box?.height ?? 0, part).toBeGreaterThan(10);
      expect((box?.y ?? Infinity) + (box?.height ?? 0), part).toBeLessThan(FIRST_SCREEN);
    }
  });
});

test.each(PAGES.flatMap((name) => (['light', 'dark'] as const).map((theme) => [name, theme] as const)))(
  '%s: every text stands out in %s',
  async (name, colorScheme) => {
    await withPage(name, { colorScheme, viewport: { width: 1280, height: 4000 } }, async (page) => {
      await scrolledThrough(page);
      expect(await page.evaluate(paleTexts)).toEqual([]);
    });
  },
);

test.each(PAGES.flatMap((name) => [PHONE, { width: 390, height: 844 }].map((size) => [name, size] as const)))(
  '%s: fits a phone of %o',
  async (name, viewport) => {
    await withPage(name, { viewport, hasTouch: true, isMobile: true }, async (page) => {
      await scrolledThrough(page);
      expect(await page.evaluate(wideElements)).toEqual([]);
      expect(await page.evaluate(smallTexts, 11)).toEqual([]);
    });
  },
);

test.each(PAGES)('%s: has names, labels and headings in order', async (name) => {
  await withPage(name, {}, async (page) => {
    await scrolledThrough(page);
    for (const details of await page.locator('details:not([open]) > summary:visible').all())
      await details.click();
    await settled(page);
    expect(await page.evaluate(inaccessible)).toEqual([]);
    expect(await page.evaluate(smallTexts, 11)).toEqual([]);
  });
});
