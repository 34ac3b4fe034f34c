/** A colour and a shape for each system, the same in every picture, told apart also by those who see colours otherwise. */

import type { Load, Report } from './report';

/** `--series-1` to `--series-8` in style.css. */
export const COLORS = 8;

/** The systems of the report in order of their first row; their place says their colour. */
export function systems(report: Report): string[] {
  return [...new Set(report.loads.flatMap((load) => load.rows.map((row) => row.system)))];
}

/** A class that sets `--mine` to the colour of the row's system. */
export function colorClass(report: Report, load: Load, row: number): string {
  const system = load.rows[row]?.system ?? '';
  return `series-${(Math.max(0, systems(report).indexOf(system)) % COLORS) + 1}`;
}

/** The colour that a custom property has now, for canvases. */
export function cssColor(property: string, element: Element = document.documentElement): string {
  return getComputedStyle(element).getPropertyValue(property).trim();
}
