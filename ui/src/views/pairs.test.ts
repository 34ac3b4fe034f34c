/** Pairs fit on the axis and have labels. */

import { describe, expect, it } from 'vitest';
import type { Load, Pair } from '../report';
import { pairTooltip, percent, span, verdict } from './pairs';

const pair: Pair = {
  first: 0,
  second: 1,
  estimate: 1.33,
  low: 1.2,
  high: 1.45,
  confidence: 0.96875,
  verdict: 'differs',
  blocks: 6,
  in_blocks: [1.3, 1.5],
  estimate_text: '1.33 ×',
  ends_text: ['1.20', '1.45'],
  in_blocks_text: ['1.30 ×', '1.50 ×'],
  sentence: '',
};
const load = (...pairs: Pair[]): Load =>
  ({
    pairs,
    metric: { words: 'throughput', scale: 'ratio', matters: 0.03 },
    rows: [{ name: 'puma' }, { name: 'unicorn' }],
  }) as unknown as Load;

describe('pairs', () => {
  it('span their blocks and the range below the threshold', () => {
    expect(span(load(pair))).toEqual([1 / 1.03, 1.5]);
  });
  it('limit the length of the axis', () => {
    const wild = { ...pair, low: 1e-12, high: Infinity, in_blocks: [1e12] };
    expect(span(load(wild))).toEqual([1 / 200, 200]);
  });
  it('have exact values in their tooltips', () => {
    expect(pairTooltip(load(pair), pair)).toEqual([
      'puma ÷ unicorn',
      'throughput: 1.33 ×',
      '96.9 % confidence interval: 1.20 to 1.45',
      'differs, 6 blocks',
      'by block: 1.30 ×, 1.50 ×',
    ]);
  });
  it('span differences on either side of 0', () => {
    const of_events = { words: 'outage of deploy', unit: 'ms', scale: 'difference', matters: 20 };
    const shorter = {
      ...pair,
      estimate: -398,
      low: -410,
      high: null,
      in_blocks: [-405, -2],
      estimate_text: '−398 ms',
      ends_text: ['−410 ms', '+∞'] as [string, string],
      in_blocks_text: ['−405 ms', '−2.00 ms'],
    };
    const one = { ...load(shorter), metric: of_events } as unknown as Load;
    expect(span(one)).toEqual([-410, 20]);
    expect(pairTooltip(one, shorter)).toEqual([
      'puma − unicorn',
      'outage of deploy: −398 ms',
      '96.9 % confidence interval: −410 ms to +∞',
      'differs, 6 blocks',
      'by block: −405 ms, −2.00 ms',
    ]);
  });
  it('handle missing ratios', () => {
    const none = {
      ...pair,
      estimate: null,
      low: null,
      high: null,
      verdict: 'none',
      blocks: 1,
      in_blocks: [],
      estimate_text: null,
      ends_text: null,
    } as const;
    expect(pairTooltip(load(), { ...none, in_blocks: [], in_blocks_text: [] })).toEqual([
      'puma ÷ unicorn',
      'throughput: no ratio',
      'no verdict, 1 block',
    ]);
    expect(verdict({ ...pair, verdict: 'differs_below' })).toBe('significant, below the threshold');
    expect(percent(0.95)).toBe('95 %');
  });
});
