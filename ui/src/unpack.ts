/** Unpacks time series. `crates/report/src/html/pack.rs` packs them and describes the format. */

import type { Points, Series } from './report';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const EXPONENT_MIN = -32;
const ONES_MAX = 8;

const values = new Int8Array(128).fill(-1);
for (let value = 0; value < LETTERS.length; value += 1) values[LETTERS.charCodeAt(value)] = value;

const unpacked = new WeakMap<Series, Map<string, Points>>();

/** The values of a track, unpacked on first use; undefined if the run has none. */
export function pointsOf(series: Series, key: string): Points | undefined {
  const packed = Object.hasOwn(series.tracks, key) ? series.tracks[key] : undefined;
  if (typeof packed !== 'string') return packed;
  const known = unpacked.get(series) ?? new Map<string, Points>();
  unpacked.set(series, known);
  const points = known.get(key) ?? unpack(packed, series.bins);
  known.set(key, points);
  return points;
}

/** Returns a value or null for every bin, whatever the input. */
export function unpack(letters: string, bins: number): Points {
  const bits = new Bits(letters);
  const exponent = bits.take(6) + EXPONENT_MIN;
  const hasLow = bits.take(1) === 1;
  const hasHigh = bits.take(1) === 1;
  // Division by a whole power of ten gives the exact decimal value; multiplication by its inverse may not.
  const power = Number(`1e${Math.abs(exponent)}`);
  const figures = (multiples: (number | null)[]): (number | null)[] =>
    multiples.map((one) => (one === null ? null : exponent < 0 ? one / power : one * power));

  let last = 0;
  const bases: number[] = [];
  const mid = column(bits, bins).map((difference) => {
    if (difference !== null) last += difference;
    bases.push(last);
    return difference === null ? null : last;
  });
  const extreme = (sign: 1 | -1): (number | null)[] =>
    column(bits, bins).map((difference, bin) =>
      difference === null ? null : (bases[bin] ?? 0) + sign * difference,
    );
  const low = hasLow ? { low: figures(extreme(-1)) } : {};
  const high = hasHigh ? { high: figures(extreme(1)) } : {};
  return { mid: figures(mid), ...low, ...high };
}

/** Differences, and null for missing values. */
function column(bits: Bits, bins: number): (number | null)[] {
  const rest = bits.take(5);
  const hasSigns = bits.take(1) === 1;
  return Array.from({ length: bins }, () => {
    const ones = bits.ones(ONES_MAX);
    const number = ones < ONES_MAX ? ones * 2 ** rest + bits.take(rest) : bits.take(bits.take(6));
    if (number === 0) return null;
    if (!hasSigns) return number - 1;
    return number % 2 === 1 ? (number - 1) / 2 : -number / 2;
  });
}

/** Reads the bits of base64 characters, the highest first; zeros after the last character. */
class Bits {
  private readonly letters: string;
  private next = 0;
  private open = 0;
  private open_bits = 0;

  constructor(letters: string) {
    this.letters = letters;
  }

  /** Reads `count` bits as a number. */
  take(count: number): number {
    let number = 0;
    for (let missing = count; missing > 0;) {
      if (this.open_bits === 0) this.turn();
      const some = Math.min(missing, this.open_bits);
      this.open_bits -= some;
      missing -= some;
      number = number * 2 ** some + ((this.open >> this.open_bits) & ((1 << some) - 1));
    }
    return number;
  }

  /** Counts the ones before the next zero, which is read as well; at most `most`. */
  ones(most: number): number {
    let ones = 0;
    while (ones < most && this.take(1) === 1) ones += 1;
    return ones;
  }

  private turn(): void {
    this.open = Math.max(0, values[this.letters.charCodeAt(this.next)] ?? 0);
    this.open_bits = 6;
    this.next += 1;
  }
}
