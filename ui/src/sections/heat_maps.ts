/**
 * Grids of two parameters, for each system that varies at least two: by the comparison metric with ratios and verdicts, by others as heat
 * maps.
 */

import type { Load, Report, Row } from '../report';
import type { Compared } from '../report_compared';
import { card, redraw } from '../card';
import { append, h, s } from '../dom';
import { formatValue } from '../format';
import { choice } from '../charts/choice';
import { gridChart } from '../charts/grid';
import { grids, type Grid } from '../views/parameters';
import { extent, aggregation, measures, rowValue, titled, type Measure } from '../views/measures';
import { columnTitle, selectOptions, rowTooltip, sampleSize } from '../views/labels';
import { tickText } from '../views/scale';

/** The current selection. */
interface View {
  report: Report;
  load: Load;
  one: Measure;
}

/** The maximum number of heat maps. */
const GRIDS = 24;

export function heatMaps(report: Report, load: Load): HTMLElement | null {
  const all = measures(report, load);
  const one = all[0];
  const mine = grids(load, GRIDS + 1);
  if (report.kind !== 'study' || one === undefined || mine.length === 0) return null;
  const view: View = { report, load, one };
  const drawn = mine.slice(0, GRIDS);
  const element = card({
    id: `heat-map-${report.loads.indexOf(load) + 1}`,
    title: 'Grid of two parameters',
    about: `one cell per variant, all valid runs combined · ${sampleSize(report, load)}`,
    ...(mine.length > GRIDS
      ? { help: `Shows only the first ${GRIDS} combinations of the other parameters.` }
      : {}),
    controls: [
      choice('Show', selectOptions(all), one.key, (key) => {
        view.one = all.find((each) => each.key === key) ?? one;
        redraw(element);
      }),
    ],
    draw: (host, width) => {
      drawHeatMaps(host, width, view, drawn);
    },
    numbers: () => ({
      heads: [
        'system',
        'other parameters',
        'parameter',
        'value',
        'parameter',
        'value',
        ...all.map(columnTitle),
        ...(isCompared(load) ? ['compared', 'verdict'] : []),
      ],
      rows: drawn.flatMap((grid) =>
        grid.cells.flatMap((cells, line) =>
          cells.map((row, column) => [
            grid.system,
            grid.others,
            grid.y,
            grid.lines[line] ?? '',
            grid.x,
            grid.columns[column] ?? '',
            ...all.map((each) => (row ? rowValue(load, row, each) : null)),
            ...(isCompared(load) ? [row?.compared?.text ?? null, row?.compared?.verdict ?? null] : []),
          ]),
        ),
      ),
    }),
  });
  return element;
}

function drawHeatMaps(host: HTMLElement, width: number, view: View, drawn: Grid[]): void {
  const { report, load, one } = view;
  const value = (row: Row): number | null => rowValue(load, row, one);
  const known = extent(drawn.flatMap((grid) => grid.cells.flat().map((row) => (row ? value(row) : null))));
  const range = known ?? [0, 1];
  const inWords = writer(one, range[1]);
  const byVerdict = isCompared(load) && one.key === load.metric.name;
  append(
    host,
    h('div', { class: 'chart-box' }, h('h4', {}, `${titled(one.words)}, ${aggregation(load, one)}`)),
    known && (byVerdict ? keyOfVerdicts(load) : scaleOfHeat(known, one)),
  );
  const maps = drawn.map((grid) => {
    const name = grid.others === '' ? grid.system : `${grid.system} ${grid.others}`;
    const lines = (row: Row): string[] => rowTooltip(report, load, row, one);
    const element = gridChart({
      report,
      grid,
      width,
      range,
      is_log: one.is_log,
      value,
      inWords,
      lines,
      compared: byVerdict ? (row) => row.compared ?? null : null,
    });
    return h('div', { class: 'chart-box' }, h('h4', {}, name), element);
  });
  append(host, h('div', { class: 'maps' }, ...maps));
}

/** Formats cells in the unit of the title, with at most four digits. */
function writer(one: Measure, high: number): (value: number) => string {
  const digits = (value: number): number => Number(value.toPrecision(value >= 1000 ? 4 : 3));
  return (value) => tickText(digits(value), one.unit, Math.max(high, value)).replace(/\/s$/, '');
}

/** Whether a row of the load has a ratio or a reason why it has none. */
function isCompared(load: Load): boolean {
  return load.rows.some((row) => row.compared !== undefined);
}

const VERDICTS: [Compared['verdict'], string][] = [
  ['better', 'better'],
  ['worse', 'worse'],
  ['below', 'below the threshold'],
  ['equivalent', 'equivalent'],
  ['inconclusive', '? inconclusive'],
  ['none', 'no verdict'],
];

/** The reference of the ratios, and the colors of the verdicts that occur. */
function keyOfVerdicts(load: Load): HTMLElement {
  const baseline = load.baseline === null ? null : load.rows[load.baseline];
  const sign = load.metric.scale === 'ratio' ? '÷' : '−';
  const from = baseline ? `below: ${sign} ${baseline.name}` : `below: best ${sign} this`;
  const present = VERDICTS.filter(([verdict]) => load.rows.some((row) => row.compared?.verdict === verdict));
  return h(
    'p',
    { class: 'heat-scale' },
    from,
    ...present.map(([verdict, words]) =>
      h(
        'span',
        { class: 'verdict-key' },
        s(
          'svg',
          { class: 'chart', width: 14, height: 12, viewBox: '0 0 14 12', 'aria-hidden': 'true' },
          s('rect', { class: `heat verdict-${verdict}`, x: 0.5, y: 0.5, width: 13, height: 11, rx: 2 }),
        ),
        words,
      ),
    ),
    '★ best configuration of the system',
  );
}

function scaleOfHeat([low, high]: [number, number], one: Measure): HTMLElement {
  const sample = [0, 1, 2, 3, 4, 5].map((step) =>
    s('rect', { class: `heat-${step}`, x: step * 22, y: 0, width: 22, height: 12 }),
  );
  const strip = s(
    'svg',
    { class: 'chart', width: 132, height: 12, viewBox: '0 0 132 12', 'aria-hidden': 'true' },
    ...sample,
  );
  return h(
    'p',
    { class: 'heat-scale' },
    formatValue(low, one.unit),
    strip,
    `${formatValue(high, one.unit)}${one.is_log ? ', log scale' : ''} · ★ best configuration of the system`,
  );
}
