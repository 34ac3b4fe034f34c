/** Themes, load tabs, keyboard control, tooltips, and print. */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { pointsOf } from '../src/unpack';
import { chromiumOptions } from '../tools/chromium';
import { fileOf, reportIn, scrollThrough, nextFrames, withPage } from './browser';
import { luminance, parsed } from './colors';
import { PAGES } from './pages';

async function backgroundLuminance(page: Page): Promise<number> {
  await nextFrames(page);
  const color = parsed(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor));
  if (!color) throw new Error('no background color');
  return luminance(color);
}

test('the theme follows the operating system until the reader selects one', async () => {
  await withPage('study', { colorScheme: 'dark' }, async (page) => {
    expect(await backgroundLuminance(page)).toBeLessThan(0.05);
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await backgroundLuminance(page)).toBeGreaterThan(0.8);
    const button = page.getByRole('button', { name: /^Theme/ });
    await button.click();
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await backgroundLuminance(page)).toBeGreaterThan(0.8);
    await button.click();
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await backgroundLuminance(page)).toBeLessThan(0.05);
    await button.click();
    expect(await backgroundLuminance(page)).toBeGreaterThan(0.8);
    expect(await button.getAttribute('aria-label')).toContain('auto');
  });
});

test('hidden charts have the new colors after a theme change', async () => {
  await withPage('study', { colorScheme: 'light' }, async (page) => {
    const tabs = page.getByRole('tab');
    const inked = async (): Promise<number> => {
      const plot = page.locator('#load-1 .plot canvas').first();
      await plot.scrollIntoViewIfNeeded();
      await nextFrames(page);
      // Axis labels: dark in the light theme, and light in the dark theme.
      return plot.evaluate((canvas: HTMLCanvasElement) => {
        const data = canvas.getContext('2d')?.getImageData(0, 0, 60, canvas.height).data ?? [];
        let [sum, weight] = [0, 0];
        for (let at = 3; at < data.length; at += 4) {
          sum += (data[at - 1] ?? 0) * (data[at] ?? 0);
          weight += data[at] ?? 0;
        }
        return sum / weight;
      });
    };
    await scrollThrough(page);
    expect(await inked()).toBeLessThan(140);
    await tabs.nth(1).click();
    await page.emulateMedia({ colorScheme: 'dark' });
    await nextFrames(page);
    await tabs.nth(0).click();
    expect(await inked()).toBeGreaterThan(140);
  });
});

test('loads are selected by mouse, arrow keys, and links', async () => {
  await withPage('study', {}, async (page) => {
    const { loads } = await reportIn(page);
    expect(loads.length).toBeGreaterThan(1);
    const tabs = page.getByRole('tab');
    expect(await tabs.allInnerTexts()).toEqual(loads.map(({ name }) => name));
    const shown = async (): Promise<(string | null)[]> =>
      page
        .locator('[role="tabpanel"]:visible')
        .evaluateAll((all) => all.map((one) => one.getAttribute('id')));
    expect(await shown()).toEqual(['load-1']);
    await tabs.nth(1).click();
    expect(await shown()).toEqual(['load-2']);
    expect(await tabs.nth(1).getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('ArrowLeft');
    expect(await shown()).toEqual(['load-1']);
    await page.evaluate(() => {
      location.hash = 'load-2';
    });
    await nextFrames(page);
    expect(await shown()).toEqual(['load-2']);
    await scrollThrough(page);
    expect(await page.locator('#load-2 .card svg, #load-2 .card canvas').count()).toBeGreaterThan(3);
  });
});

test('sections are in order, and the navigation links to all of them', async () => {
  await withPage('study', {}, async (page) => {
    await scrollThrough(page);
    const order = [
      'answer',
      'summary',
      'metrics',
      'runs',
      'parameters',
      'percentiles',
      'events',
      'time',
      'cpu-time',
      'latency',
      'errors',
    ];
    const expected = [...order, 'fairness', 'method'];
    const tops = await page.evaluate(
      (ids) => ids.map((id) => document.getElementById(id)?.getBoundingClientRect().top ?? null),
      expected,
    );
    expect(tops).not.toContain(null);
    expect(tops).toEqual(tops.toSorted((a, b) => (a ?? 0) - (b ?? 0)));
    const links = await page
      .locator('nav a')
      .evaluateAll((all) => all.map((link) => (link.getAttribute('href') ?? '').slice(1)));
    expect(links).toEqual(expected);
  });
});

test('the Tab key reaches all controls, with a visible focus', async () => {
  await withPage('study', {}, async (page) => {
    await scrollThrough(page);
    const reached = new Set<string>();
    const unseen: string[] = [];
    for (let stop = 0; stop < 400; stop += 1) {
      await page.keyboard.press('Tab');
      const here = await page.evaluate(() => {
        const element = document.activeElement;
        if (!element || element === document.body) return null;
        // A focused element must look different.
        const looks = (): string =>
          [element, ...element.querySelectorAll('*')]
            .map((one) => {
              const { outline, boxShadow, stroke, strokeWidth } = getComputedStyle(one);
              return [outline, boxShadow, stroke, strokeWidth].join();
            })
            .join(';');
        const withKeys = looks();
        (element as HTMLElement | SVGElement).blur();
        const isMarked = looks() !== withKeys;
        (element as HTMLElement | SVGElement).focus();
        const kinds = ['.skip', 'nav a', '.theme', '[role="tab"]', 'th button', '.copy', 'select', 'summary'];
        const charts = ['.chart [tabindex]', '.plot'];
        const kind = [...kinds, ...charts].find((one) => element.matches(one)) ?? element.tagName;
        return { kind, isMarked, text: `${element.tagName} ${element.textContent.slice(0, 30)}` };
      });
      if (!here) break;
      reached.add(here.kind);
      if (!here.isMarked) unseen.push(here.text);
    }
    for (const kind of [
      '.skip',
      'nav a',
      '.theme',
      '[role="tab"]',
      'th button',
      '.copy',
      'select',
      'summary',
    ]) {
      expect([...reached]).toContain(kind);
    }
    expect([...reached]).toContain('.chart [tabindex]');
    expect([...reached]).toContain('.plot');
    expect(unseen).toEqual([]);
  });
}, 60_000);

test('the first Tab stop skips the navigation', async () => {
  await withPage('study', {}, async (page) => {
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await nextFrames(page);
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
  });
});

test('marks have tooltips for mouse and keyboard', async () => {
  await withPage('study', {}, async (page) => {
    const card = page.locator('.card', { hasText: 'All runs' }).first();
    await card.scrollIntoViewIfNeeded();
    await nextFrames(page);
    const { loads, runs } = await reportIn(page);
    const load = loads[0];
    const mark = card.locator('.row circle.dot').first();
    await mark.hover();
    const tip = page.locator('.tip');
    await tip.waitFor({ state: 'visible' });
    const text = (await tip.innerText()).replaceAll(',', '');
    const named = runs.find((run) => text.split('\n').includes(run.id));
    expect(named, text).toBeDefined();
    const value = named?.figures?.metric;
    expect(text).toContain(String(Math.round((value ?? NaN) * 10) / 10));
    await page.mouse.move(2, 2);
    await tip.waitFor({ state: 'hidden' });
    const stop = card.locator('[tabindex="0"]').first();
    await stop.focus();
    await tip.waitFor({ state: 'visible' });
    const first = await tip.innerText();
    expect(load?.rows.some((row) => first.includes(row.name))).toBe(true);
    await page.keyboard.press('ArrowDown');
    expect(await tip.innerText()).not.toBe(first);
  });
});

test('charts over time have tooltips for mouse and keyboard', async () => {
  await withPage('run', {}, async (page) => {
    const report = await reportIn(page);
    await page.locator('#time').scrollIntoViewIfNeeded();
    await nextFrames(page);
    await page.locator('#time .plot').first().scrollIntoViewIfNeeded();
    const box = await page.locator('#time .plot .u-over').first().boundingBox();
    if (!box) throw new Error('no chart');
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    const tip = page.locator('.tip');
    await tip.waitFor({ state: 'visible' });
    const lines = (await tip.innerText()).split('\n');
    expect(lines[0]).toMatch(/\d+:\d\d|\d s/);
    const track = report.charts[0]?.tracks[0];
    const series = report.runs[0]?.series;
    const points = (series && pointsOf(series, track?.key ?? '')?.mid) ?? [];
    const figures = points.filter((point) => point !== null).map((point) => String(Math.round(point)));
    const numbers = lines.slice(1).join(' ').replaceAll(',', '').match(/\d+/g) ?? [];
    expect(
      numbers.some((figure) => figures.includes(figure)),
      lines.join('; '),
    ).toBe(true);
    await page.mouse.move(2, 2);
    await tip.waitFor({ state: 'hidden' });
    const plot = page.locator('#time .plot[tabindex="0"]').first();
    await plot.focus();
    await page.keyboard.press('Home');
    await tip.waitFor({ state: 'visible' });
    const before = await tip.innerText();
    await page.keyboard.press('End');
    expect(await tip.innerText()).not.toBe(before);
  });
});

test.each(PAGES)('%s: prints everything in the light theme', async (name) => {
  await withPage(name, { colorScheme: 'dark' }, async (page) => {
    const pages = pagesOf(await page.pdf({ format: 'A4', printBackground: true }));
    expect(pages).toBeGreaterThan(1);
    expect(pages).toBeLessThan(80);
    await page.emulateMedia({ media: 'print' });
    await nextFrames(page);
    expect(await backgroundLuminance(page)).toBeGreaterThan(0.8);
    const { loads } = await reportIn(page);
    expect(await page.locator('.load:visible').count()).toBe(loads.length);
    for (const part of ['nav', '.copy', '.theme', '[role="tab"]', 'textarea', '.tip']) {
      expect(await page.locator(`${part}:visible`).count(), `${part} in print`).toBe(0);
    }
  });
});

function pagesOf(pdf: Buffer): number {
  return pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0;
}

test('a page printed right after loading is complete', async () => {
  const { executablePath, args } = chromiumOptions();
  const file = fileOf('study');
  const pdf = join(dirname(file), 'at-once.pdf');
  const print = ['--headless', ...(args ?? []), `--print-to-pdf=${pdf}`, pathToFileURL(file).href];
  await promisify(execFile)(executablePath ?? '', print, { timeout: 30_000 });
  await withPage('study', {}, async (page) => {
    await scrollThrough(page);
    const later = pagesOf(await page.pdf({ format: 'A4', printBackground: true }));
    expect(pagesOf(readFileSync(pdf))).toBeGreaterThan(later * 0.8);
  });
}, 60_000);

test('a flame graph zooms by click and by keyboard, and is searched', async () => {
  await withPage('study', {}, async (page) => {
    await scrollThrough(page);
    const card = page.locator('#cpu-time-by-function');
    const width = async (name: string): Promise<number> => {
      const box = card.locator('.call', { hasText: name }).first().locator('rect');
      return Math.round(Number(await box.getAttribute('width')));
    };
    const all = await width('puma');
    const narrow = await width('parse_request');
    expect(narrow).toBeLessThan(all / 2);
    await card.locator('.call', { hasText: 'parse_request' }).first().click();
    expect(await width('parse_request')).toBe(all);
    await page.keyboard.press('Escape');
    expect(await width('parse_request')).toBe(narrow);
    await card.locator('.call[tabindex="0"]').focus();
    for (const key of ['Home', 'ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    expect(await width('rb_vm_exec')).toBe(all);
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toMatch(
      /^rb_vm_exec; own program: puma; total .* %, .* per request \(n = /,
    );
    await card.locator('.zoom-out').click();
    await card.locator('input[type="search"]').fill('TCP_');
    expect(await card.locator('[role="status"]').innerText()).toMatch(/^\d+\.\d % of the samples/);
    expect(await card.locator('.call.match').count()).toBeGreaterThan(1);
  });
});
