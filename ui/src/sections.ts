/** The contents of the page, in order: groups of sections, each with a heading. Empty groups are omitted. */

import type { Load, Report } from './report';
import { capacity } from './sections/capacity';
import { commands, facts } from './sections/facts';
import { causes } from './sections/causes';
import { gates } from './sections/gates';
import { summary } from './sections/summary';
import { cpuProfiles } from './sections/cpu_profiles';
import { plan } from './sections/plan';
import { rawData } from './sections/raw';
import { statements, steps } from './sections/steps';
import { costs } from './sections/costs';
import { table } from './sections/table';
import { pairs } from './sections/pairs';
import { eventCosts } from './sections/event_costs';
import { events } from './sections/events';
import { experiment } from './sections/experiment';
import { statementTimes } from './sections/statement_times';
import { whySlower } from './sections/why_slower';
import { errors } from './sections/errors';
import { fairness } from './sections/fairness';
import { latencyLoad } from './sections/latency_load';
import { runs } from './sections/runs';
import { parameters } from './sections/parameters';
import { heatMaps } from './sections/heat_maps';
import { resources } from './sections/resources';
import { spectrum } from './sections/spectrum';
import { time } from './sections/time';

export type Section = (report: Report) => HTMLElement | null;

/** A section about one load of `report.loads`. */
export type LoadSection = (report: Report, load: Load) => HTMLElement | null;

/** Sections below one heading, with a link in the navigation. */
export interface Group<S> {
  /** The target of links. */
  id: string;
  title: string;
  /** The short title for the navigation. */
  link: string;
  sections: S[];
}

/** The groups about each load; one load is shown at a time. */
export const SECTIONS_OF_A_LOAD: Group<LoadSection>[] = [
  {
    id: 'summary',
    title: 'Summary',
    link: 'Summary',
    sections: [summary, causes, whySlower, experiment, gates],
  },
  {
    id: 'metrics',
    title: 'All metrics',
    link: 'Metrics',
    sections: [table, steps, statements, statementTimes, costs],
  },
  { id: 'runs', title: 'Runs', link: 'Runs', sections: [pairs, runs] },
  { id: 'parameters', title: 'Effect of parameters', link: 'Parameters', sections: [parameters, heatMaps] },
  { id: 'percentiles', title: 'Percentiles', link: 'Percentiles', sections: [spectrum] },
  { id: 'events', title: 'Events', link: 'Events', sections: [eventCosts] },
  { id: 'time', title: 'Over time', link: 'Over time', sections: [time, events, resources] },
  { id: 'cpu-time', title: 'CPU time by function', link: 'CPU time', sections: [cpuProfiles] },
  { id: 'latency', title: 'Latency vs. throughput', link: 'Latency', sections: [latencyLoad] },
  { id: 'errors', title: 'Errors', link: 'Errors', sections: [errors] },
  { id: 'fairness', title: 'Fairness', link: 'Fairness', sections: [fairness] },
];

/** The groups about the whole report, below the loads. The header is in `sections/head.ts`. */
export const SECTIONS: Group<Section>[] = [
  { id: 'capacity', title: 'Maximum sustainable load', link: 'Capacity', sections: [capacity] },
  { id: 'method', title: 'Method and raw data', link: 'Method', sections: [facts, commands, plan, rawData] },
];
