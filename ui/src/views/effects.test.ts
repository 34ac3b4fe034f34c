import { describe, expect, it } from 'vitest';
import type { EffectOfChange } from '../report_experiment';
import { effectLines, effectNumbers, effectSpan, effectText, scalingLines, scalingSample } from './effects';

const WORKERS: EffectOfChange = {
  name: 'workers 4 → 8',
  in_blocks: [1.9, 1.95],
  ratio: 1.93,
  interval: [1.87, 1.99],
  predicted: 2,
  finding: 'confirmed',
};
const NONE: EffectOfChange = {
  ...WORKERS,
  name: 'none',
  ratio: null,
  interval: null,
  predicted: null,
  finding: '',
};

describe('the effect of a change', () => {
  it('has its prediction on the axis', () => {
    expect(effectSpan([WORKERS])).toEqual([1.87, 2]);
    expect(effectSpan([{ ...NONE, in_blocks: [] }])).toEqual([1, 1]);
  });

  it('shows prediction, interval, and blocks next to each other', () => {
    expect(effectText(WORKERS)).toBe('×1.93 (1.87–1.99)');
    expect(effectText(NONE)).toBe('n/a');
    expect(effectLines(WORKERS)).toEqual([
      'workers 4 → 8',
      'confirmed',
      'throughput ×1.93 (1.87–1.99)',
      'predicted of a limit: ×2.00',
      'by block: 1.900, 1.950',
      'n = 2 blocks',
    ]);
  });

  it('has a column for each block in the data table', () => {
    const { heads, rows } = effectNumbers([{ ...NONE, in_blocks: [1.01] }, WORKERS]);
    expect(heads.slice(-2)).toEqual(['ratio 1', 'ratio 2']);
    expect(rows.map((row) => row.slice(-2))).toEqual([
      [1.01, null],
      [1.9, 1.95],
    ]);
  });
});

describe('throughput by users', () => {
  it('says how many runs a point has, and what each user gets', () => {
    const steps = [
      { users: 1, per_s: 20, per_user_per_s: 20, runs: 2 },
      { users: 4, per_s: 60, per_user_per_s: 15, runs: 16 },
    ];
    expect(scalingSample({ steps, law: [], saturated_at: null, saturated_words: '' })).toBe(
      'n = 18 runs with 2 numbers of users',
    );
    expect(steps.map((step) => scalingLines(step)[0])).toEqual(['1 user', '4 users']);
    expect(scalingLines({ users: 4, per_s: 60, per_user_per_s: 15, runs: 16 })[2]).toContain('15');
  });
});
