/** A color for each system, the same in every chart. Shapes repeat the distinction for color-blind readers. */

import type { Load, Report } from './report';

/** `--series-1` to `--series-8` in style.css. */
export const COLORS = 8;

/** The systems of the report in order of their first row. The index selects the color. */
export function systems(report: Report): string[] {
  return [...new Set(report.loads.flatMap((load) => load.rows.map((row) => row.system)))];
}

/** The class that sets `--mine` to the color of the row's system. */
export function colorClass(report: Report, load: Load, row: number): string {
  const system = load.rows[row]?.system ?? '';
  return `series-${(Math.max(0, systems(report).indexOf(system)) % COLORS) + 1}`;
}

/** The current color of a custom property, for canvases. */
export function cssColor(property: string, element: Element = document.documentElement): string {
  return getComputedStyle(element).getPropertyValue(property).trim();
}
