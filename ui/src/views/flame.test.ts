import { describe, expect, it } from 'vitest';
import type { CpuProfile, CpuProfiles } from '../report';
import { boxes, callsOf, found, neighbor } from './flame';

const profile: CpuProfile = {
  row: 0,
  runs: 1,
  samples: 100,
  us_per_request: null,
  calls: [
    [0, 0, 0],
    [1, 1, 10],
    [2, 2, 30],
    [2, 3, 20],
    [1, 4, 40],
  ],
  least_share: 0.001,
  doubts: [],
};
const cpu: CpuProfiles = {
  frames: [
    ['web', '', 0],
    ['main', 'web', 1],
    ['memcpy', 'libc.so.6', 1],
    ['send', 'kernel', 2],
    ['[other functions]', '', 1],
  ],
  profiles: [profile],
  differences: [],
  left_out: 0,
};
const calls = callsOf(cpu, profile);
const names = (of: { call: { name: string } }[]): string[] => of.map(({ call }) => call.name);

describe('a call tree', () => {
  it('has totals, places, and kinds', () => {
    expect(calls.map(({ total }) => total)).toEqual([100, 60, 30, 20, 40]);
    expect(calls.map(({ start }) => start)).toEqual([0, 0, 0, 30, 60]);
    expect(calls.map(({ kind }) => kind)).toEqual(['process', 'own', 'library', 'kernel', 'rest']);
  });

  it('is as wide as its samples, and a call that is zoomed to fills the width', () => {
    expect(boxes(calls, -1, 200).map(({ width }) => width)).toEqual([200, 120, 60, 40, 80]);
    const zoomed = boxes(calls, 1, 120);
    expect(names(zoomed)).toEqual(['web', 'main', 'memcpy', 'send']);
    expect(zoomed.map(({ x, width }) => [x, width])).toEqual([
      [0, 120],
      [0, 120],
      [0, 60],
      [60, 40],
    ]);
    expect(names(boxes(calls, -1, 2))).toEqual(['web', 'main']);
    expect(boxes([], -1, 200)).toEqual([]);
  });

  it('is left through arrow keys', () => {
    const drawn = boxes(calls, -1, 200);
    const steps = ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowUp', 'ArrowRight', 'Home'];
    let at = 0;
    expect(steps.map((key) => calls[(at = neighbor(drawn, at, key))]?.name)).toEqual([
      'main',
      'memcpy',
      'send',
      'main',
      '[other functions]',
      'web',
    ]);
  });

  it('is searched by function and file, and samples count once', () => {
    expect(found(calls, 'MAIN').samples).toBe(60);
    expect(found(calls, 'web')).toEqual({ matches: new Set([0, 1]), samples: 100 });
    expect(found(calls, 'libc').samples).toBe(30);
    expect(found(calls, ' ').matches.size).toBe(0);
    expect(found(calls, '.*').matches.size).toBe(0);
  });
});
