/** What was counted, in words: requests, or transactions. */

import type { Report } from '../report';
import { count } from '../format';

/** Such as `1 request` and `5,000 requests`. */
export function numberOf({ counted }: Report, number: number): string {
  return `${count(number)} ${number === 1 ? counted.one : counted.many}`;
}

/** What is across where response time is up. */
export function rateWords({ counted }: Report): string {
  return `ok ${counted.answers} per second`;
}

/** As a sentence begins. */
export function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
