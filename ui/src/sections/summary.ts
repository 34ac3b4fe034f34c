/** The key metrics: of the best variant of each system, of one run, or of runs side by side. */

import type { Bottleneck, Figures, Load, Report, Row } from '../report';
import { h, type Child } from '../dom';
import { colorClass } from '../colors';
import { decimal, formatValue } from '../format';
import { countText } from '../views/counted';
import { shareWords } from '../views/causes';
import { unranked, summaryRows } from '../views/summary';

interface Column {
  head: string;
  about: string;
  cell: (figures: Figures, row: Row) => Child;
}

export function summary(report: Report, load: Load): HTMLElement | null {
  const indexes = summaryRows(report, load);
  const known = indexes.filter((index) => load.rows[index]?.figures);
  if (known.length === 0) return null;
  if (report.kind === 'run') return ofRun(report, load, indexes[0] ?? 0);
  const columns = columnsOf(report, load);
  const name = report.kind === 'study' ? 'Best variant of each system' : 'Run';
  const hasBottlenecks = load.bottlenecks.some(({ row }) => indexes.includes(row));
  const most = Math.max(...indexes.map((index) => load.rows[index]?.metric?.median ?? 0));
  const table = h(
    'table',
    { class: 'summary' },
    h('caption', { class: 'unseen' }, `${name}: key metrics and likely bottleneck`),
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
        hasBottlenecks ? h('th', { scope: 'col', class: 'words' }, 'Likely bottleneck') : null,
      ),
    ),
    h(
      'tbody',
      {},
      ...indexes.map((index) =>
        line(report, load, index, columns, hasBottlenecks ? bottleneckOf(load, index) : null, most),
      ),
      ...unranked(report, load).map(({ system, words }) =>
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, h('span', { class: 'name' }, system)),
          h('td', { class: 'words', colspan: columns.length + (hasBottlenecks ? 1 : 0) }, words),
        ),
      ),
    ),
  );
  return h('div', { class: 'panel summary-panel' }, table);
}

function columnsOf({ counted }: Report, load: Load): Column[] {
  const { metric } = load;
  // The bar shows the median of the runs; the percentile over all samples next to it would look like a contradiction.
  const times: [name: string, column: Column][] = [
    [
      'p50',
      { head: 'p50', about: 'response time', cell: ({ response_ms }) => formatValue(response_ms.p50, 'ms') },
    ],
    [
      'p99',
      { head: 'p99', about: 'response time', cell: ({ response_ms }) => formatValue(response_ms.p99, 'ms') },
    ],
  ];
  const columns: Column[] = [
    ...times.filter(([name]) => name !== metric.name).map(([, column]) => column),
    { head: 'errors', about: '', cell: ({ error_share }) => formatValue(error_share, 'share') },
    {
      head: 'CPU',
      about: `per ${counted.one}`,
      cell: ({ system_us_per_request: us }) => (us === null ? '–' : formatValue(us, 'us')),
    },
    {
      head: 'memory',
      about: 'peak',
      cell: ({ rss_peak_bytes: rss }) => (rss === null ? '–' : formatValue(rss, 'bytes')),
    },
  ];
  if (metric.unit === 'per_s') return columns;
  return [
    { head: counted.answers, about: 'ok', cell: ({ ok_per_s }) => formatValue(ok_per_s, 'per_s') },
    ...columns,
  ];
}

function line(
  report: Report,
  load: Load,
  index: number,
  columns: Column[],
  bottleneck: HTMLElement | null,
  most: number,
): HTMLElement {
  const row = load.rows[index];
  if (!row) return h('tr');
  const { figures, metric } = row;
  const cells = columns.map(({ head, about, cell }) =>
    h('td', { class: 'figure', 'data-head': `${head} ${about}`.trim() }, figures ? cell(figures, row) : '–'),
  );
  return h(
    'tr',
    { class: colorClass(report, load, index) },
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

/** The metric as a bar from zero, with its value and the range of its runs. */
function bar(
  { metric: { unit, words } }: Load,
  { median, min, max, n }: NonNullable<Row['metric']>,
  most: number,
): HTMLElement {
  const length = h('span', { class: 'length' });
  length.style.width = `${most > 0 ? (median / most) * 100 : 0}%`;
  const range =
    n > 1 && min !== max ? `${formatValue(min, unit)} – ${formatValue(max, unit)} (n = ${n} runs)` : '';
  return h(
    'span',
    { class: 'metric' },
    h('span', { class: 'track', 'aria-hidden': 'true' }, length),
    h('strong', {}, formatValue(median, unit)),
    h('span', { class: 'range' }, [words, range].filter((text) => text !== '').join(' · ')),
  );
}

function bottleneckOf(load: Load, index: number): HTMLElement {
  const all = load.bottlenecks.filter(({ row }) => row === index);
  return h(
    'td',
    { class: 'words', 'data-head': 'likely bottleneck' },
    ...(all.length > 0 ? all.map(bottleneckText) : ['–']),
  );
}

function bottleneckText({ causes: [first], certainty }: Bottleneck): HTMLElement | null {
  if (!first) return null;
  return h(
    'span',
    { class: 'bottleneck' },
    certainty === 'suspected' ? h('span', { class: 'suspected' }, 'suspected: ') : null,
    h('strong', {}, first.what),
    h('span', { class: 'because' }, shareWords(first)),
  );
}

/** The key metrics of a single run. */
function ofRun(report: Report, load: Load, index: number): HTMLElement {
  const row = load.rows[index];
  const of = row?.figures;
  const figures: [string, string, string][] = of
    ? [
        [
          `${report.counted.answers} ok`,
          formatValue(of.ok_per_s, 'per_s'),
          `n = ${countText(report, of.samples)}`,
        ],
        [
          'p50',
          formatValue(of.response_ms.p50, 'ms'),
          `service time ${formatValue(of.service_ms.p50, 'ms')}`,
        ],
        [
          'p99',
          formatValue(of.response_ms.p99, 'ms'),
          `service time ${formatValue(of.service_ms.p99, 'ms')}`,
        ],
        ['errors', formatValue(of.error_share, 'share'), bad(of)],
        [
          'CPU of the system',
          formatValue(of.system_cores, 'cores'),
          `generator ${formatValue(of.generator_cores, 'cores')}`,
        ],
        ['memory', formatValue(of.rss_peak_bytes, 'bytes'), 'peak'],
      ]
    : [];
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
  return there.length === 0 ? 'all ok' : there.join(', ');
}
