/** The Chromium for tests, benchmarks, and screenshots. The headless shell needs two thirds of the CPU time. */

import { accessSync, constants } from 'node:fs';
import type { LaunchOptions } from 'playwright-core';

/** Launch options: no GPU, no sandbox (unavailable in containers), no background network traffic. */
export function chromiumOptions(): LaunchOptions {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell';
  try {
    accessSync(executablePath, constants.X_OK);
  } catch {
    throw new Error(
      `no Chromium at ${executablePath}: run scripts/browser.sh, or set the environment variable CHROMIUM`,
    );
  }
  return {
    executablePath,
    headless: true,
    timeout: 30_000,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  };
}
