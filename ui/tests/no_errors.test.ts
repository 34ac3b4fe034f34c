/** Pages cause no errors, requests, or violations of their security policy. */

import { expect, test } from 'vitest';
import { PHONE, scrollThrough, nextFrames, openAllDetails, withPage } from './browser';
import { PAGES } from './pages';

test.each(PAGES)(
  '%s: draws and opens everything on a desktop, on a phone, and in print without errors',
  async (name) => {
    await withPage(name, {}, async (page) => {
      await scrollThrough(page);
      await openAllDetails(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.setViewportSize(PHONE);
      await scrollThrough(page);
      await page.emulateMedia({ media: 'print' });
      await nextFrames(page);
    });
  },
);

test.each(PAGES)('%s: shows a note without JavaScript', async (name) => {
  await withPage(name, { javaScriptEnabled: false }, async (page) => {
    expect(await page.locator('noscript').innerText()).toMatch(/tenbin report/);
  });
});
