import { describe, expect, it } from 'vitest';
import { clock, long, span, timeTexts, timeTicks } from './clock';

describe('clock', () => {
  it('shows minutes and seconds, and hours if there are any', () => {
    expect([0, 7, 83, 3599, 3600, 86_399].map(clock)).toEqual([
      '0:00',
      '0:07',
      '1:23',
      '59:59',
      '1:00:00',
      '23:59:59',
    ]);
  });
  it('shows and rounds tenths of a second', () => {
    expect(clock(1.5)).toBe('0:01.5');
    expect(clock(59.96)).toBe('1:00');
    expect(clock(-3)).toBe('−0:03');
  });
});

describe('span', () => {
  it('is a time for a second and a range for longer bins', () => {
    expect(span(83, 1)).toBe('1:23');
    expect(span(6, 3)).toBe('0:06–0:09');
  });
  it('formats the length of a bin', () => {
    expect([1, 3, 60, 90, 0.5].map(long)).toEqual(['1 s', '3 s', '1 min', '1 min 30 s', '0.5 s']);
  });
});

const to = (until: number): { from: number; until: number } => ({ from: 0, until });

describe('timeTicks', () => {
  it('counts from the end of the warm-up', () => {
    expect(timeTicks({ from: -5, until: 40 }, 5)).toEqual([0, 10, 20, 30, 40]);
    expect(timeTicks({ from: -12, until: 18 }, 6)).toEqual([-10, -5, 0, 5, 10, 15]);
  });

  it('uses round times', () => {
    expect(timeTicks(to(70), 7)).toEqual([0, 10, 20, 30, 40, 50, 60, 70]);
    expect(timeTicks(to(300), 5)).toEqual([0, 60, 120, 180, 240, 300]);
    expect(timeTicks(to(86_400), 6)).toEqual([0, 21_600, 43_200, 64_800, 86_400]);
  });
  it('respects the maximum number of ticks for any length', () => {
    for (const until of [0, 0.4, 1, 13, 999, 1e5, 1e7, 1e9]) {
      for (const most of [0, 1, 3, 9]) {
        const ticks = timeTicks(to(until), most);
        expect(ticks[0]).toBe(0);
        expect(ticks.length).toBeLessThanOrEqual(Math.max(1, most) + 1);
      }
    }
  });
  it('uses hours if all ticks are whole hours', () => {
    expect(timeTexts(to(86_400), 400).map(({ text }) => text)).toEqual([
      '0 h',
      '6 h',
      '12 h',
      '18 h',
      '24 h',
    ]);
    expect(timeTexts(to(60), 150).map(({ text }) => text)).toEqual(['0:00', '0:30', '1:00']);
    expect(timeTexts(to(0.4), 150).map(({ text }) => text)).toEqual(['0:00']);
  });
});
