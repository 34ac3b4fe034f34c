//! Packs figures over time as letters, which take a quarter of the space of JSON. `ui/src/unpack.ts` unpacks them.
//!
//! A track is a sequence of bits. Each letter of the base64 alphabet holds six bits, highest first. Zeros fill the last letter.
//! - 6 bits: the exponent, plus 32. Every figure is a whole multiple of this power of ten.
//! - 1 bit each: whether there is a `low`, whether there is a `high`.
//! - The columns `mid`, `low`, `high`. Each has 5 bits with the number of low bits that are written literally (the rest), 1 bit
//!   that says whether differences have signs, and a number for each bin.
//!
//! A number is 0 without a figure, otherwise a difference plus 1. `mid` differs from the previous figure, `low` counts down from
//! the bin's `mid`, and `high` counts up from it. Without a `mid`, the previous one applies; the first difference counts from 0. A
//! signed difference is doubled if it is not negative; otherwise its absolute value is doubled, and reduced by 1.
//!
//! A number is written as its high bits in unary, which are ones followed by a zero, and then its rest. If that takes [`ONES_MAX`]
//! ones or more, it is written as that many ones, its length in 6 bits, and all its bits.

use super::rounded::{Decimal, Rounded};
use super::thin::Points;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const EXPONENT_BITS: u32 = 6;
const EXPONENT_MIN: i32 = -32;
const EXPONENT_MAX: i32 = 31;
/// Maximum number of digits of a multiple, so that differences are exact in the page's 64-bit floating-point numbers.
const DIGITS_MAX: i32 = 15;
const REST_BITS: u32 = 5;
const REST_MAX: u32 = (1 << REST_BITS) - 1;
const ONES_MAX: u64 = 8;
const LENGTH_BITS: u32 = 6;

/// Packs a track. Figures that are more than fifteen digits smaller than the largest lose digits. Those beyond 10^46 become
/// missing.
pub(super) fn packed(points: &Points) -> String {
    let exponent = exponent(points);
    let multiples = |column: &Vec<Rounded>| -> Vec<Option<i64>> {
        column.iter().map(|figure| multiple(figure.decimal()?, exponent)).collect()
    };
    let mid = multiples(&points.mid);
    let mut last = 0;
    let known = |figure: &Option<i64>| {
        last = figure.unwrap_or(last);
        last
    };
    let mids: Vec<i64> = mid.iter().map(known).collect();
    let before: Vec<i64> = [0].into_iter().chain(mids.iter().copied()).collect();
    let mut bits = Bits::default();
    bits.push_bits((exponent - EXPONENT_MIN) as u64, EXPONENT_BITS);
    bits.push_bits(u64::from(points.low.is_some()), 1);
    bits.push_bits(u64::from(points.high.is_some()), 1);
    let differences = |column: &[Option<i64>], from: &[i64], sign: i64| -> Vec<Option<i64>> {
        column.iter().zip(from).map(|(figure, from)| figure.map(|figure| sign * (figure - from))).collect()
    };
    bits.column(&differences(&mid, &before, 1));
    for (extreme, sign) in [(&points.low, -1), (&points.high, 1)] {
        if let Some(column) = extreme {
            bits.column(&differences(&multiples(column), &mids, sign));
        }
    }
    bits.letters()
}

/// Largest power of ten that divides all figures, as far as the largest figure allows.
fn exponent(points: &Points) -> i32 {
    let columns = [Some(&points.mid), points.low.as_ref(), points.high.as_ref()];
    let decimals = columns.into_iter().flatten().flatten().filter_map(|figure| figure.decimal());
    let decimals = decimals.filter(|decimal| decimal.digits != 0);
    let mut reach: Option<(i32, i32)> = None;
    for Decimal { digits, exponent } in decimals {
        let end = exponent + digits.unsigned_abs().ilog10() as i32 + 1;
        let (least, most) = reach.unwrap_or((exponent, end));
        reach = Some((least.min(exponent), most.max(end)));
    }
    let (least, end) = reach.unwrap_or((0, 0));
    least.max(end - DIGITS_MAX).clamp(EXPONENT_MIN, EXPONENT_MAX)
}

/// Figure as a multiple of 10^`exponent`. `None` if it has too many digits.
fn multiple(Decimal { digits, exponent: own }: Decimal, exponent: i32) -> Option<i64> {
    let scale = 10i64.checked_pow((own - exponent).unsigned_abs());
    match own >= exponent {
        true => digits
            .checked_mul(scale?)
            .filter(|multiple| multiple.unsigned_abs() < 10u64.pow(DIGITS_MAX as u32)),
        false => Some(scale.map_or(0, |scale| (digits as f64 / scale as f64).round() as i64)),
    }
}

/// Combines bits into letters.
#[derive(Default)]
struct Bits {
    letters: Vec<u8>,
    open: u64,
    open_bits: u32,
}

impl Bits {
    /// Appends the lowest `count` bits of a number.
    fn push_bits(&mut self, number: u64, count: u32) {
        for bit in (0..count).rev() {
            self.open = self.open << 1 | number >> bit & 1;
            self.open_bits += 1;
            if self.open_bits == 6 {
                self.letters.push(ALPHABET[(self.open & 63) as usize]);
                (self.open, self.open_bits) = (0, 0);
            }
        }
    }

    fn column(&mut self, differences: &[Option<i64>]) {
        let has_signs = differences.iter().flatten().any(|difference| *difference < 0);
        let number = |difference: &Option<i64>| match difference {
            None => 0,
            Some(difference) if !has_signs => difference.unsigned_abs() + 1,
            Some(difference) => (difference.unsigned_abs() << 1) + u64::from(*difference >= 0),
        };
        let numbers: Vec<u64> = differences.iter().map(number).collect();
        let all_bits =
            |rest: &u32| numbers.iter().map(|number| u64::from(bit_count(*number, *rest))).sum::<u64>();
        let rest = (0..=REST_MAX).min_by_key(all_bits).unwrap_or(0);
        self.push_bits(u64::from(rest), REST_BITS);
        self.push_bits(u64::from(has_signs), 1);
        for number in numbers {
            let ones = (number >> rest).min(ONES_MAX);
            self.push_bits((1 << ones) - 1, ones as u32);
            if ones < ONES_MAX {
                self.push_bits(0, 1);
                self.push_bits(number, rest);
            } else {
                let length = u64::BITS - number.leading_zeros();
                self.push_bits(u64::from(length), LENGTH_BITS);
                self.push_bits(number, length);
            }
        }
    }

    fn letters(mut self) -> String {
        self.push_bits(0, (6 - self.open_bits) % 6);
        self.letters.into_iter().map(char::from).collect()
    }
}

/// Number of bits that a number takes.
fn bit_count(number: u64, rest: u32) -> u32 {
    match number >> rest {
        ones @ 0..ONES_MAX => ones as u32 + 1 + rest,
        _ => ONES_MAX as u32 + LENGTH_BITS + (u64::BITS - number.leading_zeros()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::{env, fs};

    use serde_json::{Value, json};

    fn points(columns: [&[Option<f64>]; 3]) -> Points {
        let column = |figures: &[Option<f64>]| figures.iter().map(|figure| Rounded::from(*figure)).collect();
        let [mid, low, high] = columns.map(column);
        let unless_empty = |column: Vec<Rounded>| Some(column).filter(|column| !column.is_empty());
        Points { mid, low: unless_empty(low), high: unless_empty(high) }
    }

    fn mid(figures: &[f64]) -> Points {
        let figures: Vec<Option<f64>> = figures.iter().map(|figure| Some(*figure)).collect();
        points([&figures, &[], &[]])
    }

    /// Typical and unusual tracks.
    fn tracks() -> Vec<(&'static str, Points)> {
        let steps = |scale: f64, base: f64| -> Vec<Option<f64>> {
            let noise = |place: u32| f64::from(place.wrapping_mul(2_654_435_761) >> 20) / 4096.0;
            (0..40).map(|place| (place % 11 != 7).then(|| base + scale * noise(place))).collect()
        };
        let all = |figures: [Option<f64>; 3]| figures.to_vec();
        vec![
            ("no bins", mid(&[])),
            ("no figure", points([&[None, None], &[], &[]])),
            ("zero, and minus zero", mid(&[0.0, -0.0])),
            ("constant", mid(&[7.0; 20])),
            ("growing", mid(&[1.0, 2.0, 3.0, 5.0])),
            ("negative", mid(&[-1.5, 2.0, -3.25])),
            ("a peak", mid(&[12.0, 13.0, 9_876_000.0, 12.0])),
            ("four digits, small and large", mid(&[0.000_123_4, 1_235.0])),
            ("more than fifteen digits apart", mid(&[1.234e12, 0.123_4, 1.234e-5])),
            ("the smallest", mid(&[1e-32, 9.999e-29])),
            ("smaller than the smallest", mid(&[1e-32, 4e-33, 1e-300])),
            ("the largest", mid(&[9.999e45, 1e31])),
            ("larger than the largest", mid(&[1e46, -1e300, 1e45])),
            (
                "with extremes",
                points([
                    &all([Some(20.0), None, Some(12.0)]),
                    &all([Some(10.0), None, Some(9.5)]),
                    &all([Some(30.0), None, Some(18.0)]),
                ]),
            ),
            (
                "extremes on the other side, and where there is nothing between",
                points([
                    &all([None, Some(5.0), Some(5.0)]),
                    &all([Some(2.0), Some(6.0), None]),
                    &all([Some(2.0), Some(4.0), None]),
                ]),
            ),
            ("a high alone", points([&all([Some(1.0); 3]), &[], &all([Some(2.0), Some(1.0), None])])),
            ("noise", points([&steps(100.0, 50.0), &steps(10.0, 40.0), &steps(1e3, 160.0)])),
            ("small noise", points([&steps(1e-3, 2e-2), &[], &steps(2e-3, 2e-2)])),
            ("bytes", points([&steps(1e6, 120e6), &steps(1e5, 119e6), &[]])),
        ]
    }

    /// `ui/src/unpack.test.ts` reads this file.
    #[test]
    fn letters_match_golden_file() {
        let told = |(name, points): (&str, Points)| -> Value {
            let column =
                |column: &Vec<Rounded>| -> Value { column.iter().map(|figure| json!(figure)).collect() };
            let [low, high] = [&points.low, &points.high].map(|extreme| extreme.as_ref().map(column));
            json!({ "name": name, "letters": packed(&points), "mid": column(&points.mid), "low": low, "high": high })
        };
        let text: Vec<String> = tracks().into_iter().map(|track| told(track).to_string()).collect();
        let text = format!("[\n{}\n]\n", text.join(",\n"));
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/packed.json");
        if env::var_os("UPDATE").is_some() {
            fs::write(path, &text).unwrap();
        }
        assert_eq!(fs::read_to_string(path).unwrap(), text, "UPDATE=1 writes {path}");
    }

    #[test]
    fn packed_size_follows_information() {
        assert_eq!(packed(&mid(&[1234.0; 600])).len(), 1 + 1 + 1 + 600 * 2 / 6 + 4);
        let [letters, json] = [packed, |points: &Points| serde_json::to_string(&points.mid).unwrap()]
            .map(|of| of(&tracks().pop().unwrap().1).len());
        assert!(letters * 3 < json, "{letters} {json}");
    }
}
