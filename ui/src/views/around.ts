/** The load around an event: what to draw of its course, relative to when the event began. Losses: `lost.ts`. */

import type { Course, HappenedEvent, Run } from '../report';
import { count, decimal, duration } from '../format';
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

/** Values per second in each step: the middle of the step, in seconds since the event began, and two columns. */
export function rates({ begun_s, course }: Around): number[][] {
  const perSecond = (values: number[]): number[] => values.map((value) => value / course.step_s);
  return [middles({ begun_s, course }), perSecond(course.ok), perSecond(course.planned)];
}

/** Response times of the ok answers, in milliseconds. */
export function times({ begun_s, course }: Around): (number | null)[][] {
  return [middles({ begun_s, course }), course.p50_ms, course.max_ms];
}

/** The middle of each step, in seconds since the event began. */
export function middles({ begun_s, course }: Pick<Around, 'begun_s' | 'course'>): number[] {
  const { from_s, step_s, ok } = course;
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

/** When it began, as on the terminal: `at 4.0 s`, from the end of the warm-up. */
export function whenText(begun_s: number): string {
  return `at ${decimal(begun_s, 1).replace('-', '−')} s`;
}

/** What the event cost, in one line. */
export function costText({ cost, why }: HappenedEvent): string {
  return cost === null ? (why ?? 'cost unknown') : cost.words.join(' · ');
}

/** What the charts of an event show: `n = 1,500 ok answers, in steps of 100 ms`. */
export function sampleText({ course }: Around): string {
  const answers = course.ok.reduce((sum, ok) => sum + ok, 0);
  return `n = ${count(answers)} ok ${answers === 1 ? 'answer' : 'answers'}, in steps of ${duration(course.step_s * 1000)}`;
}
