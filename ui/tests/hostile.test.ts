/** Hostile texts are displayed as plain text. */

import { expect, test } from 'vitest';
import { CANARIES } from '../fixtures/hostile';
import { scrollThrough, openAllDetails, withPage } from './browser';
import { PAGES } from './pages';

/** Elements that no page creates: results of injection, and elements that load, send, or embed something. */
const NEVER = ['img', 'iframe', 'object', 'embed', 'form', 'link', 'base', 'video', 'audio', 'foreignObject'];

test.each(PAGES)('%s: no text became markup or code', async (name) => {
  await withPage(name, {}, async (page) => {
    await scrollThrough(page);
    await openAllDetails(page);
    const found = await page.evaluate((never) => {
      const elements = [...document.querySelectorAll('*')];
      const attributes = elements.flatMap((element) => [...element.attributes]);
      return {
        pwned: 'pwned' in window,
        scripts: document.scripts.length,
        styles: document.querySelectorAll('style').length,
        elements: elements.map((element) => element.localName).filter((local) => never.includes(local)),
        handlers: attributes.map((attribute) => attribute.name).filter((local) => local.startsWith('on')),
        links: [...document.links].map((link) => link.protocol).filter((protocol) => protocol !== 'file:'),
        polluted: 'pwned' in {} || Object.keys(Object.prototype).length > 0,
      };
    }, NEVER);
    expect(found).toEqual({
      pwned: false,
      scripts: 2,
      styles: 1,
      elements: [],
      handlers: [],
      links: [],
      polluted: false,
    });
  });
});

test('canaries are readable', async () => {
  await withPage('hostile', {}, async (page) => {
    await scrollThrough(page);
    const text = await page.evaluate(() => document.body.textContent);
    // Control characters and direction overrides are replaced by visible marks.
    for (const canary of CANARIES.filter((one) => !one.includes('\u0000')))
      expect(text.includes(canary), canary.slice(0, 60)).toBe(true);
  });
});

test('texts of a plan are displayed unchanged', async () => {
  await withPage('written-study', {}, async (page) => {
    expect(await page.locator('h1').innerText()).toContain(
      '</script><script>window.pwned=1</script> {{script}}',
    );
    expect(await page.title()).toContain('<img src=x onerror=');
  });
});
