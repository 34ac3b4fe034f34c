/** What events cost, and the load around them: drawn, exact by pointer and keyboard, and the same in the data table. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { CANARIES } from '../fixtures/hostile';
import type { Report } from '../src/report';
import { nextFrames, openAllDetails, PHONE, scrollThrough, withPage, withReport } from './browser';
import { parsed, pixelsOf } from './colors';
import { decoded } from './png';

const golden = join(import.meta.dirname, '../../crates/report/tests/golden/study-events.page.json');
const WRITTEN = JSON.parse(readFileSync(golden, 'utf8')) as Report;

/** Pixels of a mark in the color of this custom property. */
async function pixels(page: Page, chart: Locator, property: string): Promise<number> {
  const color = parsed(
    await page.evaluate((name) => {
      const probe = document.body.appendChild(document.createElement('i'));
      probe.style.color = `var(${name})`;
      const found = getComputedStyle(probe).color;
      probe.remove();
      return found;
    }, property),
  );
  if (!color) throw new Error(`no color ${property}`);
  return pixelsOf(decoded(await chart.screenshot()), [color]);
}

async function tip(page: Page): Promise<string[]> {
  return page.locator('.tip:visible > *').allInnerTexts();
}

test('each figure has a dot for each block, the median, and an interval, in both themes and in print', async () => {
  await withPage('study', {}, async (page) => {
    await scrollThrough(page);
    const card = page.locator('#event-cost-1-1');
    expect(await card.locator('.about').first().innerText()).toContain('n = 6 blocks');
    const figures = card.locator('.cost');
    expect(await figures.count()).toBe(8);
    const outage = figures.nth(4);
    expect(await outage.locator('h4').innerText()).toBe('Outage');
    const [values, apart] = [outage.locator('svg').nth(0), outage.locator('svg').nth(1)];
    // Three variants, and two differences from the first.
    expect(await values.locator('.row').count()).toBe(3);
    expect(await apart.locator('.row').count()).toBe(2);
    const marks = async (chart: Locator, kind: string): Promise<number> => chart.locator(kind).count();
    expect(await marks(values, '.dot.cloudy')).toBe(18);
    expect(await marks(apart, '.dot.cloudy')).toBe(12);
    expect([await marks(values, '.estimate'), await marks(values, '.interval')]).toEqual([3, 3]);
    for (const set of [{}, { colorScheme: 'dark' as const }, { media: 'print' as const }]) {
      await page.emulateMedia(set);
      await nextFrames(page);
      const drawn = await Promise.all(
        ['--series-1', '--series-2'].map((color) => pixels(page, outage.locator('svg').first(), color)),
      );
      expect(Math.max(...drawn), JSON.stringify(set)).toBeGreaterThan(40);
    }
  });
}, 60_000);

test('blocks without a recovery are hollow, at the end of the axis', async () => {
  await withPage('study', {}, async (page) => {
    await scrollThrough(page);
    const recovery = page.locator('#event-cost-1-1 .cost').nth(5);
    expect(await recovery.locator('h4').innerText()).toBe('Recovery');
    expect(await recovery.locator('svg').first().locator('.hollow').count()).toBe(1);
    expect(await page.locator('#event-cost-1-1 .marks-key').innerText()).toContain('not seen back to usual');
  });
});

test('exact costs are available by keyboard, by pointer, and in the data table', async () => {
  await withPage('study', {}, async (page) => {
    await scrollThrough(page);
    const card = page.locator('#event-cost-1-1');
    const lost = card.locator('.cost').first().locator('svg').first();
    await lost.locator('[tabindex="0"]').focus();
    await page.keyboard.press('ArrowDown');
    const lines = await tip(page);
    expect(lines.slice(1)).toEqual([
      'Lost requests: 37 (31 – 41)',
      'in parentheses: 95 % confidence interval',
      'by block: 31, 33, 35, 37, 39, 41',
      'n = 6 of 6 blocks',
    ]);
    await page.keyboard.press('Escape');
    const excess = card.locator('.cost').nth(7).locator('svg').nth(1);
    await excess.locator('.row').first().hover();
    expect((await tip(page)).join('\n')).toContain('request-seconds');
    await openAllDetails(page);
    const rows = await card.locator('.numbers tbody tr').allInnerTexts();
    const cells = rows.map((row) => row.split('\t'));
    // Eight figures of three variants, and as many differences of two.
    expect(cells.length).toBe(8 * (3 + 2));
    const outage = cells.find((row) => row[2] === 'Outage' && row[4] === '807');
    expect(outage?.slice(2, 7)).toEqual(['Outage', 'ms', '807', '780', '825']);
    expect(cells.filter((row) => row[3] === 'request-seconds').length).toBe(5);
  });
});

test('a phone shows every figure without scrolling sideways', async () => {
  await withPage('study', { viewport: PHONE }, async (page) => {
    await scrollThrough(page);
    const charts = page.locator('#event-cost-1-1 .cost svg');
    expect(await charts.count()).toBe(16);
    for (const chart of await charts.all()) {
      const box = await chart.boundingBox();
      expect((box?.x ?? -1) >= 0 && (box?.x ?? 0) + (box?.width ?? 1e9) <= PHONE.width).toBe(true);
    }
  });
});

test('losses around an event are bars in the color of their class, with a legend', async () => {
  await withPage('run', {}, async (page) => {
    await scrollThrough(page);
    const card = page.locator('#around-events-1');
    const chart = card.locator('[aria-label^="Lost requests per second, by class"]');
    const legends = await card.locator('.marks-key').allInnerTexts();
    expect(legends.join('\n')).toMatch(/reset\s+timed out\s+stale reuse, not lost/);
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme });
      await nextFrames(page);
      for (const color of ['--bad', '--ink', '--good']) {
        expect(await pixels(page, chart, color), `${color} ${theme}`).toBeGreaterThan(10);
      }
    }
    await chart.focus();
    await page.keyboard.press('End');
    const none = await tip(page);
    expect(none).toContain('timed out: 0/s');
    await openAllDetails(page);
    const heads = await card.locator('.numbers th[scope="col"]').allInnerTexts();
    expect(heads).toEqual(expect.arrayContaining(['lost', 'reset', 'timed out', 'stale reuse']));
  });
});

test('times of events count from the end of the warm-up in every chart and table', async () => {
  await withReport('events', WRITTEN, {}, async (page) => {
    await scrollThrough(page);
    const around = page.locator('#around-events-1');
    const names = await around.locator('.event-name').allInnerTexts();
    expect(
      names.filter((name) => name.includes('deploy #1')).every((name) => name.includes('at 0.5 s')),
    ).toBe(true);
    expect(
      names.filter((name) => name.includes('deploy #2')).every((name) => name.includes('at 1.6 s')),
    ).toBe(true);
    const heads = await page.locator('#load-over-time .pane-head .events').first().innerText();
    expect(heads).toContain('0:00.5 deploy #1');
    // The first second of the axis is the warm-up.
    const rate = page.locator('#load-over-time [role="application"]').first();
    await rate.focus();
    await page.keyboard.press('Home');
    expect((await tip(page))[0]).toBe('−0:01, warm-up');
  });
});

test('names of events stay text', async () => {
  await withReport('events-hostile', WRITTEN, {}, async (page) => {
    await scrollThrough(page);
    const titles = await page.locator('#events h3').allInnerTexts();
    expect(titles).toEqual(['What deploy cost', 'What restart <b>db</b> cost']);
    expect(await page.locator('#events b').count()).toBe(0);
  });
  await withPage('hostile', {}, async (page) => {
    await scrollThrough(page);
    const text = await page.locator('#events').innerText();
    expect(CANARIES.some((canary) => text.includes(canary))).toBe(true);
  });
});

test('what held requests up is ranked under the cost of an event, or says why nobody knows', async () => {
  await withPage('study', {}, async (page) => {
    await scrollThrough(page);
    const rows = page.locator('#event-cost-1-1 .event-causes .of-row');
    expect(await rows.count()).toBe(2);
    const [known, unknown] = [rows.nth(0), rows.nth(1)];
    expect(await known.locator('.causes > li').count()).toBe(2);
    const first = known.locator('.causes > li').first();
    expect(await first.locator('summary').innerText()).toContain('stopped processes of the system');
    expect(await first.locator('.share').innerText()).toContain('88 %');
    expect(await first.locator('.evidence').innerText()).toContain('were stopped 88 % of the time');
    const length = await first.locator('.length').evaluate((bar) => bar.getBoundingClientRect().width);
    expect(length).toBeGreaterThan(20);
    expect(await unknown.locator('.causes > li').count()).toBe(0);
    expect(await unknown.locator('.about').innerText()).toContain('Not known: it was felt for 0.24 s');
  });
});
