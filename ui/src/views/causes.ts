/** Which rows have their causes shown, and how much a cause explains. */

import type { Bottleneck, Cause, Load, Report } from '../report';
import { decimal } from '../format';
import { summaryRows } from './summary';

/** The rows of the summary with a bottleneck, and all other rows with one. */
export function causeRows(report: Report, load: Load): { first: Bottleneck[]; others: Bottleneck[] } {
  const of = (row: number): Bottleneck[] => load.bottlenecks.filter((each) => each.row === row);
  const rows = summaryRows(report, load);
  const others = load.rows.map((_, row) => row).filter((row) => !rows.includes(row));
  return { first: rows.flatMap(of), others: others.flatMap(of) };
}

/** Such as `63 % of the response time`; empty if no reading tells. */
export function shareWords({ share }: Pick<Cause, 'share'>): string {
  return share === null ? '' : `${percent(share)} of the response time`;
}

export function percent(share: number): string {
  return `${decimal(share * 100, 0)} %`;
}
