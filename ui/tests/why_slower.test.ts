/** Why a row is slower, and how long its database executed statements: drawn, and in words. */

import { expect, test } from 'vitest';
import { withPage } from './browser';

test('the time per request of both rows is drawn to scale under the sentence', async () => {
  await withPage('study', {}, async (page) => {
    const panel = page.locator('.why-slower');
    expect(await panel.locator('.told').innerText()).toContain('CPU per request +18.1 %');
    const lengths = panel.locator('.length');
    expect(await lengths.count()).toBe(2);
    const [faster, slower] = await lengths.evaluateAll((bars) =>
      bars.map((bar) => bar.getBoundingClientRect().width),
    );
    expect((slower ?? 0) / (faster ?? 1)).toBeCloseTo(497 / 421, 1);
    expect(await panel.innerText()).toContain('+71.0 µs to +80.2 µs');
  });
});

test('statements are ranked by their share of the execution time', async () => {
  await withPage('study', {}, async (page) => {
    const rows = page.locator('.statement-times .of-row');
    expect(await rows.count()).toBe(2);
    const lines = rows.first().locator('tbody tr');
    expect(await lines.count()).toBe(2);
    expect(await lines.first().innerText()).toContain('UPDATE pgbench_accounts');
    expect(await lines.first().locator('.figure').first().innerText()).toBe('70 %');
    const lengths = await rows
      .first()
      .locator('.length')
      .evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
    expect(lengths[0]).toBeGreaterThan(2 * (lengths[1] ?? 0));
    expect(await rows.nth(1).innerText()).toContain('and 1 more');
  });
});
