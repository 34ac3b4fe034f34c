/** The few figures that people ask for first: of the best of each system, of one run, or of runs side by side. */

import type { Bottleneck, Figures, Load, Report, Row } from '../report';
import { h, type Child } from '../dom';
import { colorClass } from '../colors';
import { decimal, figure } from '../format';
import { numberOf } from '../views/counted';
import { lost, shown } from '../views/glance';

interface Column {
  head: string;
  about: string;
  cell: (figures: Figures, row: Row) => Child;
}

export function glance(report: Report, load: Load): HTMLElement | null {
  const places = shown(report, load);
  const known = places.filter((place) => load.rows[place]?.figures);
  if (known.length === 0) return null;
  if (report.kind === 'run') return ofRun(report, load, places[0] ?? 0);
  const columns = columnsOf(report, load);
  const name = report.kind === 'study' ? 'Best of each system' : 'Run';
  const hasBottlenecks = load.bottlenecks.some(({ row }) => places.includes(row));
  const most = Math.max(...places.map((place) => load.rows[place]?.metric?.median ?? 0));
  const table = h(
    'table',
    { class: 'glance' },
    h('caption', { class: 'unseen' }, `${name}: what it did, and what limited it`),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', { scope: 'col' }, name),
        ...columns.map(({ head, about }) =>
          h('th', { scope: 'col' }, head, about === '' ? null : h('small', {}, about)),
        ),
        hasBottlenecks ? h('th', { scope: 'col', class: 'words' }, 'What limited it') : null,
      ),
    ),
    h(
      'tbody',
      {},
      ...places.map((place) =>
        line(report, load, place, columns, hasBottlenecks ? bottleneckOf(load, place) : null, most),
      ),
      ...lost(report, load).map(({ system, words }) =>
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, h('span', { class: 'name' }, system)),
          h('td', { class: 'words', colspan: columns.length + (hasBottlenecks ? 1 : 0) }, words),
        ),
      ),
    ),
  );
  return h('div', { class: 'panel glance-panel' }, table);
}

function columnsOf({ counted }: Report, load: Load): Column[] {
  const { metric } = load;
  // Beside the bar of a percentile over runs, the same one of all runs together would seem to contradict it.
  const times: [name: string, column: Column][] = [
    ['p50', { head: 'median', about: 'response', cell: ({ response_ms }) => figure(response_ms.p50, 'ms') }],
    ['p99', { head: '99 %', about: 'response', cell: ({ response_ms }) => figure(response_ms.p99, 'ms') }],
  ];
  const columns: Column[] = [
    ...times.filter(([name]) => name !== metric.name).map(([, column]) => column),
    { head: 'errors', about: '', cell: ({ error_share }) => figure(error_share, 'share') },
    {
      head: 'CPU',
      about: `per ${counted.one}`,
      cell: ({ system_us_per_request: us }) => (us === null ? '–' : figure(us, 'us')),
    },
    {
      head: 'memory',
      about: 'at most',
      cell: ({ rss_peak_bytes: rss }) => (rss === null ? '–' : figure(rss, 'bytes')),
    },
  ];
  if (metric.unit === 'per_s') return columns;
  return [
    { head: counted.answers, about: 'ok', cell: ({ ok_per_s }) => figure(ok_per_s, 'per_s') },
    ...columns,
  ];
}

function line(
  report: Report,
  load: Load,
  place: number,
  columns: Column[],
  bottleneck: HTMLElement | null,
  most: number,
): HTMLElement {
  const row = load.rows[place];
  if (!row) return h('tr');
  const { figures, metric } = row;
  const cells = columns.map(({ head, about, cell }) =>
    h('td', { class: 'figure', 'data-head': `${head} ${about}`.trim() }, figures ? cell(figures, row) : '–'),
  );
  return h(
    'tr',
    { class: colorClass(report, load, place) },
    h(
      'th',
      { scope: 'row' },
      h('span', { class: 'name' }, row.system),
      row.variant === '' ? null : h('span', { class: 'variant' }, row.variant),
      metric === null ? h('span', { class: 'variant' }, 'nothing measured') : bar(load, metric, most),
    ),
    ...cells,
    bottleneck,
  );
}

/** The metric as a length from zero, its figure, and from where to where its runs go. */
function bar(
  { metric: { unit, words } }: Load,
  { median, min, max, n }: NonNullable<Row['metric']>,
  most: number,
): HTMLElement {
  const length = h('span', { class: 'length' });
  length.style.width = `${most > 0 ? (median / most) * 100 : 0}%`;
  const range = n > 1 && min !== max ? `${figure(min, unit)} – ${figure(max, unit)} in ${n} runs` : '';
  return h(
    'span',
    { class: 'metric' },
    h('span', { class: 'track', 'aria-hidden': 'true' }, length),
    h('strong', {}, figure(median, unit)),
    h('span', { class: 'range' }, [words, range].filter((text) => text !== '').join(' · ')),
  );
}

function bottleneckOf(load: Load, place: number): HTMLElement {
  const all = load.bottlenecks.filter(({ row }) => row === place);
  return h(
    'td',
    { class: 'words', 'data-head': 'what limited it' },
    ...(all.length > 0 ? all.map(bottleneckText) : ['–']),
  );
}

function bottleneckText({ what, because, certainty }: Bottleneck): HTMLElement {
  return h(
    'span',
    { class: 'bottleneck' },
    certainty === 'suspected' ? h('span', { class: 'suspected' }, 'suspected: ') : null,
    h('strong', {}, what),
    because === '' ? null : h('span', { class: 'because' }, because),
  );
}

/** One run: its figures, large. */
function ofRun(report: Report, load: Load, place: number): HTMLElement {
  const row = load.rows[place];
  const of = row?.figures;
  const figures: [string, string, string][] = of
    ? [
        [
          `${report.counted.answers} ok`,
          figure(of.ok_per_s, 'per_s'),
          `of ${numberOf(report, of.samples)} that ended`,
        ],
        ['median', figure(of.response_ms.p50, 'ms'), `service ${figure(of.service_ms.p50, 'ms')}`],
        ['99 %', figure(of.response_ms.p99, 'ms'), `service ${figure(of.service_ms.p99, 'ms')}`],
        ['errors', figure(of.error_share, 'share'), bad(of)],
        [
          'CPU of the system',
          figure(of.system_cores, 'cores'),
          `generator ${figure(of.generator_cores, 'cores')}`,
        ],
        ['memory', figure(of.rss_peak_bytes, 'bytes'), 'at most'],
      ]
    : [];
  const bottlenecks = load.bottlenecks.filter(({ row }) => row === place);
  return h(
    'div',
    { class: 'panel figures-panel' },
    h(
      'dl',
      { class: 'big' },
      ...figures
        .filter(([, value]) => value !== 'n/a')
        .map(([name, value, below]) =>
          h('div', {}, h('dt', {}, name), h('dd', {}, value, h('small', {}, below))),
        ),
    ),
    bottlenecks.length === 0
      ? null
      : h(
          'div',
          { class: 'bottlenecks' },
          h('h3', {}, 'What limited it'),
          ...bottlenecks.map(bottleneckText),
        ),
  );
}

function bad({ counts }: Figures): string {
  const kinds: [string, number][] = [
    ['rejected', counts.rejected],
    ['failed', counts.failed],
    ['timed out', counts.timed_out],
    ['unfinished', counts.unfinished],
    ['not sent', counts.not_sent],
  ];
  const there = kinds.filter(([, count]) => count > 0).map(([name, count]) => `${decimal(count, 0)} ${name}`);
  return there.length === 0 ? 'all answered ok' : there.join(', ');
}
