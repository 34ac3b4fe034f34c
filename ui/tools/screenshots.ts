/** Takes the screenshots of the documentation from a page: `npm run screenshots -- PAGE.html FOLDER`. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { chromiumOptions } from './chromium';

/** A screenshot in the file `page-NAME.png`. */
interface Shot {
  name: string;
  options: BrowserContextOptions;
  /** The element at the top of the screenshot; null for the top of the page. */
  at: string | null;
}

const DESKTOP = { width: 1280, height: 800 };

const SHOTS: Shot[] = [
  { name: 'light', options: { viewport: DESKTOP, colorScheme: 'light' }, at: null },
  { name: 'dark', options: { viewport: DESKTOP, colorScheme: 'dark' }, at: null },
  { name: 'table', options: { viewport: DESKTOP }, at: '#metrics' },
  { name: 'runs', options: { viewport: DESKTOP }, at: '#runs' },
  { name: 'sweep', options: { viewport: DESKTOP }, at: '#parameters' },
  { name: 'time', options: { viewport: DESKTOP }, at: '#time' },
  {
    name: 'phone',
    options: {
      viewport: { width: 390, height: 844 },
      deviceScaleFactor: 1.5,
      isMobile: true,
      hasTouch: true,
    },
    at: null,
  },
];

/** Runs the command. */
export async function main([file, folder]: string[]): Promise<void> {
  if (file === undefined || folder === undefined) {
    throw new Error('usage: npm run screenshots -- PAGE.html FOLDER');
  }
  mkdirSync(folder, { recursive: true });
  const browser = await chromium.launch(chromiumOptions());
  try {
    for (const shot of SHOTS) {
      const png = await taken(browser, resolve(file), shot);
      const path = join(folder, `page-${shot.name}.png`);
      writeFileSync(path, png);
      console.log(`${path}: ${(png.length / 1024).toFixed(0)} KiB`);
    }
  } finally {
    await browser.close();
  }
}

async function taken(browser: Browser, file: string, { name, options, at }: Shot): Promise<Buffer> {
  const context = await browser.newContext(options);
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    await page.goto(pathToFileURL(file).href);
    await page.waitForFunction(() => performance.getEntriesByName('tenbin:ready').length > 0);
    if (at !== null) await scrolledTo(page, at, name);
    await page.waitForTimeout(300);
    return await page.screenshot();
  } finally {
    await context.close();
  }
}

/** Scrolls twice, because charts drawn on the way move the content below. */
async function scrolledTo(page: Page, at: string, name: string): Promise<void> {
  const part = page.locator(at).first();
  if ((await part.count()) === 0) throw new Error(`the page has no ${at} for the screenshot ${name}`);
  for (let time = 0; time < 2; time += 1) {
    await part.evaluate((element) => {
      element.scrollIntoView({ block: 'start' });
    });
    await page.waitForTimeout(200);
  }
}
