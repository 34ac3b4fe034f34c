/** Runs a tool written in TypeScript: `node tools/start.js tools/page.ts ARGUMENTS`. */

import { runnerImport } from 'vite';

const [tool, ...rest] = process.argv.slice(2);
const { module } = await runnerImport(`./${tool}`);
await module.main(rest);
