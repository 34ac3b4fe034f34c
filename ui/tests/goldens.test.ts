/** The golden reports of the Rust tests, and the reports written by the program, match the page's types. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Report } from '../src/report';
import { reportOf } from '../tools/page';
import { fileOf, scrollThrough, withReport } from './browser';
import { errorsOf } from './contract';
import { WRITTEN } from './pages';

const folder = join(import.meta.dirname, '..', '..', 'crates', 'report', 'tests', 'golden');
const goldens = readdirSync(folder).filter((name) => name.endsWith('.page.json'));

test('golden reports of every kind exist', () => {
  const kinds = goldens.map((name) => (JSON.parse(text(name)) as { kind: string }).kind);
  expect(new Set(kinds)).toEqual(new Set(['study', 'run', 'runs']));
});

test('golden and written reports match the types of the page', () => {
  const documents = goldens.map((name): [string, string] => [name, text(name)]);
  const pages = WRITTEN.map((name): [string, string] => [name, embedded(readFileSync(fileOf(name), 'utf8'))]);
  expect(errorsOf(Object.fromEntries([...documents, ...pages]))).toEqual([]);
});

test('wrong fields are detected', () => {
  const right = reportOf('run');
  const wrong = { ...right, kind: 'party' };
  const unknown = { ...right, loads: [{ ...right.loads[0], nam: 1 }] };
  const texts = Object.entries({ right, wrong, unknown }).map(([name, report]) => [
    name,
    JSON.stringify(report),
  ]);
  const errors = errorsOf(Object.fromEntries(texts) as Record<string, string>);
  expect(errors).toEqual([
    expect.stringMatching(/^wrong, line 3: .*"party"/),
    expect.stringMatching(/^unknown, line \d+: .*"nam"/),
  ]);
});

test.each(goldens)('%s is displayed, with a headline of at most two lines', async (name) => {
  await withReport(name, JSON.parse(text(name)) as Report, {}, async (page) => {
    await scrollThrough(page);
    expect(await page.locator('h1').count()).toBe(1);
    const lines = await page
      .locator('.sentence')
      .evaluateAll((all) =>
        all.map((one) => one.clientHeight / parseFloat(getComputedStyle(one).lineHeight)),
      );
    expect(Math.max(...lines)).toBeLessThan(2.5);
  });
});

function text(name: string): string {
  return readFileSync(join(folder, name), 'utf8');
}

/** The JSON report in a page. */
function embedded(page: string): string {
  const found = /<script type="application\/json" id="report">(.*?)<\/script>/s.exec(page)?.[1];
  if (found === undefined) throw new Error('no report in the page');
  return found;
}
