/** Builds one script and one style sheet, which Tenbin embeds in each page. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** uPlot's license requires this notice in every copy, and each report contains one. */
const uPlotLicense = readFileSync(join(import.meta.dirname, 'node_modules/uplot/LICENSE'), 'utf8').trim();

export default defineConfig({
  build: {
    target: ['chrome111', 'firefox115', 'safari16.4'],
    lib: {
      entry: 'src/main.ts',
      formats: ['iife'],
      name: 'tenbin',
      fileName: () => 'page.js',
      cssFileName: 'page',
    },
    rolldownOptions: {
      output: {
        postBanner: `/*! Tenbin's report page, Apache-2.0. It contains uPlot:\n\n${uPlotLicense}\n*/`,
      },
    },
  },
  define: { 'process.env.NODE_ENV': '"production"' },
  test: {
    include: ['src/**/*.test.ts'],
    setupFiles: ['src/jsdom.setup.ts'],
    environment: 'jsdom',
    isolate: false,
  },
});
