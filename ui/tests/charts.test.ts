/** Charts are not blank, and show their unit and n. */

import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { scrollThrough, nextFrames, withPage } from './browser';
import { pixelsOf } from './colors';
import { markColors, markPixels } from './drawn';
import { cropped, decoded } from './png';
import { PAGES, type PageName } from './pages';

/** A chart with fewer pixels of marks is blank. */
const LEAST = 25;

/** Pages that are also tested in the dark theme and in print; the others have the same charts. */
const EVERYWHERE: PageName[] = ['study', 'run', 'written-runs'];

/** The titles of blank charts. */
async function blank(page: Page): Promise<string[]> {
  await nextFrames(page);
  const colors = await markColors(page);
  const titles: string[] = [];
  for (const card of await page.locator('.card:visible').all()) {
    const pixels = await markPixels(card.locator('.drawing'), colors);
    if (pixels < LEAST) titles.push(await card.locator('h3').first().innerText());
  }
  return titles;
}

test.each(PAGES)(
  '%s: no chart is blank, and each shows its unit and n',
  async (name) => {
    await withPage(name, {}, async (page) => {
      await scrollThrough(page);
      // Charts are drawn when the page is idle, which takes a moment on a busy machine.
      await expect.poll(() => blank(page), { timeout: 10_000 }).toEqual([]);
      const abouts = await page
        .locator('.card:visible')
        .evaluateAll((cards) => cards.map((card) => card.querySelector('.about')?.textContent ?? ''));
      // Charts over time show n above each run.
      expect
        .soft(abouts.filter((about) => !/n = \d|in minutes and seconds|since the event began/.test(about)))
        .toEqual([]);
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

test.each(['study', 'run'] as const)(
  '%s: a screenshot of the whole page shows every chart without scrolling',
  async (name) => {
    await withPage(name, {}, async (page) => {
      await page.waitForFunction(() =>
        [...document.querySelectorAll('.card')]
          .filter((card) => card.checkVisibility())
          .every((card) => card.querySelector('.drawing')?.hasChildNodes()),
      );
      expect(await page.evaluate(() => scrollY)).toBe(0);
      const whole = decoded(await page.screenshot({ fullPage: true }));
      const colors = await markColors(page);
      const drawings = await page.locator('.card:visible .drawing').evaluateAll((all) =>
        all.map((one) => {
          const { left, top, width, height } = one.getBoundingClientRect();
          return { left, top, width, height };
        }),
      );
      expect(drawings.length).toBeGreaterThan(4);
      const pixels = drawings.map((box) => pixelsOf(cropped(whole, box), colors));
      expect(pixels.filter((count) => count < LEAST)).toEqual([]);
    });
  },
  60_000,
);

test.each(['study', 'run', 'written-study'] as const)(
  '%s: every chart is drawn when the page is loaded',
  async (name) => {
    await withPage(name, {}, async (page) => {
      const blankAtLoad = await page.evaluate(
        () => (window as unknown as { blankAtLoad: string[] }).blankAtLoad,
      );
      expect(blankAtLoad).toEqual([]);
    });
  },
  60_000,
);

test('a chart with hidden marks counts as blank', async () => {
  await withPage('study', {}, async (page) => {
    await scrollThrough(page);
    expect(await blank(page)).toEqual([]);
    const titles = await page.locator('.card:visible h3').allInnerTexts();
    // Rules hold for charts that are drawn again, too.
    await page.evaluate(() => {
      const rules = new CSSStyleSheet();
      rules.replaceSync(`
        .drawing :is(svg *, canvas):not(text, text *) { visibility: hidden !important; }
        .drawing :is(text, text *) { visibility: visible !important; }
        .drawing :is(text, text *, :not(svg, svg *, canvas)) {
          color: black !important; fill: black !important; background: none !important; border-color: transparent !important;
        }`);
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, rules];
    });
    expect(await blank(page)).toEqual(titles);
  });
}, 60_000);
