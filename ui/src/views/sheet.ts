/** Tables as CSV, TSV, and Markdown. Measured texts cannot become formulas or markup. */

import type { Numbers } from '../numbers';

type Cell = string | number | null;

/** Spreadsheets treat such texts as formulas; some ignore leading blanks. */
const FORMULA = /^\s*[=+\-@\t\r]/;

/** A formatted number, such as `1,279.3`. */
const GROUPED = /^-?\d{1,3}(,\d{3})+(\.\d+)?$/;
const PLAIN = /^-?\d+(\.\d+)?$/;

/** Removes commas from numbers, and prefixes texts that look like formulas. */
function plain(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  if (GROUPED.test(cell)) return cell.replaceAll(',', '');
  if (PLAIN.test(cell)) return cell;
  return FORMULA.test(cell) ? `'${cell}` : cell;
}

export function csv({ heads, rows }: Numbers): string {
  const quoted = (cell: Cell): string => {
    const text = plain(cell);
    return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [heads, ...rows].map((row: Cell[]) => `${row.map(quoted).join(',')}\r\n`).join('');
}

/** Cells contain no line breaks or tabs, as spreadsheets expect. */
export function tsv({ heads, rows }: Numbers): string {
  const flat = (cell: Cell): string => plain(cell).replace(/[\t\r\n]+/g, ' ');
  return [heads, ...rows].map((row: Cell[]) => `${row.map(flat).join('\t')}\n`).join('');
}

/** A table with aligned columns; columns of numbers are right-aligned. */
export function markdown({ heads, rows }: Numbers): string {
  const escaped = (cell: Cell): string =>
    String(cell ?? '–')
      .replace(/\s+/g, ' ')
      .replace(/[\\`*_{}[\]<>|#~!&$]/g, '\\$&');
  const texts = [heads, ...rows].map((row: Cell[]) => row.map(escaped));
  const widths = heads.map((_, at) =>
    Math.min(40, Math.max(3, ...texts.map((row) => Array.from(row[at] ?? '').length))),
  );
  const isRight = heads.map((_, at) => rows.length > 0 && rows.every((row) => isFigure(row[at] ?? null)));
  const line = (cells: string[]): string => `| ${cells.join(' | ')} |\n`;
  const padded = (row: string[]): string =>
    line(
      row.map((cell, at) => (isRight[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0))),
    );
  const rule = widths.map((width, at) => (isRight[at] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
  const [head = [], ...body] = texts;
  return padded(head) + line(rule) + body.map(padded).join('');
}

function isFigure(cell: Cell): boolean {
  if (cell === null || typeof cell === 'number') return true;
  return /^(–|n\/a|-?[\d,]+(\.\d+)?( ?%)?)$/.test(cell);
}
