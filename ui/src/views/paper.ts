/** How a wide table is cut for paper: parts below each other, each with the names of its rows. */

import type { Table } from '../report';

/** In letters: what a column takes besides its text. */
const GAP = 2;

/** Columns of each part, the names first, so that none is wider than so many letters, if that can be. */
export function parts(table: Table, letters: number): number[][] {
  const widths = table.heads.map((head, column) => {
    const texts = table.rows.map((row) => row.cells[column]?.text.length ?? 0);
    return Math.max(head.text.length, head.unit.length, ...texts) + GAP;
  });
  const names = widths.slice(0, table.names).map((_, column) => column);
  const ofNames = names.reduce((sum, column) => sum + (widths[column] ?? 0), 0);
  const made: number[][] = [];
  let used = Infinity;
  for (let column = table.names; column < widths.length; column += 1) {
    const width = widths[column] ?? 0;
    if (used + width > letters) {
      made.push([...names]);
      used = ofNames;
    }
    made.at(-1)?.push(column);
    used += width;
  }
  return made.length > 0 ? made : [names];
}
