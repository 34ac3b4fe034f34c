/** What it cost: cores, memory, context switches and queues below the load that caused them, on the same time. */

import type { Load, Report, Track } from '../report';
import { isOfLoad, linesOf } from '../views/bins';
import { append, h } from '../dom';
import { panesOf, type Panes } from './panes';
import { timeCard } from './time';

export function resources(report: Report, load: Load): HTMLElement | null {
  const charts = report.charts.filter((chart) => !isOfLoad(chart));
  const panes = panesOf(report, load);
  if (!panes || charts.length === 0) return null;
  return timeCard(report, load, panes, {
    id: 'what-it-took',
    title: 'What it took',
    about:
      'Read once a second while the load went on, the system and the generator apart. Time since the load began, in minutes and seconds.',
    charts,
    below: (host) => {
      append(host, ...missing(report, panes).map((text) => h('p', { class: 'nothing' }, text)));
    },
  });
}

const MISSING: [Track['subject'], string][] = [
  [
    'system',
    'Of the system itself nothing was read in these runs: Tenbin reads only processes that it can see.',
  ],
  ['generator', 'Of the generator nothing was read in these runs.'],
  ['machine', 'Of the machine and its cores nothing was read in these runs.'],
];

/** Whole groups of figures that no shown run has. */
function missing(report: Report, panes: Panes): string[] {
  const series = panes.runs.flatMap((run) => report.runs[run]?.series ?? []);
  const subjects = new Set(
    report.charts
      .filter((chart) => !isOfLoad(chart))
      .flatMap((chart) => series.flatMap((each) => linesOf(chart, each).map(({ track }) => track.subject))),
  );
  return MISSING.flatMap(([subject, text]) => (subjects.has(subject) ? [] : [text]));
}
