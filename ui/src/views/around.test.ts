import { expect, it } from 'vitest';
import type { HappenedEvent, Run } from '../report';
import {
  around,
  costText,
  range,
  rates,
  recovered,
  sampleText,
  signed,
  ticksOf,
  times,
  whenText,
  type Around,
} from './around';

const EVENT: HappenedEvent = {
  name: 'reload',
  action: 'HUP to nginx',
  outcome: 'done',
  begun_s: 20.05,
  ended_s: 20.15,
  cost: {
    to_s: 24,
    lost: 3,
    outage_ms: 120,
    worst_response_ms: 210,
    excess_wait_s: 1.5,
    recovered: 'yes',
    recovery_ms: 400,
    words: ['lost 3 (3 reset) + 1 stale', 'outage 120 ms'],
  },
  why: null,
  course: {
    from_s: 19.9,
    step_s: 0.1,
    planned: [50, 50, 50],
    ok: [50, 20, 0],
    lost: { reset: [0, 3, 0], stale_reuse: [0, 0, 1] },
    p50_ms: [2, 8, null],
    max_ms: [4, 210, null],
  },
};

function of(event: HappenedEvent): Around {
  const found = around({ happened: [event] } as unknown as Run);
  if (!found[0]) throw new Error('no event');
  return found[0];
}

it('has values per second, at seconds since the event began', () => {
  const [x, ok, planned] = rates(of(EVENT));
  expect(x?.map((at) => Math.round(at * 100) + 0)).toEqual([-10, 0, 10]);
  expect(ok).toEqual([500, 200, 0]);
  expect(planned).toEqual([500, 500, 500]);
  expect(times(of(EVENT))[2]).toEqual([4, 210, null]);
  expect(range(of(EVENT)).map((end) => end.toFixed(2))).toEqual(['-0.15', '0.15']);
});

it('leaves out an event that never began, and one without a course', () => {
  const without = [
    { ...EVENT, begun_s: null },
    { ...EVENT, course: null },
  ];
  expect(around({ happened: without } as unknown as Run)).toEqual([]);
  expect(around({} as unknown as Run)).toEqual([]);
});

it('says what an event cost', () => {
  expect(costText(EVENT)).toBe('lost 3 (3 reset) + 1 stale · outage 120 ms');
  expect(sampleText(of(EVENT))).toBe('n = 70 ok answers, in steps of 100 ms');
  expect(costText({ ...EVENT, cost: null, why: 'too little before it' })).toBe('too little before it');
});

it('marks the recovery only where there was an effect', () => {
  expect(recovered(of(EVENT))).toBe(0.4);
  expect(recovered(of({ ...EVENT, cost: null }))).toBeNull();
});

it('says the time as the terminal does, from the end of the warm-up', () => {
  expect([20.05, 0, -2].map(whenText)).toEqual(['at 20.1 s', 'at 0.0 s', 'at −2.0 s']);
});

it('has a tick where the event began', () => {
  const ticks = ticksOf([-5.05, 8.2], 600);
  expect(ticks.map(({ text }) => text)).toContain('0 s');
  expect(ticks.every(({ value }) => value >= -5.05 && value <= 8.2)).toBe(true);
  expect([signed(-2), signed(1.5), signed(0)]).toEqual(['−2 s', '+1.5 s', '0 s']);
});
