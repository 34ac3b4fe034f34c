/** Pages can be read: in light and dark, on a phone, and by those who do not see them. */

import { expect, test } from 'vitest';
import { DESKTOP, PHONE, scrolledThrough, settled, unfolded, withPage } from './browser';
import { inaccessible, paleTexts, smallTexts, wideElements } from './inspect';
import { PAGES } from './pages';

test.each(PAGES)(
  '%s: question and answer come first; texts have size and contrast, parts have names',
  async (name) => {
    await withPage(name, {}, async (page) => {
      for (const part of ['h1', '.answer']) {
        const box = await page.locator(part).first().boundingBox();
        expect.soft(box?.height ?? 0, part).toBeGreaterThan(10);
        expect.soft((box?.y ?? Infinity) + (box?.height ?? 0), part).toBeLessThan(DESKTOP.height);
      }
      await scrolledThrough(page);
      await unfolded(page);
      expect.soft(await page.evaluate(inaccessible)).toEqual([]);
      expect.soft(await page.evaluate(smallTexts, 11)).toEqual([]);
      expect.soft(await page.evaluate(paleTexts)).toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      await settled(page);
      expect.soft(await page.evaluate(paleTexts), 'dark').toEqual([]);
    });
  },
);

test.each(PAGES)('%s: fits phones', async (name) => {
  await withPage(name, { viewport: PHONE, hasTouch: true, isMobile: true }, async (page) => {
    for (const size of [PHONE, { width: 390, height: 844 }]) {
      await page.setViewportSize(size);
      await scrolledThrough(page);
      await settled(page);
      expect.soft(await page.evaluate(wideElements), `${size.width}`).toEqual([]);
      expect.soft(await page.evaluate(smallTexts, 11), `${size.width}`).toEqual([]);
    }
  });
});
