/** Orders parameters and their values, and finds rows that differ in one parameter only. */

import type { Load, Row } from '../report';

/** Parses a number with an optional unit; null for other texts. */
export function numeric(value: string): number | null {
  const found = /^([+-]?\d+(?:\.\d+)?)\s*([a-zA-Zµ]*)$/.exec(value.trim());
  if (!found) return null;
  const factor = FACTORS[found[2] ?? ''];
  return factor === undefined ? null : Number(found[1]) * factor;
}

const FACTORS: Record<string, number | undefined> = Object.assign(
  Object.create(null) as Record<string, number>,
  {
    '': 1,
    k: 1e3,
    K: 2 ** 10,
    M: 2 ** 20,
    G: 2 ** 30,
    kB: 1e3,
    KB: 2 ** 10,
    MB: 2 ** 20,
    GB: 2 ** 30,
    KiB: 2 ** 10,
    MiB: 2 ** 20,
    GiB: 2 ** 30,
    us: 1e-6,
    µs: 1e-6,
    ms: 1e-3,
    s: 1,
    m: 60,
    h: 3600,
  },
);

/** Unique values: numbers sorted by size, texts in the order of the plan. */
export function valuesInOrder(values: string[]): string[] {
  const once = [...new Set(values)];
  const isNumeric = once.every((value) => numeric(value) !== null);
  return isNumeric ? once.sort((a, b) => (numeric(a) ?? 0) - (numeric(b) ?? 0)) : once;
}

export function parameterValue(row: Row, name: string): string | null {
  return row.parameters.find((parameter) => parameter.name === name)?.value ?? null;
}

/** Parameters with at least two values within a system, those with the most values first. */
export function varied(load: Load, system?: string): string[] {
  const most = new Map<string, number>();
  for (const rows of bySystem(load).values()) {
    if (system !== undefined && rows[0]?.system !== system) continue;
    for (const name of new Set(rows.flatMap((row) => row.parameters.map((parameter) => parameter.name)))) {
      const values = new Set(rows.map((row) => parameterValue(row, name)).filter((value) => value !== null));
      most.set(name, (most.get(name) ?? 0) + (values.size > 1 ? values.size : 0));
    }
  }
  return [...most]
    .filter(([, count]) => count > 1)
    .sort((a, b) => b[1] - a[1])
    .map(([name]) => name);
}

export function bySystem(load: Load): Map<string, Row[]> {
  const systems = new Map<string, Row[]>();
  for (const row of load.rows) systems.set(row.system, [...(systems.get(row.system) ?? []), row]);
  return systems;
}

/** Rows that differ in one parameter only. */
export interface Path {
  system: string;
  /** The values of the other parameters; empty if there are none. */
  others: string;
  /** In order of the parameter. */
  rows: Row[];
}

/** One path per combination of the other parameters; constant parameters are omitted. */
export function paths(load: Load, parameter: string): Path[] {
  const found: Path[] = [];
  for (const [system, rows] of bySystem(load)) {
    const mentioned = varied(load, system).filter((name) => name !== parameter);
    const groups = new Map<string, Row[]>();
    for (const row of rows.filter((one) => parameterValue(one, parameter) !== null)) {
      const others = row.parameters.filter(({ name }) => mentioned.includes(name));
      const key = others.map(({ name, value }) => `${name}=${value}`).join(' ');
      groups.set(key, [...(groups.get(key) ?? []), row]);
    }
    for (const [others, mine] of groups) {
      const order = valuesInOrder(mine.map((row) => parameterValue(row, parameter) ?? ''));
      const at = (row: Row): number => order.indexOf(parameterValue(row, parameter) ?? '');
      found.push({ system, others, rows: mine.sort((a, b) => at(a) - at(b)) });
    }
  }
  return found;
}

/** The first and the last of the sorted values if their axis is logarithmic, else null. */
export function logRange(values: string[]): [number, number] | null {
  const numbers = values.map(numeric);
  const [low, high] = [numbers[0] ?? null, numbers.at(-1) ?? null];
  if (numbers.includes(null) || low === null || high === null) return null;
  return low > 0 && high / low > 8 ? [low, high] : null;
}

/** Positions of values on an axis from 0 to 1: logarithmic if they span more than a factor of eight, else even. */
export function spread(values: string[]): number[] {
  const range = logRange(values);
  if (range !== null) {
    const [low, high] = range;
    return values.map((value) => Math.log((numeric(value) ?? low) / low) / Math.log(high / low));
  }
  return values.map((_, at) => (values.length > 1 ? at / (values.length - 1) : 0.5));
}

/** Two parameters of a system, with all others fixed. */
export interface Grid {
  system: string;
  /** The values of the fixed parameters; empty if there are none. */
  others: string;
  x: string;
  y: string;
  columns: string[];
  lines: string[];
  /** By row and column; null if not measured. */
  cells: (Row | null)[][];
}

/** The grids of each system with at least two varied parameters; the one with more values is on the x axis. */
export function grids(load: Load, most: number): Grid[] {
  const all: Grid[] = [];
  for (const [system, rows] of bySystem(load)) {
    const [x, y, ...held] = varied(load, system);
    if (x === undefined || y === undefined) continue;
    const groups = new Map<string, Row[]>();
    for (const row of rows) {
      const key = held.map((name) => `${name}=${parameterValue(row, name) ?? '–'}`).join(' ');
      groups.set(key, [...(groups.get(key) ?? []), row]);
    }
    for (const [others, mine] of groups) {
      const columns = valuesInOrder(mine.flatMap((row) => parameterValue(row, x) ?? []));
      const lines = valuesInOrder(mine.flatMap((row) => parameterValue(row, y) ?? []));
      const cell = (line: string, column: string): Row | null =>
        mine.find((row) => parameterValue(row, x) === column && parameterValue(row, y) === line) ?? null;
      const cells = lines.map((line) => columns.map((column) => cell(line, column)));
      const filled = cells.flat().filter((row) => row !== null).length;
      // With most cells empty no pattern is visible.
      if (columns.length < 2 || lines.length < 2 || filled * 2 <= columns.length * lines.length) continue;
      all.push({ system, others, x, y, columns, lines, cells });
    }
  }
  return all.slice(0, most);
}

/** One of six steps from the lowest to the highest. */
export function heatStep(value: number, low: number, high: number, isLog: boolean): number {
  const place =
    isLog && low > 0 ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return Number.isFinite(place) ? Math.max(0, Math.min(5, Math.floor(place * 6))) : 0;
}
