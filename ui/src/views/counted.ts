/** Texts with the name of what is counted: requests or transactions. */

import type { Report } from '../report';
import { count } from '../format';

/** Such as `1 request` and `5,000 requests`. */
export function countText({ counted }: Report, number: number): string {
  return `${count(number)} ${number === 1 ? counted.one : counted.many}`;
}

/** The title of a throughput axis. */
export function rateTitle({ counted }: Report): string {
  return `ok ${counted.answers} per second`;
}

/** With a capital first letter. */
export function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
