/** What the page shows, in order: groups with a heading each. What has nothing to show is left out. */

import type { Load, Report } from './report';

export type Section = (report: Report) => HTMLElement | null;

/** Of one load; `report.loads` has it. */
export type LoadSection = (report: Report, load: Load) => HTMLElement | null;

/** Sections below one heading, which the navigation leads to. */
export interface Group<S> {
  /** Of links to it. */
  id: string;
  title: string;
  sections: S[];
}

/** About each load; several loads take turns. */
export const SECTIONS_OF_A_LOAD: Group<LoadSection>[] = [
  { id: 'glance', title: 'At a glance', sections: [] },
  { id: 'figures', title: 'All figures', sections: [] },
  { id: 'runs', title: 'Run by run', sections: [] },
  { id: 'settings', title: 'By setting', sections: [] },
  { id: 'percentiles', title: 'Percentiles', sections: [] },
  { id: 'time', title: 'Over time', sections: [] },
  { id: 'load', title: 'Latency and load', sections: [] },
  { id: 'errors', title: 'Errors', sections: [] },
  { id: 'fairness', title: 'Fairness', sections: [] },
];

/** About the whole, below the loads. The head stands above them: `sections/head.ts`. */
export const SECTIONS: Group<Section>[] = [{ id: 'how', title: 'How it was measured', sections: [] }];
