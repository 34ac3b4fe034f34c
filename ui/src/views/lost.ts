/** Requests without an ok answer around an event, by class, stacked upon each other. */

import type { Course } from '../report';

/** The classes from the bottom of the stack, with the custom property of each color. */
const CLASSES: readonly [name: string, property: string][] = [
  ['rejected', '--doubtful'],
  ['reset', '--bad'],
  ['timed_out', '--ink'],
  ['connect', '--accent'],
  ['other', '--series-4'],
  ['not_sent', '--muted'],
  // At the top: it is no loss.
  ['stale_reuse', '--good'],
];

/** No client can avoid that the server closes an idle connection as it is used again: it is in no sum. */
export function isLoss(name: string): boolean {
  return name !== 'stale_reuse';
}

/** `timed out`. */
export function classWords(name: string): string {
  return name.replaceAll('_', ' ');
}

export interface LostClass {
  name: string;
  words: string;
  /** The custom property of its color. */
  property: string;
  /** The class of elements that have this color as `--mine`. */
  color: string;
  /** In each step. */
  counts: number[];
}

/** Those that occurred, from the bottom of the stack. */
export function lostClasses({ lost }: Course): LostClass[] {
  return CLASSES.flatMap(([name, property]) => {
    const counts = lost[name];
    if (!counts?.some((count) => count > 0)) return [];
    const words = isLoss(name) ? classWords(name) : `${classWords(name)}, not lost`;
    return [{ name, words, property, color: `in${property.slice(1)}`, counts }];
  });
}

/** The sum of each class and of those below it, per second. */
export function stackOf(classes: LostClass[], { ok, step_s }: Course): number[][] {
  let below = ok.map(() => 0);
  return classes.map(({ counts }) => {
    below = below.map((sum, step) => sum + (counts[step] ?? 0) / step_s);
    return below;
  });
}

/** All losses of each step. */
export function lostInSteps({ lost, ok }: Course): number[] {
  const classes = Object.entries(lost).filter(([name]) => isLoss(name));
  return ok.map((_, step) => classes.reduce((sum, [, counts]) => sum + (counts?.[step] ?? 0), 0));
}
