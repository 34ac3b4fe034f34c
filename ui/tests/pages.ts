/** The pages that the tests open: made-up reports, and reports that the program has written. */

export const FIXTURES = ['study', 'run', 'runs', 'capacity', 'hostile'] as const;
export const WRITTEN = ['written-study', 'written-run', 'written-runs'] as const;
export const PAGES = [...FIXTURES, ...WRITTEN];

export type PageName = (typeof PAGES)[number];

/** Where a page is, or why there is none. */
export type Made = { file: string } | { error: string };

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the browser of all tests listens. */
    chromium: string;
    /** For pages that a test makes itself; removed at the end. */
    folder: string;
    pages: Partial<Record<PageName, Made>>;
  }
}
