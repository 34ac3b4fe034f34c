/** The charts of sections, drawn as if they were in the viewport. */

import { describe, expect, it, vi } from 'vitest';
import { FIXTURES } from '../../fixtures';
import type { Load, Report, Run } from '../report';
import type { Compared } from '../report_compared';
import { latencyLoad } from './latency_load';
import { runs } from './runs';
import { heatMaps } from './heat_maps';

class Observer {
  constructor(
    private readonly callback: (entries: { isIntersecting: boolean }[], observer: Observer) => void,
  ) {}
  observe(): void {
    this.callback([{ isIntersecting: true }], this);
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
  if (!load) throw new Error('no load');
  return load;
}

describe('the chart of all runs', () => {
  /** The number of hollow marks in the charts of a study whose runs are valid except for this change. */
  const hollow = (change: (run: Run) => Partial<Run>): number => {
    const study = FIXTURES.study();
    const all = study.runs.map((run): Run => ({
      ...run,
      standing: 'valid',
      validity: 'valid',
      ...change(run),
    }));
    const drawn = runs({ ...study, runs: all }, first(study));
    return drawn?.querySelectorAll('.side-by-side > :last-child .row .hollow').length ?? -1;
  };
  it('marks the times of suspect and invalid runs', () => {
    expect(hollow(() => ({}))).toBe(0);
    // Its p50 and its p99.
    expect(
      hollow(({ row, block, load }) => (row + load + (block ?? 0) === 0 ? { validity: 'suspect' } : {})),
    ).toBe(2);
  });
});

describe('heat maps', () => {
  const study = FIXTURES.study();
  const load = first(study);
  it('put the star on the best row of the report, whatever metric is shown', () => {
    // The highest value is not always the best row.
    const worst = load.rows.findIndex(({ system, is_best }) => system === 'puma' && !is_best);
    const rows = load.rows.map((row, at) => ({ ...row, is_best: at === worst }));
    const drawn = heatMaps({ ...study, loads: [{ ...load, rows }] }, { ...load, rows });
    const stars = [...(drawn?.querySelectorAll('.cell.best') ?? [])];
    expect(stars.map((star) => star.getAttribute('aria-label'))).toEqual([
      expect.stringMatching(`^${load.rows[worst]?.name ?? ''};`),
    ]);
  });
  it('have the ratio and the color of the verdict in each cell', () => {
    const verdicts = ['reference', 'better', 'worse', 'inconclusive'] as const;
    const rows = load.rows.map((row, at) => {
      const verdict = verdicts[at % verdicts.length] ?? 'none';
      const compared: Compared = { text: `${at}.5 ×`, verdict };
      return { ...row, compared };
    });
    const drawn = heatMaps({ ...study, loads: [{ ...load, rows }] }, { ...load, rows });
    const cells = [...(drawn?.querySelectorAll('.cell') ?? [])];
    const ofRow = (at: number): Element | undefined =>
      cells.find((cell) => cell.getAttribute('aria-label')?.startsWith(`${rows[at]?.name ?? ''};`));
    verdicts.forEach((verdict, at) => {
      expect(ofRow(at)?.querySelector(`.verdict-${verdict}`)).not.toBeNull();
      const text = verdict === 'inconclusive' ? `${at}.5 ×?` : `${at}.5 ×`;
      expect(ofRow(at)?.querySelector('.aside')?.textContent).toBe(text);
    });
    expect(drawn?.querySelectorAll('.heat-0, .heat-5')).toHaveLength(0);
  });
  it('show figures of the plan and physical costs', () => {
    const measures = [
      { key: 'cost wal_bytes', words: 'WAL per request', unit: 'bytes' as const, higher_is_better: false },
    ];
    const rows = load.rows.map((row) => ({
      ...row,
      figures: row.figures && { ...row.figures, further: [4096] },
    }));
    const one = { ...load, rows, measures };
    const drawn = heatMaps({ ...study, loads: [one] }, one);
    const options = [...(drawn?.querySelectorAll('option') ?? [])].map((option) => option.textContent);
    expect(options).toContain('WAL per request, bytes');
  });
});

describe('response time vs. throughput', () => {
  const study = FIXTURES.study();
  const ofOne = (loads: number): Report => ({
    ...study,
    loads: study.loads.slice(0, loads).map((load) => ({ ...load, rows: load.rows.slice(0, 1) })),
  });
  it('is drawn for one variant under several loads, and not for a single point', () => {
    expect(latencyLoad(ofOne(2), first(ofOne(2)))?.querySelectorAll('.stop')).toHaveLength(2);
    expect(latencyLoad(ofOne(1), first(ofOne(1)))).toBeNull();
  });
  it('has all response times in its data table, whichever is drawn', () => {
    const drawn = latencyLoad(study, first(study));
    const details = drawn?.querySelector('details');
    details?.dispatchEvent(new Event('toggle'));
    const heads = [...(details?.querySelectorAll('thead th') ?? [])].map((head) => head.textContent);
    expect(heads).toContain('p50 response time, ms');
    expect(heads).toContain('p99 response time, ms');
    expect(details?.querySelectorAll('tbody tr')).toHaveLength(
      study.loads.reduce((sum, { rows }) => sum + rows.length, 0),
    );
  });
});
