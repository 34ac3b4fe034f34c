/** Sorting tables by mouse and keyboard, and copying them. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Report } from '../src/report';
import { reportIn, nextFrames, withPage, withReport } from './browser';

/** The texts of a column, from top to bottom. */
async function column(table: Locator, at: number): Promise<string[]> {
  return table.locator(`tbody tr > :nth-child(${at + 1})`).allInnerTexts();
}

/** The first column of numbers with a missing value, or else the first column of numbers. */
async function figuresOf(page: Page): Promise<{ at: number; values: (number | null)[]; texts: string[] }> {
  const table = (await reportIn(page)).loads[0]?.table;
  const columns = (table?.heads ?? []).map((_, at) => ({
    at,
    values: table?.rows.map(({ cells }) => cells[at]?.value ?? null) ?? [],
    texts: table?.rows.map(({ cells }) => cells[at]?.text ?? '') ?? [],
  }));
  const figures = columns.filter(({ values }) => new Set(values.filter((value) => value !== null)).size > 2);
  const found = figures.find(({ values }) => values.includes(null)) ?? figures[0];
  if (!found) throw new Error('no column of numbers');
  return found;
}

/** Texts in the order of their values; missing values last, in the original order. */
function ordered({ values, texts }: { values: (number | null)[]; texts: string[] }, sign: number): string[] {
  const rows = texts.map((text, at) => ({ text, value: values[at] ?? null }));
  const known = rows.filter((row) => row.value !== null);
  known.sort((a, b) => sign * ((a.value ?? 0) - (b.value ?? 0)));
  return [...known, ...rows.filter((row) => row.value === null)].map(({ text }) => text);
}

test('clicks sort by value, reverse the order, and restore it; missing values stay last', async () => {
  await withPage('study', {}, async (page) => {
    const expected = await figuresOf(page);
    expect(expected.values).toContain(null);
    const table = page.locator('#metrics table.data').first();
    const head = table.locator('thead th').nth(expected.at);
    const asItCame = await column(table, expected.at);
    expect(asItCame).toEqual(expected.texts);
    await head.locator('button').click();
    expect(await head.getAttribute('aria-sort')).toBe('descending');
    expect(await column(table, expected.at)).toEqual(ordered(expected, -1));
    await head.locator('button').click();
    expect(await head.getAttribute('aria-sort')).toBe('ascending');
    expect(await column(table, expected.at)).toEqual(ordered(expected, 1));
    await head.locator('button').click();
    expect(await head.getAttribute('aria-sort')).toBe('none');
    expect(await column(table, expected.at)).toEqual(asItCame);
  });
});

test('the keyboard sorts, and the order is announced', async () => {
  await withPage('study', {}, async (page) => {
    const expected = await figuresOf(page);
    const table = page.locator('#metrics table.data').first();
    const head = table.locator('thead th').nth(expected.at);
    await head.locator('button').focus();
    await page.keyboard.press('Enter');
    expect(await column(table, expected.at)).toEqual(ordered(expected, -1));
    await page.keyboard.press('Space');
    expect(await column(table, expected.at)).toEqual(ordered(expected, 1));
    expect(await table.locator('th[aria-sort="ascending"]').count()).toBe(1);
    expect(await page.locator('[aria-live="polite"]').allInnerTexts()).toContainEqual(
      expect.stringContaining('ascending'),
    );
  });
});

test('column titles have units, and the winner is marked by more than a color', async () => {
  await withPage('study', {}, async (page) => {
    const report = await reportIn(page);
    const expected = report.loads[0]?.table;
    const table = page.locator('#metrics table.data').first();
    const heads = await table.locator('thead th').allInnerTexts();
    expected?.heads.forEach(({ text, unit }, at) => {
      expect(heads[at]).toContain(text);
      expect(heads[at]).toContain(unit);
    });
    const stars = await table.locator('tbody tr', { hasText: '★' }).count();
    expect(stars).toBe(expected?.rows.filter((row) => row.is_winner).length);
    expect(stars).toBeLessThanOrEqual(1);
  });
});

test('copies have the displayed rows in the displayed order', async () => {
  const permissions = ['clipboard-read', 'clipboard-write'];
  await withPage('study', { permissions }, async (page) => {
    const expected = await figuresOf(page);
    const panel = page.locator('#metrics .table-panel').first();
    await panel.locator('thead th').nth(expected.at).locator('button').click();
    const shown = ordered(expected, -1).map((text) => text.replaceAll(',', ''));
    const rows = (await copied(page, panel, 'CSV')).trimEnd().split('\r\n');
    expect(rows.length).toBe(expected.texts.length + 1);
    expect(rows.slice(1).map((row) => row.split(',')[expected.at])).toEqual(shown);
    const lines = (await copied(page, panel, 'Markdown')).trimEnd().split('\n');
    expect(lines.length).toBe(expected.texts.length + 2);
    expect(lines[1]).toMatch(/^\|( :?-+:? \|)+$/);
    const cells = (await copied(page, panel, 'TSV')).trimEnd().split('\n').slice(1);
    expect(cells.map((row) => row.split('\t')[expected.at])).toEqual(shown);
  });
});

test('copied texts cannot become formulas, markup, or rows', async () => {
  const permissions = ['clipboard-read', 'clipboard-write'];
  await withPage('hostile', { permissions }, async (page) => {
    const panels = page.locator('.table-panel:visible');
    const count = (await reportIn(page)).loads[0]?.table.rows.length ?? 0;
    const panel = panels.first();
    const table = parsedCsv(await copied(page, panel, 'CSV'));
    expect(table.length).toBe(count + 1);
    for (const cell of table.flat()) expect(cell).not.toMatch(/^\s*(?![-\d.,]+$)[=+\-@\t\r]/);
    const lines = (await copied(page, panel, 'Markdown')).trimEnd().split('\n');
    expect(lines.length).toBe(count + 2);
    for (const line of lines) expect(line.replaceAll(/\\[<>]/g, '')).not.toMatch(/[<>]/);
  });
});

test('without a clipboard the text is selected', async () => {
  await withPage('study', {}, async (page) => {
    await page.evaluate(() => {
      Object.defineProperty(navigator, 'clipboard', { value: undefined });
      Object.defineProperty(document, 'execCommand', { value: () => false });
    });
    const button = page.locator('.table-panel button.copy', { hasText: 'CSV' }).first();
    await button.click();
    const area = page.locator('textarea').first();
    expect(await area.inputValue()).toContain('\r\n'.slice(1));
    const selected = await area.evaluate((element: HTMLTextAreaElement) => [
      document.activeElement === element,
      element.selectionEnd - element.selectionStart === element.value.length,
    ]);
    expect(selected).toEqual([true, true]);
    await nextFrames(page);
  });
});

async function copied(page: Page, panel: Locator, format: string): Promise<string> {
  await page.evaluate(() => navigator.clipboard.writeText(''));
  await panel.locator('button.copy', { hasText: format }).click();
  await page.waitForFunction(async () => (await navigator.clipboard.readText()) !== '');
  return page.evaluate(() => navigator.clipboard.readText());
}

/** As in RFC 4180. */
function parsedCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,"\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === '\r\n') rows.push([]);
  }
  return rows.slice(0, -1);
}

test('wide name columns are kept if the table does not scroll', async () => {
  const golden = join(import.meta.dirname, '..', '..', 'crates/report/tests/golden/study-sql.page.json');
  const report = JSON.parse(readFileSync(golden, 'utf8')) as Report;
  const statements = report.loads[0]?.statements;
  if (!statements) throw new Error('no statements');
  // A long name and few columns of numbers.
  statements.heads.length = 8;
  for (const { cells } of statements.rows) {
    cells.length = 8;
    cells[2] = { text: 'UPDATE pgbench_accounts SET abalance = …', value: null };
  }
  await withReport('wide-names', report, {}, async (page) => {
    const box = page.locator('.table-box[aria-label^="Statements"]');
    await box.scrollIntoViewIfNeeded();
    await nextFrames(page);
    const { width, names, isNarrow } = await box.evaluate((at) => ({
      width: at.clientWidth,
      names: [...at.querySelectorAll('thead .name')].reduce((sum, { clientWidth }) => sum + clientWidth, 0),
      isNarrow: at.matches('.narrow'),
    }));
    expect(names).toBeGreaterThan(0.45 * width);
    expect(isNarrow).toBe(false);
  });
});
