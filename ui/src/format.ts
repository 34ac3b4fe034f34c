/** Figures as texts, with the digits that people read: as in every other format of the report. */

import type { Unit } from './report';

/** `1,234,567`. */
export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** With so many decimals and commas between thousands. */
export function decimal(value: number, decimals: number): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** A figure with its unit: `1,281.1/s`, `7.37 ms`, `44.75 %`, `70.3 MiB`. */
export function figure(value: number | null, unit: Unit): string {
  if (value === null || !Number.isFinite(value)) return 'n/a';
  switch (unit) {
    case 'per_s':
      return `${digits(value)}/s`;
    case 'ms':
      return duration(value);
    case 'us':
      return `${digits(value)} µs`;
    case 'share':
      return `${decimal(value * 100, 2)} %`;
    case 'bytes':
      return bytes(value);
    case 'bytes_per_s':
      return `${bytes(value)}/s`;
    case 'cores':
      return `${decimal(value, 2)} cores`;
    case 'count':
      return digits(value);
    case 's':
      return `${digits(value)} s`;
  }
}

/** Three to five digits that carry meaning. */
export function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 1000) return decimal(value, size >= 10_000 ? 0 : 1);
  if (size >= 100) return decimal(value, 1);
  if (size >= 1) return decimal(value, 2);
  return size === 0 ? '0' : value.toPrecision(3);
}

/** Milliseconds in the unit that people would use. */
export function duration(ms: number): string {
  if (ms === 0) return '0 ms';
  if (ms < 0.001) return `${(ms * 1e6).toPrecision(3)} ns`;
  if (ms < 1) return `${(ms * 1e3).toPrecision(3)} µs`;
  if (ms < 10_000) return `${ms < 100 ? ms.toPrecision(3) : decimal(ms, 0)} ms`;
  return `${decimal(ms / 1000, 1)} s`;
}

export function bytes(value: number): string {
  if (value >= 2 ** 30) return `${decimal(value / 2 ** 30, 2)} GiB`;
  if (value >= 2 ** 20) return `${decimal(value / 2 ** 20, 1)} MiB`;
  if (value >= 2 ** 10) return `${decimal(value / 2 ** 10, 1)} KiB`;
  return `${count(value)} B`;
}
