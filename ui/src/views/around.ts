/** The load around an event: what to draw of its course, relative to when the event began. */

import type { Course, HappenedCost, HappenedEvent, Run } from '../report';
import { count, digits, duration } from '../format';
import { niceStep, type Tick } from './scale';

/** An event whose begin and course are known. */
export interface Around {
  event: HappenedEvent;
  begun_s: number;
  course: Course;
}

/** Events of a run with a course; the page has a limit for their number. */
export function around(run: Run): Around[] {
  return (run.happened ?? []).flatMap((event) => {
    const { begun_s, course } = event;
    return begun_s === null || course === null || course.ok.length === 0 ? [] : [{ event, begun_s, course }];
  });
}

/** Values per second in each step: the middle of the step, in seconds since the event began, and three columns. */
export function rates({ begun_s, course }: Around): number[][] {
  const perSecond = (values: number[]): number[] => values.map((value) => value / course.step_s);
  return [middles(begun_s, course), perSecond(course.ok), perSecond(course.planned), perSecond(course.lost)];
}

/** Response times of the ok answers, in milliseconds. */
export function times({ begun_s, course }: Around): (number | null)[][] {
  return [middles(begun_s, course), course.p50_ms, course.max_ms];
}

function middles(begun_s: number, { from_s, step_s, ok }: Course): number[] {
  return ok.map((_, step) => from_s - begun_s + (step + 0.5) * step_s);
}

/** From the first step to the last, in seconds since the event began. */
export function range({ begun_s, course }: Around): [number, number] {
  const low = course.from_s - begun_s;
  return [low, low + course.step_s * course.ok.length];
}

/** Round seconds before and after the begin, which always has a tick. */
export function ticksOf([low, high]: [number, number], width: number): Tick[] {
  const step = niceStep(high - low, Math.max(2, Math.floor(width / 64)), 's');
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.min(Math.floor(high / step + 1e-9), first + 200);
  const numbers = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
  return numbers.map((number) => ({ value: number * step, text: signed(number * step) }));
}

/** `+1.5 s`; `0 s` is the begin. */
export function signed(seconds: number): string {
  const text = String(Number(Math.abs(seconds).toPrecision(6)));
  if (text === '0') return '0 s';
  return `${seconds < 0 ? '−' : '+'}${text} s`;
}

/** When the load was as before, in seconds since the event began; null if it was not. */
export function recovered({ event }: Around): number | null {
  const ms = event.cost?.recovery_ms;
  return typeof ms === 'number' && ms > 0 ? ms / 1000 : null;
}

/** What the event cost, in one line. */
export function costText({ cost, why }: HappenedEvent): string {
  if (cost === null) return why ?? 'cost unknown';
  const worst = cost.worst_response_ms;
  return [
    lostText(cost),
    `outage ${duration(cost.outage_ms)}`,
    ...(worst === null ? [] : [`worst response ${duration(worst)}`]),
    `excess waiting ${digits(cost.excess_wait_s)} s`,
    recoveryText(cost),
  ].join(' · ');
}

/** The keep-alive race is no loss: no client can avoid it. */
function lostText({ lost, lost_by_class }: HappenedCost): string {
  const words = ([name, number]: [string, number]): string => `${count(number)} ${name.replaceAll('_', ' ')}`;
  const classes = lost_by_class.filter(([name]) => name !== STALE).map(words);
  const stale = lost_by_class.filter(([name]) => name === STALE).map(words);
  const all = classes.length === 0 ? `lost ${count(lost)}` : `lost ${count(lost)} (${classes.join(', ')})`;
  return [all, ...stale].join(' · ');
}

const STALE = 'stale_reuse';

function recoveryText({ recovered: is, recovery_ms }: HappenedCost): string {
  if (is === 'no' || recovery_ms === null) return 'did not recover';
  return `recovery ${duration(recovery_ms)}${is === 'unconfirmed' ? ', not confirmed' : ''}`;
}

/** What the charts of an event show: `n = 1,500 ok answers, in steps of 100 ms`. */
export function sampleText({ course }: Around): string {
  const answers = course.ok.reduce((sum, ok) => sum + ok, 0);
  return `n = ${count(answers)} ok ${answers === 1 ? 'answer' : 'answers'}, in steps of ${duration(course.step_s * 1000)}`;
}
