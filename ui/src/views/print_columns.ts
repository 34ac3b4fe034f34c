/** Splits a wide table for print: groups of columns below each other, each with the names of the rows. */

import type { Table } from '../report';

/** Padding of a column, in characters. */
const GAP = 2;

/** The columns of each part, the names first. No part is wider than `characters`, if possible. */
export function columnGroups(table: Table, characters: number): number[][] {
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
    if (used + width > characters) {
      made.push([...names]);
      used = ofNames;
    }
    made.at(-1)?.push(column);
    used += width;
  }
  return made.length > 0 ? made : [names];
}
