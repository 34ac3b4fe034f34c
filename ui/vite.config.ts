/** One script and one style sheet, which the report writer of Tenbin puts into each page. */
import { defineConfig } from 'vitest/config';

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
  },
  define: { 'process.env.NODE_ENV': '"production"' },
  test: { include: ['src/**/*.test.ts'], environment: 'jsdom' },
});
