/** Nothing that a page is asked to do leads to an error, a request, or a refusal by its security policy. */

import { expect, test } from 'vitest';
import { PHONE, scrolledThrough, settled, withPage } from './browser';
import { PAGES } from './pages';

test.each(PAGES)('%s: every part is drawn, opened and pressed without a word', async (name) => {
  await withPage(name, {}, async (page) => {
    await scrolledThrough(page);
    for (const details of await page.locator('details:not([open]) > summary:visible').all())
      await details.click();
    await settled(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await scrolledThrough(page);
    await page.setViewportSize(PHONE);
    await scrolledThrough(page);
    await page.emulateMedia({ media: 'print' });
    await settled(page);
  });
});

test.each(PAGES)('%s: says so where scripts do not run', async (name) => {
  await withPage(name, { javaScriptEnabled: false }, async (page) => {
    expect(await page.locator('noscript').innerText()).toMatch(/tenbin report/);
  });
});
