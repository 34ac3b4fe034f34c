/** Resource use over time: CPU, memory, context switches, and queues. */

import type { Load, Report, Track } from '../report';
import { isOfLoad, linesOf } from '../views/bins';
import { hasCurves } from '../views/choice';
import { append, h } from '../dom';
import { panesOf, type Panes } from './panes';
import { timeCard } from './time';

export function resources(report: Report, load: Load): HTMLElement | null {
  const charts = report.charts.filter((chart) => !isOfLoad(chart));
  const panes = panesOf(report, load);
  if (!panes || charts.length === 0 || !hasCurves(report, load)) return null;
  return timeCard(report, load, panes, {
    id: 'resources-over-time',
    title: 'Resource use over time',
    about:
      'Sampled once per second, separately for the system and the generator. x: time since the end of the warm-up, in minutes and seconds.',
    charts,
    below: (host) => {
      append(host, ...missing(report, panes).map((text) => h('p', { class: 'nothing' }, text)));
    },
  });
}

const MISSING: [Track['subject'], string][] = [
  ['system', 'No data about the system in these runs: Tenbin can only sample local processes.'],
  ['generator', 'No data about the generator in these runs.'],
  ['machine', 'No data about the machine and its cores in these runs.'],
];

/** Subjects without data in all shown runs. */
function missing(report: Report, panes: Panes): string[] {
  const series = panes.runs.flatMap((run) => report.runs[run]?.series ?? []);
  const subjects = new Set(
    report.charts
      .filter((chart) => !isOfLoad(chart))
      .flatMap((chart) => series.flatMap((each) => linesOf(chart, each).map(({ track }) => track.subject))),
  );
  return MISSING.flatMap(([subject, text]) => (subjects.has(subject) ? [] : [text]));
}
