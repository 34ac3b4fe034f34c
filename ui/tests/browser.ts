/** Opens pages in a shared Chromium, and fails on errors, requests, and policy violations. */

import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, inject } from 'vitest';
import type { Report } from '../src/report';
import { pageOf } from '../tools/page';
import type { PageName } from './pages';

let browser: Promise<Browser> | undefined;

/** The path of a page that the setup created. */
export function fileOf(name: PageName): string {
  const made = inject('pages')[name];
  if (!made) throw new Error(`the setup created no page ${name}`);
  if ('error' in made) throw new Error(`the page ${name} could not be created: ${made.error}`);
  return made.file;
}

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 360, height: 740 };

/**
 * Opens a page, waits until it is ready, and calls `use`.
 * Console messages, errors, requests, and violations of the page's security policy are failures.
 */
export async function withPage(
  name: PageName,
  options: BrowserContextOptions,
  use: (page: Page) => Promise<void>,
): Promise<void> {
  await withFile(fileOf(name), options, use);
}

/** The same with a page of this report. */
export async function withReport(
  name: string,
  report: Report,
  options: BrowserContextOptions,
  use: (page: Page) => Promise<void>,
): Promise<void> {
  const file = join(inject('folder'), `${name}.html`);
  writeFileSync(file, pageOf(report));
  await withFile(file, options, use);
}

async function withFile(
  file: string,
  options: BrowserContextOptions,
  use: (page: Page) => Promise<void>,
): Promise<void> {
  browser ??= chromium.connect(inject('chromium'));
  const context = await (await browser).newContext({ viewport: DESKTOP, ...options });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    const seen: string[] = [];
    page.on('console', (message) => seen.push(`console ${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => seen.push(`error: ${error.message}`));
    page.on('dialog', (dialog) => {
      seen.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('popup', (popup) => seen.push(`popup: ${popup.url()}`));
    const url = pathToFileURL(file).href;
    page.on('request', (request) => {
      if (request.url() !== url) seen.push(`request: ${request.url()}`);
    });
    await page.addInitScript(watchPolicy);
    await page.addInitScript(watchLoad);
    await page.goto(url);
    const isScripted = options.javaScriptEnabled !== false;
    if (isScripted) await ready(page, seen);
    await use(page);
    if (isScripted) seen.push(...(await page.evaluate(() => (window as unknown as Watched).refused)));
    expect(seen).toEqual([]);
  } finally {
    await context.close();
  }
}

interface Watched {
  refused: string[];
}

function watchPolicy(): void {
  const refused: string[] = [];
  Object.assign(window, { refused });
  document.addEventListener('securitypolicyviolation', (event) => {
    refused.push(`blocked by the policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
  });
}

/** Keeps the ids of the charts that are blank when the page is loaded, as a program that captures it then would see them. */
function watchLoad(): void {
  window.addEventListener('load', () => {
    const cards = [...document.querySelectorAll('.card')].filter((card) => card.checkVisibility());
    const blank = cards.filter((card) => !card.querySelector('.drawing')?.hasChildNodes());
    const blankAtLoad = cards.length > 0 ? blank.map((card) => card.id) : ['there are no charts'];
    Object.assign(window, { blankAtLoad });
  });
}

async function ready(page: Page, seen: string[]): Promise<void> {
  try {
    await page.waitForFunction(() => performance.getEntriesByName('tenbin:ready').length > 0);
  } catch (error) {
    throw new Error(`the page did not become ready; ${seen.join('; ')}`, { cause: error });
  }
}

/** Waits two frames, until the page is painted. */
export async function nextFrames(page: Page): Promise<void> {
  await page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        requestAnimationFrame(() => {
          requestAnimationFrame(() => {
            resolve();
          });
        });
      }),
  );
}

/** Scrolls through the page, so that all charts are drawn. */
export async function scrollThrough(page: Page): Promise<void> {
  let top = 0;
  while (top < 200_000) {
    const step = await page.evaluate((y) => {
      scrollTo(0, y);
      return y + innerHeight < document.documentElement.scrollHeight ? innerHeight : 0;
    }, top);
    await nextFrames(page);
    if (step === 0) return;
    top += step;
  }
  throw new Error('the page has no end');
}

/** Opens all `details`, and waits until they are rendered. */
export async function openAllDetails(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true;
  });
  await nextFrames(page);
}

/** The report embedded in the page. */
export async function reportIn(page: Page): Promise<Report> {
  return JSON.parse((await page.locator('#report').textContent()) ?? '') as Report;
}
