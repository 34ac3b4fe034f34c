/**
 * Measures the size of pages, and how fast a new Chromium shows them: `npm run paint -- FILE…`.
 *
 * Opens each page five times, each time in a new browser with an empty profile. Prints the median and the maximum.
 */

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { chromiumOptions } from '../tools/chromium';

const TIMES = 5;

/** Milliseconds from the start of the navigation; `long_tasks` is the sum of tasks over 50 ms. */
interface Opening {
  first_paint: number;
  head: number;
  ready: number;
  long_tasks: number;
  longest_task: number;
  elements: number;
}

/** Runs the command. */
export async function main(files: string[]): Promise<void> {
  if (files.length === 0) throw new Error('usage: npm run paint -- FILE…');
  for (const file of files) {
    const bytes = readFileSync(file);
    console.log(`${file}\n  ${bytes.length} bytes, ${gzipSync(bytes).length} with gzip`);
    const openings: Opening[] = [];
    for (let time = 0; time < TIMES; time += 1) openings.push(await opening(resolve(file)));
    for (const name of Object.keys(openings[0] ?? {}) as (keyof Opening)[]) {
      const values = openings.map((one) => one[name]).sort((a, b) => a - b);
      const unit = name === 'elements' ? '' : ' ms';
      const [median, most] = [values[Math.floor(TIMES / 2)], values.at(-1)];
      console.log(`  ${name.padEnd(13)} median ${median}${unit}, max ${most}${unit}`);
    }
  }
}

async function opening(file: string): Promise<Opening> {
  const browser = await chromium.launch(chromiumOptions());
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.addInitScript(() => {
      const tasks: number[] = [];
      Object.assign(window, { tasks });
      new PerformanceObserver((list) => {
        tasks.push(...list.getEntries().map((entry) => entry.duration));
      }).observe({ type: 'longtask', buffered: true });
    });
    await page.goto(pathToFileURL(file).href);
    await page.waitForFunction(() => performance.getEntriesByName('tenbin:ready').length > 0);
    await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0);
    return await page.evaluate(() => {
      const at = (name: string): number =>
        Math.round(performance.getEntriesByName(name)[0]?.startTime ?? NaN);
      const { tasks } = window as unknown as { tasks: number[] };
      return {
        first_paint: at('first-contentful-paint'),
        head: at('tenbin:head'),
        ready: at('tenbin:ready'),
        long_tasks: Math.round(tasks.reduce((sum, task) => sum + task, 0)),
        longest_task: Math.round(Math.max(0, ...tasks)),
        elements: document.querySelectorAll('*').length,
      };
    });
  } finally {
    await browser.close();
  }
}
