/** Curves connect the loads of a variant, and labels do not overlap. */

import { describe, expect, it } from 'vitest';
import { FIXTURES } from '../../fixtures';
import { bestCurves, curves, binPoints, isSpread } from './load_curve';
import { measures } from './measures';
import { boxAround, placeLabels } from './place_labels';

const study = FIXTURES.study();
const load = study.loads[0];
if (!load) throw new Error('no load');
const all = measures(study, load);
const one = (key: string): (typeof all)[number] => {
  const found = all.find((measure) => measure.key === key);
  if (!found) throw new Error(`no ${key}`);
  return found;
};

describe('curves', () => {
  const made = curves(study, one('throughput'), one('p99'));
  it('have a point for each load with results of the variant', () => {
    expect(made).toHaveLength(load.rows.length);
    for (const curve of made) {
      expect(curve.spots.length).toBeGreaterThan(0);
      expect(curve.spots.map((spot) => spot.load)).toEqual([0, 1].slice(0, curve.spots.length));
      for (const spot of curve.spots)
        expect([spot.row.name, spot.x > 0, spot.y > 0]).toEqual([curve.name, true, true]);
    }
  });
  it('of the best rows are one per system', () => {
    expect(
      bestCurves(load, made)
        .map((curve) => curve.system)
        .sort(),
    ).toEqual(['passenger', 'puma', 'unicorn']);
  });
});

describe('bins', () => {
  it('start after the warm-up', () => {
    const report = FIXTURES.run();
    const run = report.runs[0];
    if (!run) throw new Error('no run');
    const found = binPoints(run);
    expect(found.length).toBeGreaterThan(5);
    expect(found[0]?.at_s).toBeGreaterThanOrEqual(0);
    expect(binPoints({ ...run, series: null })).toEqual([]);
  });
});

describe('a cloud of points', () => {
  const of = (...rates: number[]) => rates.map((rate) => ({ rate }));
  it('is drawn if the rate varies by a fifth', () => {
    expect(isSpread(of(100, 90, 81))).toBe(false);
    expect(isSpread(of(100, 90, 80))).toBe(true);
    expect([isSpread(of()), isSpread(of(0, 0))]).toEqual([false, false]);
  });
});

describe('labels next to marks', () => {
  const room = { left: 0, top: 0, right: 100, bottom: 100 };
  it('are placeLabels at the right if they fit, else at the left', () => {
    expect(placeLabels([{ x: 10, y: 50, width: 40 }], room, [])[0]?.anchor).toBe('start');
    expect(placeLabels([{ x: 90, y: 50, width: 40 }], room, [])[0]?.anchor).toBe('end');
  });
  it('overlap neither each other nor marks', () => {
    const same = { x: 50, y: 50, width: 30 };
    const spots = placeLabels(
      Array.from({ length: 12 }, () => same),
      room,
      [],
    );
    expect(spots.slice(0, 4).map((spot) => spot?.anchor)).toEqual(['start', 'end', 'middle', 'middle']);
    expect(spots.at(-1)).toBeNull();
    expect(placeLabels([{ x: 10, y: 50, width: 40 }], room, [boxAround(30, 50, 5)])[0]?.y).not.toBe(54);
  });
});
