/** What the page shows, in order: groups with a heading each. What has nothing to show is left out. */

import type { Load, Report } from './report';
import { capacity } from './sections/capacity';
import { commands, facts } from './sections/facts';
import { gates } from './sections/gates';
import { glance } from './sections/glance';
import { plan } from './sections/plan';
import { raws } from './sections/raw';
import { statements, steps } from './sections/steps';
import { table } from './sections/table';
import { pairs } from './sections/pairs';
import { errors } from './sections/errors';
import { fairness } from './sections/fairness';
import { latencyLoad } from './sections/latency_load';
import { runs } from './sections/runs';
import { sweep } from './sections/sweep';
import { twoKnobs } from './sections/two_knobs';
import { resources } from './sections/resources';
import { spectrum } from './sections/spectrum';
import { time } from './sections/time';

export type Section = (report: Report) => HTMLElement | null;

/** Of one load; `report.loads` has it. */
export type LoadSection = (report: Report, load: Load) => HTMLElement | null;

/** Sections below one heading, which the navigation leads to. */
export interface Group<S> {
  /** Of links to it. */
  id: string;
  title: string;
  /** The same in a word, for the navigation. */
  link: string;
  sections: S[];
}

/** About each load; several loads take turns. */
export const SECTIONS_OF_A_LOAD: Group<LoadSection>[] = [
  { id: 'glance', title: 'At a glance', link: 'Glance', sections: [glance, gates] },
  { id: 'figures', title: 'All figures', link: 'Figures', sections: [table, steps, statements] },
  { id: 'runs', title: 'Run by run', link: 'Runs', sections: [pairs, runs] },
  { id: 'settings', title: 'By setting', link: 'Settings', sections: [sweep, twoKnobs] },
  { id: 'percentiles', title: 'Percentiles', link: 'Percentiles', sections: [spectrum] },
  { id: 'time', title: 'Over time', link: 'Time', sections: [time, resources] },
  { id: 'latency', title: 'Latency and load', link: 'Load', sections: [latencyLoad] },
  { id: 'errors', title: 'Errors', link: 'Errors', sections: [errors] },
  { id: 'fairness', title: 'Fairness', link: 'Fairness', sections: [fairness] },
];

/** About the whole, below the loads. The head stands above them: `sections/head.ts`. */
export const SECTIONS: Group<Section>[] = [
  { id: 'capacity', title: 'How much it bears', link: 'Capacity', sections: [capacity] },
  { id: 'how', title: 'How it was measured', link: 'Method', sections: [facts, commands, plan, raws] },
];
