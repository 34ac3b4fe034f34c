import { describe, expect, it } from 'vitest';
import { study } from '../../fixtures/study';
import {
  at,
  defaultRows,
  joined,
  percent,
  placeOfShare,
  reach,
  shareTicks,
  SHARES,
  slower,
  withSpectrum,
} from './spectrum';

it('gives each nine the same width', () => {
  expect(placeOfShare(0)).toBe(0);
  for (const [share, place] of [
    [0.9, 1],
    [0.99, 2],
    [0.99999, 5],
  ] as const) {
    expect(placeOfShare(share)).toBeCloseTo(place, 9);
  }
  expect(Number.isFinite(placeOfShare(1))).toBe(true);
});

it('formats shares with the necessary number of nines', () => {
  expect(SHARES.map(percent)).toEqual(['0 %', '50 %', '90 %', '99 %', '99.9 %', '99.99 %', '99.999 %']);
  expect(percent(0.206)).toBe('20.6 %');
  expect(percent(0.9968)).toBe('99.7 %');
  expect(percent(0.99968)).toBe('99.97 %');
});

describe('joined', () => {
  it('has the shares of all lines once, and gaps where a line has no point', () => {
    const { shares, values } = joined([
      [
        [0, 1],
        [0.5, 2],
      ],
      [
        [0, 3],
        [0.9, 4],
        [1, 9],
      ],
    ]);
    expect(shares).toEqual([0, 0.5, 0.9]);
    expect(values).toEqual([
      [1, 2, null],
      [3, null, 4],
    ]);
  });
});

describe('at', () => {
  const line = [
    [0, 1],
    [0.9, 3],
    [0.99, 5],
  ] as const;
  it('returns points, and interpolates between them along the axis', () => {
    expect(at(line, 0)).toBe(1);
    expect(at(line, 0.9)).toBe(3);
    expect(at(line, 1 - 10 ** -1.5)).toBeCloseTo(4, 9);
  });
  it('returns null beyond the end', () => {
    expect(at(line, 0.999)).toBeNull();
    expect(at([], 0)).toBeNull();
    expect(at([[0.5, 1]], 0.2)).toBeNull();
  });
});

describe('the default selection', () => {
  const [load] = study().loads;
  if (!load) throw new Error('no load');
  it('is the best row of each system if there are many', () => {
    const shown = defaultRows(load);
    expect(shown.length).toBe(new Set(load.rows.map(({ system }) => system)).size);
    expect(shown.every((row) => load.rows[row]?.is_best)).toBe(true);
  });
  it('is all rows if there are few', () => {
    expect(defaultRows(load, 99)).toEqual(withSpectrum(load));
  });
  it('names the highest percentile', () => {
    expect(
      reach({
        n: 20_000,
        response: [
          [0, 1],
          [0.9995, 9],
        ],
        service: [],
      }),
    ).toBe('up to 99.95 %');
    expect(reach({ n: 0, response: [], service: [] })).toBe('no samples');
  });
});

describe('ticks', () => {
  const texts = (end: number, width: number): string[] => shareTicks(end, width).map(({ text }) => text);
  it('label every nine if they fit', () => {
    expect(texts(5, 1000)).toEqual(SHARES.map(percent));
    expect(texts(2.5, 400)).toEqual(['0 %', '50 %', '90 %', '99 %']);
  });
  it('keep the tail if space is limited', () => {
    expect(texts(5, 300).at(-1)).toBe('99.999 %');
    expect(texts(5, 300)).toContain('50 %');
    expect(texts(5, 300)).not.toContain('0 %');
    expect(texts(5, 60).length).toBeGreaterThan(0);
  });
});

it('describes the share of slower requests', () => {
  expect(slower(0.999)).toBe(': 1 of 1,000 is slower');
  expect(slower(0.5)).toBe(': 1 of 2 is slower');
  expect(slower(0.7)).toBe('');
});
