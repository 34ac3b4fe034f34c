/** Two runs over time, one at a time on a phone. */

import { expect, test } from 'vitest';
import { PHONE, scrollThrough, nextFrames, withPage } from './browser';

test('a phone shows one of two runs, and switching by keyboard keeps the focus', async () => {
  await withPage('study', { viewport: PHONE }, async (page) => {
    await scrollThrough(page);
    const card = page.locator('#load-over-time');
    await card.scrollIntoViewIfNeeded();
    await nextFrames(page);
    const name = (): Promise<string> => card.locator('.pane-head h4').innerText();
    const before = await name();
    await card.locator('.pane-button').nth(1).focus();
    await page.keyboard.press('Enter');
    expect(await name()).not.toBe(before);
    const focused = page.locator('#load-over-time .pane-button:focus');
    expect(await focused.getAttribute('aria-pressed')).toBe('true');
    expect(await page.locator('#resources-over-time .pane-head h4').innerText()).toBe(await name());
  });
});

test('a select with a single run is hidden', async () => {
  await withPage('runs', {}, async (page) => {
    await scrollThrough(page);
    expect(await page.locator('.pane-choice select').count()).toBe(4);
    expect(await page.locator('.pane-choice select:visible').count()).toBe(2);
  });
});
