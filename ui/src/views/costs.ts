/** What events cost over all blocks: ranges of axes, tooltips, and the data table. */

import type { CostFigure, Load, PooledEvent, RowCost, Unit } from '../report';
import { formatValue } from '../format';
import { digits, type Numbers } from '../numbers';

/** The lowest and the highest of all values that are drawn, with 0. */
export function spanOf(costs: RowCost[]): [number, number] {
  const all = costs.flatMap(({ middle, low, high, blocks }) => [
    middle,
    low,
    high,
    ...blocks.map(({ value }) => value),
  ]);
  const known = all.filter((value) => value !== null);
  return [Math.min(0, ...known), Math.max(0, ...known)];
}

/** The tooltip lines of a figure of one row, the title first. */
export function costLines(load: Load, figure: CostFigure, cost: RowCost): string[] {
  const { row, text, blocks } = cost;
  const known = blocks.filter(({ value }) => value !== null).length;
  const interval = cost.low === null ? [] : ['in parentheses: 95 % confidence interval'];
  return [
    load.rows[row]?.name ?? '?',
    `${figure.title}: ${withUnit(text, figure.unit)}`,
    ...interval,
    ...blocksLines(blocks, figure.unit, false),
    `n = ${known} of ${blocksWords(blocks.length)}`,
  ];
}

/** The same of a difference. */
export function differenceLines(load: Load, event: PooledEvent, figure: CostFigure, cost: RowCost): string[] {
  const { row, text, verdict, blocks } = cost;
  const known = blocks.filter(({ value }) => value !== null).length;
  return [
    `${load.rows[row]?.name ?? '?'} − ${nameOf(load, event.from)}`,
    `${figure.title}: ${withUnit(text, figure.unit)}`,
    ...(verdict === null ? [] : [verdict]),
    ...blocksLines(blocks, figure.unit, true),
    `n = ${known} of ${blocksWords(blocks.length)}`,
  ];
}

/** The name of a row. */
export function nameOf(load: Load, row: number | null): string {
  return load.rows[row ?? -1]?.name ?? '?';
}

/** Texts of counts and of excess waiting have no unit. */
function withUnit(text: string, unit: Unit): string {
  return unit === 'request-seconds' && text !== 'n/a' ? `${text} ${unit}` : text;
}

const BLOCKS_SHOWN = 24;

function blocksLines(blocks: RowCost['blocks'], unit: Unit, isSigned: boolean): string[] {
  if (blocks.length < 2) return [];
  const value = (of: number | null): string => {
    if (of === null) return 'n/a';
    const size = unit === 'count' ? String(Math.abs(of)) : formatValue(Math.abs(of), unit);
    const sign = of < 0 ? '−' : isSigned && of > 0 ? '+' : '';
    return `${sign}${size}`;
  };
  const shown = blocks.slice(0, BLOCKS_SHOWN).map((of) => value(of.value));
  return [`by block: ${shown.join(', ')}${blocks.length > BLOCKS_SHOWN ? ', …' : ''}`];
}

function blocksWords(blocks: number): string {
  return blocks === 1 ? '1 block' : `${blocks} blocks`;
}

/** `n = 6 of 6 blocks`, or `n = 5 to 7 blocks` where rows differ. */
export function sampleText({ rows }: PooledEvent): string {
  const known = rows.map(({ runs }) => runs);
  const all = rows.map(({ runs, runs_unknown }) => runs + runs_unknown);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  if (least !== most) return `n = ${least} to ${most} blocks`;
  return Math.min(...all) === most && Math.max(...all) === most
    ? `n = ${blocksWords(most)}`
    : `n = ${most} of ${blocksWords(Math.max(...all))}`;
}

/** One row per figure and variant, and one per difference. */
export function costNumbers(load: Load, event: PooledEvent): Numbers {
  const cells = (figure: CostFigure, cost: RowCost, from: string): Numbers['rows'][number] => [
    nameOf(load, cost.row),
    from,
    figure.title,
    figure.unit,
    cost.middle,
    cost.low,
    cost.high,
    cost.verdict,
    cost.blocks.filter(({ value }) => value !== null).length,
    cost.blocks
      .map(({ block, value }) => `${block + 1}: ${value === null ? 'n/a' : digits(value)}`)
      .join(', '),
  ];
  const from = nameOf(load, event.from);
  return {
    heads: ['variant', 'minus', 'figure', 'unit', 'median', 'low', 'high', 'verdict', 'n', 'by block'],
    rows: event.figures.flatMap((figure) => [
      ...figure.rows.map((cost) => cells(figure, cost, '')),
      ...figure.differences.map((cost) => cells(figure, cost, from)),
    ]),
  };
}
