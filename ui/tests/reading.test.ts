/** Pages are readable: in both themes, on a phone, and with a screen reader. */

import { expect, test } from 'vitest';
import { DESKTOP, PHONE, scrollThrough, nextFrames, openAllDetails, withPage } from './browser';
import { inaccessible, lowContrastTexts, smallTexts, wideElements } from './inspect';
import { PAGES } from './pages';

test.each(PAGES)(
  '%s: shows question and result first, with sufficient text size, contrast, and labels',
  async (name) => {
    await withPage(name, {}, async (page) => {
      for (const part of ['h1', '.answer']) {
        const box = await page.locator(part).first().boundingBox();
        expect.soft(box?.height ?? 0, part).toBeGreaterThan(10);
        expect.soft((box?.y ?? Infinity) + (box?.height ?? 0), part).toBeLessThan(DESKTOP.height);
      }
      await scrollThrough(page);
      await openAllDetails(page);
      expect.soft(await page.evaluate(inaccessible)).toEqual([]);
      expect.soft(await page.evaluate(smallTexts, 11)).toEqual([]);
      expect.soft(await page.evaluate(lowContrastTexts)).toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      await nextFrames(page);
      expect.soft(await page.evaluate(lowContrastTexts), 'dark').toEqual([]);
    });
  },
  60_000,
);

test.each(PAGES)('%s: fits on phones', async (name) => {
  await withPage(name, { viewport: PHONE, hasTouch: true, isMobile: true }, async (page) => {
    for (const size of [PHONE, { width: 390, height: 844 }]) {
      await page.setViewportSize(size);
      await scrollThrough(page);
      await nextFrames(page);
      expect.soft(await page.evaluate(wideElements), `${size.width}`).toEqual([]);
      expect.soft(await page.evaluate(smallTexts, 11), `${size.width}`).toEqual([]);
    }
  });
});
