/** The raw data of all runs, one row per run. */

import type { Counts, Figures, Report, Run, Times } from '../report';
import type { MinMedianMax } from '../report_fairness';
import type { Numbers } from '../numbers';

type Cell = string | number | null;
type Column<T> = [head: string, cell: (of: T) => Cell];

const OUTCOMES = [
  'planned',
  'sent',
  'not_sent',
  'ok',
  'rejected',
  'failed',
  'timed_out',
  'unfinished',
] as const satisfies (keyof Counts)[];

/** Column titles end with the unit, as in the other formats: `response p99 ms`. */
export function raw(report: Report): Numbers {
  const columns = [...ofRun(report), ...figures(report), ...fairness(report)];
  return {
    heads: columns.map(([head]) => head),
    rows: report.runs.map((run) => columns.map(([, cell]) => cell(run))),
  };
}

function ofRun(report: Report): Column<Run>[] {
  const row = (run: Run) => report.loads[run.load]?.rows[run.row];
  const all = report.loads.flatMap(({ rows }) =>
    rows.flatMap(({ parameters }) => parameters.map(({ name }) => name)),
  );
  const parameters = [...new Set(all)];
  return [
    ['run', ({ id }) => id],
    ['load', (run) => report.loads[run.load]?.name ?? null],
    ['system', (run) => row(run)?.system ?? null],
    ...parameters.map((parameter): Column<Run> => [
      parameter,
      (run) => row(run)?.parameters.find(({ name }) => name === parameter)?.value ?? null,
    ]),
    // Blocks are numbered from 1.
    ['block', ({ block }) => (block === null ? null : block + 1)],
    ['status', ({ standing }) => standing.replace('_', ' ')],
    ['verdict', ({ verdict }) => verdict],
    ['validity', ({ validity }) => validity],
    ['started', ({ begun }) => begun],
    ['warm-up s', ({ warm_up_s }) => warm_up_s],
    ['duration s', ({ duration_s }) => duration_s],
  ];
}

function figures({ counted: { one }, runs }: Report): Column<Run>[] {
  const of = (head: string, cell: (figures: Figures) => Cell): Column<Run> => [
    head,
    (run) => (run.figures ? cell(run.figures) : null),
  ];
  // All percentiles of the report, in their order.
  const first = runs.find((run) => run.figures)?.figures?.response_ms ?? {};
  const keys = Object.keys(first).filter((key) => key !== 'n') as (keyof Times)[];
  const times = (name: string, pick: (figures: Figures) => Times): Column<Run>[] =>
    keys.map((key) => of(`${name} ${key.replace('_', '.')} ms`, (figures) => pick(figures)[key] ?? null));
  return [
    of('samples', ({ samples }) => samples),
    ...OUTCOMES.map((key) => of(key.replace('_', ' '), ({ counts }) => counts[key])),
    of('ok per s', ({ ok_per_s }) => ok_per_s),
    of('error share', ({ error_share }) => error_share),
    ...times('response', ({ response_ms }) => response_ms),
    ...times('service', ({ service_ms }) => service_ms),
    ...times('send delay', ({ lateness_ms }) => lateness_ms),
    of('received bytes', ({ received_bytes }) => received_bytes),
    of('sent bytes', ({ sent_bytes }) => sent_bytes),
    of('system cores', ({ system_cores }) => system_cores),
    of('generator cores', ({ generator_cores }) => generator_cores),
    of(`system us per ${one}`, ({ system_us_per_request }) => system_us_per_request),
    of(`generator us per ${one}`, ({ generator_us_per_request }) => generator_us_per_request),
    of('rss peak bytes', ({ rss_peak_bytes }) => rss_peak_bytes),
  ];
}

function fairness({ counted: { many } }: Report): Column<Run>[] {
  const three = (name: string, unit: string, pick: (run: Run) => MinMedianMax | null): Column<Run>[] =>
    (['min', 'median', 'max'] as const).map((key) => [
      `${name} ${key} ${unit}`.trim(),
      (run) => pick(run)?.[key] ?? null,
    ]);
  return [
    ['connections', ({ fairness: of }) => of?.connections ?? null],
    ...three(`${many} per connection`, '', ({ fairness: of }) => of?.requests ?? null),
    ...three('response mean per connection', 'ms', ({ fairness: of }) => of?.response_mean_ms ?? null),
    ...three('response max per connection', 'ms', ({ fairness: of }) => of?.response_max_ms ?? null),
  ];
}
