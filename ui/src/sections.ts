/** What the page shows, in order. A section without anything to show is null. */

import type { Load, Report } from './report';

export type Section = (report: Report) => HTMLElement | null;

/** Of one load; `report.loads` has it. */
export type LoadSection = (report: Report, load: Load) => HTMLElement | null;

export const SECTIONS: { before: Section[]; after: Section[] } = { before: [], after: [] };

export const SECTIONS_OF_A_LOAD: LoadSection[] = [];
