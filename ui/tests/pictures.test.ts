/** Pictures are there, are not blank, and say their unit and n. */

import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { scrolledThrough, settled, withPage } from './browser';
import { markColors, markPixels } from './drawn';
import { PAGES, type PageName } from './pages';

/** Fewer pixels of marks than this is a blank picture. */
const LEAST = 25;

/** Pages that are looked at in the dark and on paper, too; the others have the same pictures. */
const EVERYWHERE: PageName[] = ['study', 'run', 'written-runs'];

/** The titles of pictures with too few pixels of marks. */
async function blank(page: Page): Promise<string[]> {
  await settled(page);
  const colors = await markColors(page);
  const titles: string[] = [];
  for (const card of await page.locator('.card:visible').all()) {
    const pixels = await markPixels(card.locator('.drawing'), colors);
    if (pixels < LEAST) titles.push(await card.locator('h3').first().innerText());
  }
  return titles;
}

test.each(PAGES)(
  '%s: no picture is blank, and each says its unit and n',
  async (name) => {
    await withPage(name, {}, async (page) => {
      await scrolledThrough(page);
      expect.soft(await blank(page)).toEqual([]);
      const abouts = await page
        .locator('.card:visible')
        .evaluateAll((cards) => cards.map((card) => card.querySelector('.about')?.textContent ?? ''));
      // Charts over time say their n above each run.
      expect.soft(abouts.filter((about) => !/n = \d|in minutes and seconds/.test(about))).toEqual([]);
      const heads = await page.locator('.card.stacked:visible .pane-head').allInnerTexts();
      expect.soft(heads.filter((head) => !/n = \d/.test(head))).toEqual([]);
      if (!EVERYWHERE.includes(name)) return;
      await page.emulateMedia({ colorScheme: 'dark' });
      expect.soft(await blank(page), 'dark').toEqual([]);
      await page.emulateMedia({ media: 'print' });
      expect.soft(await blank(page), 'print').toEqual([]);
    });
  },
  60_000,
);

test('a picture whose marks are hidden counts as blank', async () => {
  await withPage('study', {}, async (page) => {
    await scrolledThrough(page);
    expect(await blank(page)).toEqual([]);
    const titles = await page.locator('.card:visible h3').allInnerTexts();
    await page.evaluate(() => {
      for (const mark of document.querySelectorAll<HTMLElement | SVGElement>('.drawing *')) {
        const isWord = mark.closest('text') !== null || mark.closest('svg, canvas') === null;
        if (isWord) {
          mark.style.color = mark.style.fill = 'black';
          mark.style.background = 'none';
          mark.style.borderColor = 'transparent';
        }
        if (!isWord && !(mark instanceof SVGSVGElement)) mark.style.visibility = 'hidden';
      }
    });
    expect(await blank(page)).toEqual(titles);
  });
}, 60_000);
