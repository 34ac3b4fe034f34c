/** Outcomes stack up to the error rate. */

import { describe, expect, it } from 'vitest';
import type { Counts, Load, Row } from '../report';
import { errorShare, completed, kinds, parts } from './outcomes';

const counts: Counts = {
  planned: 1000,
  sent: 990,
  not_sent: 10,
  ok: 900,
  rejected: 50,
  failed: 0,
  timed_out: 20,
  unfinished: 20,
};

describe('outcomes', () => {
  it('are stacked, without those that did not occur', () => {
    expect(parts(counts).map(({ outcome, from, to }) => [outcome, from, to])).toEqual([
      ['rejected', 0, 0.05],
      ['timed_out', 0.05, 0.07],
      ['not_sent', 0.07, 0.08],
    ]);
  });
  it('are empty without requests', () => {
    const none = {
      planned: 0,
      sent: 0,
      not_sent: 0,
      ok: 0,
      rejected: 0,
      failed: 0,
      timed_out: 0,
      unfinished: 0,
    };
    expect(parts(none)).toEqual([]);
    expect(errorShare({ figures: null } as unknown as Row)).toBe(0);
  });
  it('stack up to the error rate of the report, which excludes unfinished requests', () => {
    const figures = { counts, error_share: 0.08 };
    expect(errorShare({ figures } as unknown as Row)).toBe(parts(counts).at(-1)?.to);
  });
  it('are counted over all rows, the most frequent errors first', () => {
    const load = {
      rows: [{ figures: { samples: 7 } }, { figures: null }, { figures: { samples: 5 } }],
      errors: [{ count: 1 }, { count: 9 }],
    } as unknown as Load;
    expect(completed(load)).toBe(12);
    expect(kinds(load).map((kind) => kind.count)).toEqual([9, 1]);
  });
});
