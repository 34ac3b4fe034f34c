/** Formats values with the same digits and units as the other report formats. */

import type { Unit } from './report';

/** Creating a formatter is far slower than using it. */
const formats = new Map<string, Intl.NumberFormat>();

function format(kind: 'decimals' | 'significant', digits: number): Intl.NumberFormat {
  const key = `${kind} ${digits}`;
  let known = formats.get(key);
  if (!known) {
    known = new Intl.NumberFormat(
      'en-US',
      kind === 'decimals'
        ? { minimumFractionDigits: digits, maximumFractionDigits: digits }
        : { minimumSignificantDigits: digits, maximumSignificantDigits: digits },
    );
    formats.set(key, known);
  }
  return known;
}

/** `1,234,567`. */
export function count(value: number): string {
  return decimal(Math.round(value), 0);
}

/** With a fixed number of decimals, and commas between thousands. */
export function decimal(value: number, decimals: number): string {
  return format('decimals', decimals).format(value);
}

/** With a fixed number of significant digits, never with an exponent. */
function significant(value: number, digits: number): string {
  return format('significant', digits).format(value);
}

/** A value with its unit: `1,281.1/s`, `7.37 ms`, `44.8 %`, `70.3 MiB`. */
export function formatValue(value: number | null, unit: Unit): string {
  if (value === null || !Number.isFinite(value)) return 'n/a';
  switch (unit) {
    case 'per_s':
      return `${digits(value)}/s`;
    case 'ms':
      return duration(value);
    case 'us':
      return `${value >= 999.95 ? decimal(value, 0) : digits(value)} µs`;
    case 'share':
      return `${decimal(value * 100, shareDecimals(value))} %`;
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
    case 'request-seconds':
      return `${digits(value)} ${unit}`;
  }
}

/** As many decimals of a percentage as matter, as on the terminal: 12.3 %, 1.23 %, 0.0123 %, 99.95 %. */
function shareDecimals(share: number): number {
  if (share > 0 && share < 0.001) return 4;
  return share < 0.1 || (share > 0.999 && share < 1) ? 2 : 1;
}

/** Three to five significant digits. */
export function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 9999.95) return decimal(value, 0);
  if (size >= 99.995) return decimal(value, 1);
  if (size >= 1) return decimal(value, 2);
  return size === 0 ? '0' : significant(value, 3);
}

/** Milliseconds in the unit that fits their size. */
export function duration(ms: number): string {
  if (ms === 0) return '0 ms';
  // A value that rounds up to 1,000 belongs to the next unit.
  if (ms < 0.0009995) return `${significant(ms * 1e6, 3)} ns`;
  if (ms < 0.9995) return `${significant(ms * 1e3, 3)} µs`;
  if (ms < 9999.5) return `${ms < 999.5 ? significant(ms, 3) : decimal(ms, 0)} ms`;
  return `${decimal(ms / 1000, 1)} s`;
}

export function bytes(value: number): string {
  if (value >= 1023.95 * 2 ** 20) return `${decimal(value / 2 ** 30, 2)} GiB`;
  if (value >= 1023.95 * 2 ** 10) return `${decimal(value / 2 ** 20, 1)} MiB`;
  if (value >= 1023.5) return `${decimal(value / 2 ** 10, 1)} KiB`;
  return `${count(value)} B`;
}
