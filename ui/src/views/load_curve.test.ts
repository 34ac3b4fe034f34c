/** Curves join a variant over its loads, and words find places that touch nothing. */

import { describe, expect, it } from 'vitest';
import { FIXTURES } from '../../fixtures';
import { bestCurves, curves, instants, isSpread } from './load_curve';
import { measures } from './measures';
import { around, placed } from './place';

const study = FIXTURES.study();
const load = study.loads[0];
if (!load) throw new Error('the study has a load');
const all = measures(study, load);
const one = (key: string): (typeof all)[number] => {
  const found = all.find((measure) => measure.key === key);
  if (!found) throw new Error(`no ${key}`);
  return found;
};

describe('curves', () => {
  const made = curves(study, one('throughput'), one('p99'));
  it('have a spot for each load in which the variant did anything', () => {
    expect(made).toHaveLength(load.rows.length);
    for (const curve of made) {
      expect(curve.spots.length).toBeGreaterThan(0);
      expect(curve.spots.map((spot) => spot.load)).toEqual([0, 1].slice(0, curve.spots.length));
      for (const spot of curve.spots)
        expect([spot.row.name, spot.x > 0, spot.y > 0]).toEqual([curve.name, true, true]);
    }
  });
  it('of the best are one for each system', () => {
    expect(
      bestCurves(load, made)
        .map((curve) => curve.system)
        .sort(),
    ).toEqual(['passenger', 'puma', 'unicorn']);
  });
});

describe('instants', () => {
  it('begin after the warm-up', () => {
    const report = FIXTURES.run();
    const run = report.runs[0];
    if (!run) throw new Error('there is a run');
    const found = instants(report, run);
    expect(found.length).toBeGreaterThan(5);
    expect(found[0]?.at_s).toBeGreaterThanOrEqual(run.warm_up_s);
    expect(instants(report, { ...run, series: null })).toEqual([]);
    expect(instants({ ...report, charts: [] }, run)).toEqual([]);
  });
});

describe('a cloud of points', () => {
  const of = (...rates: number[]) => rates.map((rate) => ({ rate }));
  it('says something where the rate varies by a fifth', () => {
    expect(isSpread(of(100, 90, 81))).toBe(false);
    expect(isSpread(of(100, 90, 80))).toBe(true);
    expect([isSpread(of()), isSpread(of(0, 0))]).toEqual([false, false]);
  });
});

describe('words beside marks', () => {
  const room = { left: 0, top: 0, right: 100, foot: 100 };
  it('stand at the right where there is room, then at the left', () => {
    expect(placed([{ x: 10, y: 50, width: 40 }], room, [])[0]?.anchor).toBe('start');
    expect(placed([{ x: 90, y: 50, width: 40 }], room, [])[0]?.anchor).toBe('end');
  });
  it('touch neither each other nor marks', () => {
    const same = { x: 50, y: 50, width: 30 };
    const spots = placed(
      Array.from({ length: 12 }, () => same),
      room,
      [],
    );
    expect(spots.slice(0, 4).map((spot) => spot?.anchor)).toEqual(['start', 'end', 'middle', 'middle']);
    expect(spots.at(-1)).toBeNull();
    expect(placed([{ x: 10, y: 50, width: 40 }], room, [around(30, 50, 5)])[0]?.y).not.toBe(54);
  });
});
