/** Pictures of sections, drawn as if they were in sight. */

import { describe, expect, it, vi } from 'vitest';
import { FIXTURES } from '../../fixtures';
import type { Load, Report, Run } from '../report';
import { latencyLoad } from './latency_load';
import { runs } from './runs';
import { twoKnobs } from './two_knobs';

class Observer {
  constructor(private readonly told: (entries: { isIntersecting: boolean }[], observer: Observer) => void) {}
  observe(): void {
    this.told([{ isIntersecting: true }], this);
  }
  disconnect(): void {
    return;
  }
}

vi.stubGlobal('IntersectionObserver', Observer);
vi.stubGlobal('ResizeObserver', Observer);
vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(1000);

function first(report: Report): Load {
  const [load] = report.loads;
  if (!load) throw new Error('there is a load');
  return load;
}

describe('every run', () => {
  /** The marks of suspect and invalid runs in the pictures of a study of which only these runs are not sound. */
  const hollow = (change: (run: Run) => Partial<Run>): number => {
    const study = FIXTURES.study();
    const all = study.runs.map((run): Run => ({
      ...run,
      standing: 'valid',
      validity: 'valid',
      ...change(run),
    }));
    const drawn = runs({ ...study, runs: all }, first(study));
    return drawn?.querySelectorAll('.beside > :last-child .row .hollow').length ?? -1;
  };
  it('marks the times of runs that may not be believed', () => {
    expect(hollow(() => ({}))).toBe(0);
    // Its median and its 99 %.
    expect(
      hollow(({ row, block, load }) => (row + load + (block ?? 0) === 0 ? { validity: 'suspect' } : {})),
    ).toBe(2);
  });
});

describe('two knobs', () => {
  const study = FIXTURES.study();
  const load = first(study);
  it('have the star where the report has it, whatever is shown', () => {
    // The report may have reasons not to call the highest figure the best.
    const worst = load.rows.findIndex(({ system, is_best }) => system === 'puma' && !is_best);
    const rows = load.rows.map((row, at) => ({ ...row, is_best: at === worst }));
    const drawn = twoKnobs({ ...study, loads: [{ ...load, rows }] }, { ...load, rows });
    const stars = [...(drawn?.querySelectorAll('.cell.best') ?? [])];
    expect(stars.map((star) => star.getAttribute('aria-label'))).toEqual([
      expect.stringMatching(`^${load.rows[worst]?.name ?? ''};`),
    ]);
  });
});

describe('response time against load', () => {
  const study = FIXTURES.study();
  const ofOne = (loads: number): Report => ({
    ...study,
    loads: study.loads.slice(0, loads).map((load) => ({ ...load, rows: load.rows.slice(0, 1) })),
  });
  it('is drawn for one variant under several loads, and not for a single point', () => {
    expect(latencyLoad(ofOne(2), first(ofOne(2)))?.querySelectorAll('.stop')).toHaveLength(2);
    expect(latencyLoad(ofOne(1), first(ofOne(1)))).toBeNull();
  });
  it('has all times among its numbers, whichever is drawn', () => {
    const drawn = latencyLoad(study, first(study));
    const details = drawn?.querySelector('details');
    details?.dispatchEvent(new Event('toggle'));
    const heads = [...(details?.querySelectorAll('thead th') ?? [])].map((head) => head.textContent);
    expect(heads).toContain('median response time, ms');
    expect(heads).toContain('p99 of response time, ms');
    expect(details?.querySelectorAll('tbody tr')).toHaveLength(
      study.loads.reduce((sum, { rows }) => sum + rows.length, 0),
    );
  });
});
