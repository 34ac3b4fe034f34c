/** Two runs over time, one of them in front on a phone. */

import { expect, test } from 'vitest';
import { PHONE, scrolledThrough, settled, withPage } from './browser';

test('on a phone one of two runs is in front, and who changes that by keys keeps them', async () => {
  await withPage('study', { viewport: PHONE }, async (page) => {
    await scrolledThrough(page);
    const card = page.locator('#what-happened');
    await card.scrollIntoViewIfNeeded();
    await settled(page);
    const name = (): Promise<string> => card.locator('.pane-head h4').innerText();
    const before = await name();
    await card.locator('.pane-button').nth(1).focus();
    await page.keyboard.press('Enter');
    expect(await name()).not.toBe(before);
    const focused = page.locator('#what-happened .pane-button:focus');
    expect(await focused.getAttribute('aria-pressed')).toBe('true');
    expect(await page.locator('#what-it-took .pane-head h4').innerText()).toBe(await name());
  });
});

test('a list of one run is not shown', async () => {
  await withPage('runs', {}, async (page) => {
    await scrolledThrough(page);
    expect(await page.locator('.pane-choice select').count()).toBe(4);
    expect(await page.locator('.pane-choice select:visible').count()).toBe(2);
  });
});
