/** A grid of two parameters, with the value and the ratio to the reference in each cell. */

import type { Report, Row } from '../report';
import type { Compared } from '../report_compared';
import { s } from '../dom';
import { missingText } from '../views/order';
import { heatStep, type Grid } from '../views/parameters';
import { cut, textWidth } from '../views/text';
import { round, word } from './marks';
import { rovingFocus, type Stop } from './roving_focus';
import { chart } from './rows';

export interface GridOptions {
  report: Report;
  grid: Grid;
  width: number;
  /** Shared by all grids, so that their colors are comparable. */
  range: [number, number];
  is_log: boolean;
  value: (row: Row) => number | null;
  /** Short text, in the unit of the title. */
  inWords: (value: number) => string;
  lines: (row: Row) => string[];
  /** The comparison of a row, which colors its cell; null for colors by value. */
  compared: ((row: Row) => Compared | null) | null;
}

const HIGH = 40;
const HEAD = 46;

let patterns = 0;

export function gridChart(options: GridOptions): SVGSVGElement {
  const { grid, width } = options;
  const widest = Math.max(textWidth(`${grid.y} ↓`, 11.5), ...grid.lines.map((line) => textWidth(line, 12.5)));
  const left = Math.min(width * 0.35, widest + 16);
  const wide = Math.min(96, (width - left - 4) / grid.columns.length);
  const svg = chart(
    Math.ceil(left + wide * grid.columns.length + 4),
    HEAD + grid.lines.length * HIGH + 6,
    `${grid.system}: ${grid.x} by ${grid.y}`,
  );
  const hatch = hatched(svg);
  svg.append(word('caption', left, 14, cut(`${grid.x} →`, wide * grid.columns.length, 11.5)));
  svg.append(word('caption', left - 8, HEAD - 8, cut(`${grid.y} ↓`, left - 8, 11.5), 'end'));
  grid.columns.forEach((column, at) => {
    svg.append(word('name', left + (at + 0.5) * wide, HEAD - 8, cut(column, wide - 4, 12.5), 'middle'));
  });
  const stops: Stop[] = [];
  grid.cells.forEach((cells, line) => {
    const y = HEAD + line * HIGH;
    svg.append(word('name', left - 8, y + HIGH / 2 + 4, cut(grid.lines[line] ?? '', left - 10, 12.5), 'end'));
    cells.forEach((row, at) => {
      const stop = cell(options, row, { x: left + at * wide, y, wide }, hatch);
      const where = `${grid.x}=${grid.columns[at] ?? ''} ${grid.y}=${grid.lines[line] ?? ''}`;
      svg.append(stop);
      stops.push({ mark: stop, lines: () => (row ? options.lines(row) : [where, 'not measured']) });
    });
  });
  rovingFocus(stops);
  return svg;
}

function cell(
  options: GridOptions,
  row: Row | null,
  at: { x: number; y: number; wide: number },
  hatch: string,
): SVGGElement {
  const { range, is_log } = options;
  const box = { x: round(at.x + 1), y: at.y + 1, width: round(at.wide - 2), height: HIGH - 2, rx: 2 };
  const middle = { x: at.x + at.wide / 2, y: at.y + HIGH / 2 + 4 };
  const value = row ? options.value(row) : null;
  if (row === null || value === null) {
    const text = row ? missingText(options.report, row) : 'none';
    return s(
      'g',
      { class: 'cell' },
      s('rect', { class: 'heat missing', ...box, fill: `url(#${hatch})` }),
      word('aside halo', middle.x, middle.y, cut(text, at.wide - 4, 12), 'middle'),
    );
  }
  const step = heatStep(value, range[0], range[1], is_log);
  const compared = options.compared ? (options.compared(row) ?? NOT_COMPARED) : null;
  const isBest = row.is_best;
  const figure = cut(`${isBest ? '★ ' : ''}${options.inWords(value)}`, at.wide - 4, 12);
  return s(
    'g',
    { class: isBest ? 'cell best' : 'cell' },
    s('rect', { class: compared ? `heat verdict-${compared.verdict}` : `heat heat-${step}`, ...box }),
    isBest ? s('rect', { class: 'best-frame', ...box }) : null,
    word(
      compared ? 'figure' : `figure over-${step}`,
      middle.x,
      compared ? middle.y - 7 : middle.y,
      figure,
      'middle',
    ),
    compared ? word('aside', middle.x, middle.y + 9, cut(ratio(compared), at.wide - 4, 11), 'middle') : null,
  );
}

const NOT_COMPARED: Compared = { text: '', verdict: 'none' };

/** The ratio, with a question mark if it has no verdict. */
function ratio({ text, verdict }: Compared): string {
  return verdict === 'inconclusive' ? `${text}?` : text;
}

/** Adds stripes for missing cells, and returns the unique id of the pattern. */
function hatched(svg: SVGSVGElement): string {
  patterns += 1;
  const id = `hatch-${patterns}`;
  const stripes = s('path', { class: 'hatch', d: 'M0 8L8 0M-2 2L2 -2M6 10L10 6' });
  svg.append(
    s('defs', {}, s('pattern', { id, width: 8, height: 8, patternUnits: 'userSpaceOnUse' }, stripes)),
  );
  return id;
}
