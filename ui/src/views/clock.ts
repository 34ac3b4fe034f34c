/** Formats the time since the end of the warm-up, and computes the ticks of a time axis. */

/** `1:23`, `1:02:03`; tenths of a second only if there are any, such as `0:01.5`. */
export function clock(seconds: number): string {
  const tenths = Math.round(Math.abs(seconds) * 10);
  const whole = Math.floor(tenths / 10);
  const part = tenths % 10 === 0 ? '' : `.${tenths % 10}`;
  const two = (figure: number): string => String(figure).padStart(2, '0');
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const sign = seconds < 0 && tenths > 0 ? '−' : '';
  const front = hours > 0 ? `${hours}:${two(minutes)}` : String(minutes);
  return `${sign}${front}:${two(whole % 60)}${part}`;
}

/** The time range of a bin that begins then: `1:23` for a second, else `1:21–1:24`. */
export function span(from: number, binSeconds: number): string {
  return binSeconds === 1 ? clock(from) : `${clock(from)}–${clock(from + binSeconds)}`;
}

/** The length of a bin: `1 s`, `3 s`, `2 min`, `1 min 30 s`. */
export function long(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const rest = Math.round((seconds - minutes * 60) * 10) / 10;
  if (minutes === 0) return `${rest} s`;
  return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`;
}

const STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
] as const;

/** The start and the end of an axis, in seconds after the warm-up. */
export interface Stretch {
  from: number;
  until: number;
}

/** Ticks at round times, with at most `most` steps. */
export function timeTicks({ from, until }: Stretch, most: number): number[] {
  const room = Math.max(1, most);
  const length = until - from;
  const days = Math.max(1, Math.ceil(length / 86_400 / room)) * 86_400;
  const step = STEPS.find((seconds) => length / seconds <= room) ?? days;
  const ticks: number[] = [];
  const first = Math.ceil(from / step - 1e-9) * step;
  // No negative zero.
  for (let at = first + 0; at <= until + 1e-9 && ticks.length <= room + 1; at += step) ticks.push(at);
  return ticks;
}

/** Ticks and labels of an axis of this width in pixels: `0:30`, or `6 h` if all ticks are whole hours. */
export function timeTexts(stretch: Stretch, width: number): { value: number; text: string }[] {
  const length = stretch.until - stretch.from;
  const ticks = timeTicks(stretch, Math.floor(width / (length >= 3600 ? 70 : 56)));
  const areHours = ticks.length > 1 && ticks.every((value) => value % 3600 === 0);
  return ticks.map((value) => ({ value, text: areHours ? `${value / 3600} h` : clock(value) }));
}
