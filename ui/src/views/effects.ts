/** What changes of an experiment did: the range of the axis, tooltips, and the data table. */

import type { EffectOfChange, Scaling } from '../report_experiment';
import { formatValue } from '../format';
import type { Numbers } from '../numbers';

/** The lowest and the highest ratio that is drawn. */
export function effectSpan(all: EffectOfChange[]): [number, number] {
  const known = all
    .flatMap(({ in_blocks, ratio, interval, predicted }) => [
      ...in_blocks,
      ratio,
      ...(interval ?? []),
      predicted,
    ])
    .filter((value) => value !== null && value > 0 && Number.isFinite(value)) as number[];
  return known.length === 0 ? [1, 1] : [Math.min(...known), Math.max(...known)];
}

export function effectText({ ratio, interval }: EffectOfChange): string {
  if (ratio === null) return 'n/a';
  const within = interval === null ? '' : ` (${interval.map((end) => end.toFixed(2)).join('–')})`;
  return `×${ratio.toFixed(2)}${within}`;
}

/** The tooltip lines, the title first. */
export function effectLines(effect: EffectOfChange): string[] {
  const { name, in_blocks, predicted, finding } = effect;
  return [
    name === 'none' ? 'no change: control again ÷ control' : name,
    ...(finding === '' ? [] : [finding]),
    `throughput ${effectText(effect)}`,
    ...(predicted === null ? [] : [`predicted of a limit: ×${predicted.toFixed(2)}`]),
    `by block: ${in_blocks.map((ratio) => ratio.toFixed(3)).join(', ')}`,
    `n = ${in_blocks.length} ${in_blocks.length === 1 ? 'block' : 'blocks'}`,
  ];
}

export function effectNumbers(all: EffectOfChange[]): Numbers {
  const most = Math.max(0, ...all.map(({ in_blocks }) => in_blocks.length));
  return {
    heads: [
      'change',
      'throughput ÷ control',
      'low',
      'high',
      'predicted of a limit',
      'finding',
      ...Array.from({ length: most }, (_, at) => `ratio ${at + 1}`),
    ],
    rows: all.map(({ name, ratio, interval, predicted, finding, in_blocks }) => [
      name,
      ratio,
      interval?.[0] ?? null,
      interval?.[1] ?? null,
      predicted,
      finding,
      ...Array.from({ length: most }, (_, at) => in_blocks[at] ?? null),
    ]),
  };
}

/** How many runs the steps have together: `n = 34 runs with 7 numbers of users`. */
export function scalingSample({ steps }: Scaling): string {
  const runs = steps.reduce((sum, step) => sum + step.runs, 0);
  return `n = ${runs} runs with ${steps.length} numbers of users`;
}

export function scalingLines(step: Scaling['steps'][number]): string[] {
  const { users, per_s: perSecond, per_user_per_s: each, runs } = step;
  return [
    users === 1 ? '1 user' : `${users} users`,
    `${formatValue(perSecond, 'per_s')} ok, median of ${runs === 1 ? '1 run' : `${runs} runs`}`,
    `${formatValue(each, 'per_s')} for each user`,
  ];
}
