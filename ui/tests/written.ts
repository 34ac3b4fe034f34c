/** Runs the program against its built-in target for some seconds, and writes the pages. */

import { execFile, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Made, PageName, WRITTEN } from './pages';

const run = promisify(execFile);
const ui = join(import.meta.dirname, '..');

/** The path of the program: the environment variable TENBIN, or Cargo's debug build. */
export function program(): string {
  const path = process.env.TENBIN ?? join(ui, '..', 'target', 'debug', 'tenbin');
  if (!existsSync(path)) {
    throw new Error(
      `no program at ${path}: run cargo build -p tenbin, or name it in the environment variable TENBIN`,
    );
  }
  return path;
}

/** Writes the pages into this folder, one after the other: parallel loads would disturb each other. */
export async function writtenPages(folder: string): Promise<Partial<Record<PageName, Made>>> {
  const store = ['--store', join(folder, 'tenbin.sqlite')];
  const tenbin = async (...args: string[]): Promise<string> => {
    const limits = { timeout: 60_000, maxBuffer: 64 << 20 };
    try {
      return (await run(program(), [...args, ...store], limits)).stdout;
    } catch (error) {
      // Exit code 6 (degraded): the run with an unexpected status. It is stored all the same.
      const { code, stdout } = error as { code?: number; stdout?: string };
      if (code === 6 && stdout !== undefined) return stdout;
      throw error;
    }
  };
  const made: Partial<Record<PageName, Made>> = {};
  const write = async (name: (typeof WRITTEN)[number], ...runs: string[]): Promise<void> => {
    const file = join(folder, `${name}.html`);
    try {
      writeFileSync(file, await tenbin('report', '--format', 'html', ...runs));
      made[name] = { file };
    } catch (error) {
      made[name] = { error: String(error) };
    }
  };
  await tenbin('run', join(import.meta.dirname, 'tiny.yaml'));
  await write('written-study', 'last');
  await withTarget(async (url) => {
    await tenbin('-c', '4', '-d', '1s', `${url}/hold?dist=exp&mean_us=1000`);
    await write('written-run', 'last');
    await tenbin('-c', '4', '-d', '1s', '--expect-status', '201', `${url}/hold?dist=exp&mean_us=1000`);
  });
  const runs = (await tenbin('history')).match(/^\d{8}-\S+/gm) ?? [];
  await write('written-runs', ...runs);
  return made;
}

/** Starts the built-in target on a free port, and stops it afterwards. */
async function withTarget(use: (url: string) => Promise<void>): Promise<void> {
  const target = spawn(program(), ['target', '--listen', '127.0.0.1:0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let text = '';
      const hear = (part: Buffer): void => {
        text += part.toString();
        const found = /listening on (http:\/\/[^/\s]+)/.exec(text)?.[1];
        if (found) resolve(found);
      };
      target.stdout.on('data', hear);
      target.stderr.on('data', hear);
      target.on('error', reject);
      target.on('exit', () => {
        reject(new Error(`the target exited: ${text}`));
      });
      setTimeout(() => {
        reject(new Error(`the target did not listen within 10 s: ${text}`));
      }, 10_000).unref();
    });
    await use(url);
  } finally {
    target.kill();
  }
}
