/** Scales map values to pixels: linear from zero, logarithmic, ratios around 1, differences around 0, and bands. */

import type { Unit } from '../report';
import { bytes, decimal } from '../format';

export interface Scale {
  /** The position of a value, in pixels, clamped to the ends. */
  at: (value: number) => number;
  ticks: Tick[];
  low: number;
  high: number;
}

export interface Tick {
  value: number;
  text: string;
}

/** The pixel range of a scale. `to` may be less than `from`, as on a vertical axis. */
export interface Room {
  from: number;
  to: number;
}

/** From zero to `high`, rounded up; steps of 1, 2, or 5. */
export function fromZero(high: number, unit: Unit, room: Room): Scale {
  const length = Math.abs(room.to - room.from);
  const top = high > 0 && Number.isFinite(high) ? high : 1;
  const step = niceStep(top, Math.max(2, Math.floor(length / (room.from > room.to ? 56 : 80))), unit);
  const end = Math.ceil(top / step - 1e-9) * step;
  const ticks: Tick[] = [];
  for (let at = 0; at <= Math.round(end / step) && at < 100; at += 1) {
    ticks.push({ value: at * step, text: tickText(at * step, unit, end) });
  }
  return linear(0, end, ticks, room);
}

/** Between `low` and `high`, both rounded away from zero, which always has a tick. */
export function aroundZero(low: number, high: number, unit: Unit, room: Room): Scale {
  const [least, most] = [Math.min(0, low), Math.max(0, high)];
  const span = most - least > 0 ? most - least : 1;
  const length = Math.abs(room.to - room.from);
  const step = niceStep(span, Math.max(2, Math.floor(length / 80)), unit);
  const first = Math.floor(least / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil(most / step - 1e-9));
  const end = Math.max(Math.abs(first), last) * step;
  const ticks = Array.from({ length: Math.min(100, last - first + 1) }, (_, at) => {
    const value = (first + at) * step;
    const text = tickText(Math.abs(value), unit, end);
    return { value, text: value < 0 ? `−${text}` : text };
  });
  return linear(first * step, last * step, ticks, room);
}

/** Linear between two given ends. */
export function linear(low: number, high: number, ticks: Tick[], { from, to }: Room): Scale {
  const span = high - low || 1;
  const at = (value: number): number => from + (clamp((value - low) / span) || 0) * (to - from);
  return { at, ticks, low, high };
}

/** Ticks at powers of ten, or at steps of 1, 2, and 5 over a small range. `low` and `high` are above zero. */
export function logarithmic(low: number, high: number, unit: Unit, room: Room): Scale {
  const bottom = low > 0 && Number.isFinite(low) ? low : 1;
  const top = Math.max(high, bottom * 1.5);
  const marks = steps(Math.floor(Math.log10(bottom)), Math.ceil(Math.log10(top)));
  const first = marks.findLast((mark) => mark <= bottom * 1.0001) ?? bottom;
  const last = marks.find((mark) => mark >= top * 0.9999) ?? top;
  const scale = logScale(first, last, room);
  const inside = marks.filter((mark) => mark >= first && mark <= last);
  const gap = room.from > room.to ? 22 : 52;
  const decades = inside.filter((mark) => isDecade(mark));
  const choices = [inside, inside.filter((mark) => !leads(mark, 2)), decades];
  const fits = choices.find((choice) => choice.length >= 2 && isApart(choice, scale.at, gap));
  const ticks = (fits ?? withoutOverlaps(decades, scale.at, gap)).map((value) => ({
    value,
    text: logText(value, unit),
  }));
  return { ...scale, ticks };
}

/** Ratios on a log scale around 1, which always has a tick. */
export function ratios(low: number, high: number, room: Room): Scale {
  const bottom = Math.min(low, 1);
  const top = Math.max(high, 1);
  const pad = Math.max(Math.log(top / bottom) * 0.04, 0.004);
  const scale = logScale(bottom * Math.exp(-pad), top * Math.exp(pad), room);
  const fits = grids(scale.low, scale.high).find(
    (values) => values.length > 1 && isApart(values, scale.at, 58),
  );
  return { ...scale, ticks: (fits ?? [1]).map(ratioTick) };
}

/** Differences on a linear scale around 0, which always has a tick. */
export function differences(low: number, high: number, unit: Unit, room: Room): Scale {
  const [bottom, top] = [Math.min(low, 0), Math.max(high, 0)];
  const length = Math.abs(room.to - room.from);
  const span = top - bottom > 0 && Number.isFinite(top - bottom) ? top - bottom : 1;
  const step = niceStep(span, Math.max(2, Math.floor(length / 80)), unit);
  const [first, last] = [Math.floor(bottom / step + 1e-9), Math.ceil(top / step - 1e-9)];
  const end = Math.max(Math.abs(first), Math.abs(last)) * step;
  const ticks: Tick[] = [];
  for (let at = first; at <= last && ticks.length < 100; at += 1) {
    const text = tickText(Math.abs(at * step), unit, end);
    ticks.push({ value: at * step, text: at === 0 ? text : `${at > 0 ? '+' : '−'}${text}` });
  }
  return linear(first * step, Math.max(last, first + 1) * step, ticks, room);
}

/** Candidate ticks of ratios, the finest first: even steps near 1, factors for wide ranges. */
function grids(low: number, high: number): number[][] {
  const even = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]
    .filter((step) => (high - low) / step < 40 && low > step)
    .map((step) => {
      const [first, last] = [Math.ceil((low - 1) / step), Math.floor((high - 1) / step)];
      return Array.from({ length: last - first + 1 }, (_, at) => 1 + (first + at) * step);
    });
  const factors = [
    [1.5, 2, 3, 5, 10, 20, 50, 100],
    [2, 5, 10, 20, 50, 100],
    [2, 10, 100],
    [10, 100, 1000],
    [100],
  ].map((above) =>
    [...above.map((value) => 1 / value).reverse(), 1, ...above].filter(
      (value) => value >= low && value <= high,
    ),
  );
  return high / low < 4 ? [...even, ...factors] : factors;
}

/** With more digits near 1. */
function ratioTick(value: number): Tick {
  const beyond = Math.abs(value - 1);
  if (beyond === 0 || beyond >= 0.0995) return { value, text: beyond === 0 ? '1 ×' : ratioText(value) };
  return { value, text: `${decimal(value, 3).replace(/0$/, '')} ×` };
}

/** A tick label, such as `1.33 ×`. Measured ratios are formatted in Rust. */
function ratioText(value: number): string {
  const decimals = Math.abs(value - 1) < 0.05 ? 3 : value < 9.995 ? 2 : 1;
  return `${decimal(value, decimals)} ×`;
}

/** The centers of `count` equal parts. */
export function band(count: number, { from, to }: Room): { at: (index: number) => number; width: number } {
  const width = Math.abs(to - from) / Math.max(1, count);
  const sign = Math.sign(to - from);
  return { at: (index) => from + sign * (index + 0.5) * width, width };
}

/** A tick label: short, in the unit that fits the end of the axis. */
export function tickText(value: number, unit: Unit, end: number): string {
  if (value === 0) return '0';
  switch (unit) {
    case 'ms':
      if (end >= 10_000) return `${plain(value / 1000)} s`;
      if (end < 1) return `${plain(value * 1000)} µs`;
      return `${plain(value)} ms`;
    case 'us':
      if (end >= 10_000) return `${plain(value / 1000)} ms`;
      return `${plain(value)} µs`;
    case 'share':
      return `${plain(value * 100)} %`;
    case 'bytes':
      return bytes(value)
        .replace(/\.0+ /, ' ')
        .replace(/(\.\d*?)0+ /, '$1 ');
    case 'bytes_per_s':
      return `${tickText(value, 'bytes', end)}/s`;
    case 'per_s':
      return `${plain(value)}/s`;
    case 'cores':
    case 'count':
    case 'request-seconds':
      return plain(value);
    case 's':
      return `${plain(value)} s`;
  }
}

/** On a log scale each tick has its own unit. */
function logText(value: number, unit: Unit): string {
  if (unit === 'ms' && value >= 1000) return `${plain(value / 1000)} s`;
  if (unit === 'us' && value >= 1000) return logText(value / 1000, 'ms');
  return tickText(value, unit, value);
}

/** Without rounding noise, with commas between thousands; `1.5M` from a million on. */
function plain(value: number): string {
  if (Math.abs(value) >= 1e6) return `${plain(value / 1e6)}M`;
  return Number(value.toPrecision(6)).toLocaleString('en-US', { maximumFractionDigits: 12 });
}

/** 1, 2, or 5 times a power of ten; a power of two for bytes. */
export function niceStep(high: number, about: number, unit: Unit): number {
  const raw = high / about;
  if (unit === 'bytes' || unit === 'bytes_per_s') {
    const base = 1024 ** Math.floor(Math.log2(Math.max(raw, 1)) / 10);
    // If the ticks span two units, only powers of two are round in both.
    if (high > 1000 * base) return 2 ** Math.ceil(Math.log2(raw) - 1e-9);
    return niceStep(high / base, about, 'count') * base;
  }
  const power = 10 ** Math.floor(Math.log10(raw));
  const lead = raw / power;
  const step = (lead <= 1.0001 ? 1 : lead <= 2.0001 ? 2 : lead <= 5.0001 ? 5 : 10) * power;
  return unit === 'count' ? Math.max(step, Math.min(1, high)) : step;
}

function logScale(low: number, high: number, { from, to }: Room): Scale {
  const span = Math.log(high / low) || 1;
  const at = (value: number): number =>
    value > 0 ? from + clamp(Math.log(value / low) / span) * (to - from) : from;
  return { at, ticks: [], low, high };
}

function steps(first: number, last: number): number[] {
  const marks: number[] = [];
  for (let power = Math.max(first, -12); power <= Math.min(last, 15); power += 1) {
    for (const lead of [1, 2, 5]) marks.push(Number(`${lead}e${power}`));
  }
  return marks;
}

function isDecade(value: number): boolean {
  return leads(value, 1);
}

function leads(value: number, digit: number): boolean {
  return value.toExponential().startsWith(`${digit}e`);
}

function isApart(values: number[], at: (value: number) => number, gap: number): boolean {
  return values.every((value, index) => {
    const before = values[index - 1];
    return before === undefined || Math.abs(at(value) - at(before)) >= gap;
  });
}

/** Omits ticks that would overlap the previous one. */
function withoutOverlaps(values: number[], at: (value: number) => number, gap: number): number[] {
  const kept: number[] = [];
  for (const value of values) {
    const before = kept.at(-1);
    if (before === undefined || Math.abs(at(value) - at(before)) >= gap) kept.push(value);
  }
  return kept;
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share));
}
