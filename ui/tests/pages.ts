/** The pages under test: fixtures, and reports written by the program. */

export const FIXTURES = ['study', 'run', 'runs', 'capacity', 'hostile'] as const;
export const WRITTEN = ['written-study', 'written-run', 'written-runs'] as const;
export const PAGES = [...FIXTURES, ...WRITTEN];

export type PageName = (typeof PAGES)[number];

/** The path of a page, or the error that prevented it. */
export type Made = { file: string } | { error: string };

declare module 'vitest' {
  interface ProvidedContext {
    /** The endpoint of the shared browser. */
    chromium: string;
    /** A folder for pages that tests create; removed at the end. */
    folder: string;
    pages: Partial<Record<PageName, Made>>;
  }
}
