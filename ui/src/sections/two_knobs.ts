/** Two knobs against each other: a heat map for each system that has two. */

import type { Load, Report, Row } from '../report';
import { card, redraw } from '../card';
import { append, h, s } from '../dom';
import { figure } from '../format';
import { choice } from '../charts/choice';
import { gridChart } from '../charts/grid';
import { grids, type Grid } from '../views/knobs';
import { extent, howRow, measures, rowValue, titled, type Measure } from '../views/measures';
import { headOf, optionsOf, rowLines, runCounts } from '../views/say';
import { tickText } from '../views/scale';

/** What is drawn, as chosen. */
interface View {
  report: Report;
  load: Load;
  one: Measure;
}

/** More grids than these would be a wall. */
const GRIDS = 24;

export function twoKnobs(report: Report, load: Load): HTMLElement | null {
  const all = measures(report, load);
  const one = all[0];
  const mine = grids(load, GRIDS + 1);
  if (report.kind !== 'study' || one === undefined || mine.length === 0) return null;
  const view: View = { report, load, one };
  const drawn = mine.slice(0, GRIDS);
  const made = card({
    id: `two-knobs-${report.loads.indexOf(load) + 1}`,
    title: 'Two knobs against each other',
    about: `a cell is a variant, all its valid runs together · ${runCounts(report, load)}`,
    ...(mine.length > GRIDS
      ? { help: `Only the first ${GRIDS} combinations of the other knobs are drawn.` }
      : {}),
    controls: [
      choice('Show', optionsOf(all), one.key, (key) => {
        view.one = all.find((each) => each.key === key) ?? one;
        redraw(made);
      }),
    ],
    draw: (host, width) => {
      heatMaps(host, width, view, drawn);
    },
    numbers: () => ({
      heads: ['system', 'held', 'knob', 'value', 'knob', 'value', ...all.map(headOf)],
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
          ]),
        ),
      ),
    }),
  });
  return made;
}

function heatMaps(host: HTMLElement, width: number, view: View, drawn: Grid[]): void {
  const { report, load, one } = view;
  const value = (row: Row): number | null => rowValue(load, row, one);
  const known = extent(drawn.flatMap((grid) => grid.cells.flat().map((row) => (row ? value(row) : null))));
  const range = known ?? [0, 1];
  const inWords = writer(one, range[1]);
  append(
    host,
    h('div', { class: 'picture' }, h('h4', {}, `${titled(one.words)}, ${howRow(load, one)}`)),
    known && scaleOfHeat(known, one),
  );
  const maps = drawn.map((grid) => {
    const name = grid.others === '' ? grid.system : `${grid.system} ${grid.others}`;
    const lines = (row: Row): string[] => rowLines(report, load, row, one);
    const made = gridChart({
      report,
      grid,
      width,
      range,
      is_log: one.is_log,
      value,
      inWords,
      lines,
    });
    return h('div', { class: 'picture' }, h('h4', {}, name), made);
  });
  append(host, h('div', { class: 'maps' }, ...maps));
}

/** With the unit of the whole, and no more digits than fit. */
function writer(one: Measure, high: number): (value: number) => string {
  const digits = (value: number): number => Number(value.toPrecision(value >= 1000 ? 4 : 3));
  return (value) => tickText(digits(value), one.unit, Math.max(high, value)).replace(/\/s$/, '');
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
    figure(low, one.unit),
    strip,
    `${figure(high, one.unit)}${one.is_log ? ', log steps' : ''}; ★ the best setting of its system`,
  );
}
