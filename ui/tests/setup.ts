/** Before all tests: starts one Chromium and creates the pages. */

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { chromiumOptions } from '../tools/chromium';
import { pageOf, reportOf } from '../tools/page';
import { FIXTURES, type Made, type PageName } from './pages';
import { writtenPages } from './written';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const options = chromiumOptions();
  if (!existsSync(join(import.meta.dirname, '..', 'dist', 'page.js'))) {
    throw new Error('no ui/dist/page.js: restore it with git, or build it with make ui');
  }
  const folder = mkdtempSync(join(tmpdir(), 'tenbin-pages-'));
  const pages: Partial<Record<PageName, Made>> = await writtenPages(folder);
  for (const name of FIXTURES) {
    const file = join(folder, `${name}.html`);
    writeFileSync(file, pageOf(reportOf(name)));
    pages[name] = { file };
  }
  const server = await chromium.launchServer(options);
  project.provide('chromium', server.wsEndpoint());
  project.provide('folder', folder);
  project.provide('pages', pages);
  return async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  };
}
