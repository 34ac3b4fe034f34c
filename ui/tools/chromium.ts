/** The Chromium that tests, measurements and screenshots are made with. */

import { accessSync, constants } from 'node:fs';
import type { LaunchOptions } from 'playwright-core';

/** How to start it: no GPU, no sandbox (containers have none), and nothing that would go to the network by itself. */
export function chromiumOptions(): LaunchOptions {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  try {
    accessSync(executablePath, constants.X_OK);
  } catch {
    throw new Error(
      `no Chromium at ${executablePath}: run scripts/browser.sh, or name one in the environment variable CHROMIUM`,
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
