/** Nothing that a page is asked to do leads to an error, a request, or a refusal by its security policy. */

import { expect, test } from 'vitest';
import { PHONE, scrolledThrough, settled, unfolded, withPage } from './browser';
import { PAGES } from './pages';

test.each(PAGES)(
  '%s: everything is drawn and unfolded, here, on a phone and on paper, without a word',
  async (name) => {
    await withPage(name, {}, async (page) => {
      await scrolledThrough(page);
      await unfolded(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.setViewportSize(PHONE);
      await scrolledThrough(page);
      await page.emulateMedia({ media: 'print' });
      await settled(page);
    });
  },
);

test.each(PAGES)('%s: says so where scripts do not run', async (name) => {
  await withPage(name, { javaScriptEnabled: false }, async (page) => {
    expect(await page.locator('noscript').innerText()).toMatch(/tenbin report/);
  });
});
