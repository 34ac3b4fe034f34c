/** The documents that Rust's own tests hold, and those that the program writes, are what the page expects. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Report } from '../src/report';
import { reportOf } from '../tools/page';
import { fileOf, scrolledThrough, withReport } from './browser';
import { faultsOf } from './contract';
import { WRITTEN } from './pages';

const folder = join(import.meta.dirname, '..', '..', 'crates', 'report', 'tests', 'golden');
const goldens = readdirSync(folder).filter((name) => name.endsWith('.page.json'));

test('there are golden documents of every kind', () => {
  const kinds = goldens.map((name) => (JSON.parse(text(name)) as { kind: string }).kind);
  expect(new Set(kinds)).toEqual(new Set(['study', 'run', 'runs']));
});

test('golden and written documents have the fields and types that the page expects', () => {
  const documents = goldens.map((name): [string, string] => [name, text(name)]);
  const pages = WRITTEN.map((name): [string, string] => [name, embedded(readFileSync(fileOf(name), 'utf8'))]);
  expect(faultsOf(Object.fromEntries([...documents, ...pages]))).toEqual([]);
});

test('a document with a wrong field is found', () => {
  const right = reportOf('run');
  const wrong = { ...right, kind: 'party' };
  const unknown = { ...right, loads: [{ ...right.loads[0], nam: 1 }] };
  const texts = Object.entries({ right, wrong, unknown }).map(([name, report]) => [
    name,
    JSON.stringify(report),
  ]);
  const faults = faultsOf(Object.fromEntries(texts) as Record<string, string>);
  expect(faults).toEqual([
    expect.stringMatching(/^wrong, line 3: .*"party"/),
    expect.stringMatching(/^unknown, line \d+: .*"nam"/),
  ]);
});

test.each(goldens)('%s is shown whole', async (name) => {
  await withReport(name, JSON.parse(text(name)) as Report, {}, async (page) => {
    await scrolledThrough(page);
    expect(await page.locator('h1').count()).toBe(1);
  });
});

function text(name: string): string {
  return readFileSync(join(folder, name), 'utf8');
}

/** The JSON text in a page. */
function embedded(page: string): string {
  const found = /<script type="application\/json" id="report">(.*?)<\/script>/s.exec(page)?.[1];
  if (found === undefined) throw new Error('no report in the page');
  return found;
}
