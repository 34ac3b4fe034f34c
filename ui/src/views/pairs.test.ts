/** Pairs fit on the axis and have labels. */

import { describe, expect, it } from 'vitest';
import type { Load, Pair } from '../report';
import { pairTooltip, percent, span, verdict } from './pairs';

const pair: Pair = {
  first: 0,
  second: 1,
  ratio: 1.33,
  low: 1.2,
  high: 1.45,
  confidence: 0.96875,
  verdict: 'differs',
  blocks: 6,
  ratios: [1.3, 1.5],
  ratio_text: '1.33 ×',
  ends_text: ['1.20', '1.45'],
  ratios_text: ['1.30 ×', '1.50 ×'],
  sentence: '',
};
const load = (...pairs: Pair[]): Load =>
  ({
    pairs,
    metric: { words: 'throughput', matters: 0.03 },
    rows: [{ name: 'puma' }, { name: 'unicorn' }],
  }) as unknown as Load;

describe('pairs', () => {
  it('span their blocks and the range below the threshold', () => {
    expect(span(load(pair))).toEqual([1 / 1.03, 1.5]);
  });
  it('limit the length of the axis', () => {
    const wild = { ...pair, low: 1e-12, high: Infinity, ratios: [1e12] };
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
  it('handle missing ratios', () => {
    const none = {
      ...pair,
      ratio: null,
      low: null,
      high: null,
      verdict: 'none',
      blocks: 1,
      ratios: [],
      ratio_text: null,
      ends_text: null,
    } as const;
    expect(pairTooltip(load(), { ...none, ratios: [], ratios_text: [] })).toEqual([
      'puma ÷ unicorn',
      'throughput: no ratio',
      'no verdict, 1 block',
    ]);
    expect(verdict({ ...pair, verdict: 'differs_below' })).toBe('significant, below the threshold');
    expect(percent(0.95)).toBe('95 %');
  });
});
