//! Zipf distribution by rejection-inversion: W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates from monotone
//! discrete distributions", ACM Transactions on Modeling and Computer Simulation 6 (1996).
//!
//! The weight k^−s of rank k is bounded by the area under x^−s between k − ½ and k + ½. A point drawn uniformly from the whole area
//! is mapped by the inverse of the integral, and rounded to a rank. The rank is accepted if the point lies within the last k^−s of
//! the rank's area. The cost of a draw does not depend on the number of ranks, and no table is needed.

use crate::chance::Chance;

/// Maximum number of attempts. Nearly every draw is accepted at the first; only invalid parameters reach the maximum.
const ATTEMPTS_MAX: u32 = 1_000;

/// Ranks with weights k^−s, as numbers from `min` on.
#[derive(Clone, Debug)]
pub(super) struct Zipf {
    min: i64,
    ranks: u64,
    exponent: f64,
    /// Bounds of the whole area: from the first rank's area, cut to its weight, to the end of the last rank's area.
    area_from: f64,
    area_to: f64,
    /// Distance below its rank within which a point is accepted without further computation.
    sure: f64,
}

impl Zipf {
    /// Creates the distribution over the numbers from `min`, the most likely, to `max`. Up to 2⁶⁴ − 1 numbers are supported.
    pub(super) fn new(min: i64, max: i64, exponent: f64) -> Self {
        let ranks = max.wrapping_sub(min) as u64;
        let ranks = if max < min { 1 } else { ranks.saturating_add(1) };
        let mut zipf = Self { min, ranks, exponent, area_from: 0.0, area_to: 0.0, sure: 0.0 };
        zipf.area_from = zipf.area(1.5) - 1.0;
        zipf.area_to = zipf.area(ranks as f64 + 0.5);
        zipf.sure = 2.0 - zipf.area_inverse(zipf.area(2.5) - zipf.weight(2.0));
        zipf
    }

    pub(super) fn draw(&self, chance: &mut Chance) -> i64 {
        self.min.wrapping_add((self.rank(chance) - 1) as i64)
    }

    /// Returns the smallest and largest number.
    pub(super) fn range(&self) -> (i64, i64) {
        (self.min, self.min.wrapping_add((self.ranks - 1) as i64))
    }

    /// Draws a rank, counted from 1.
    fn rank(&self, chance: &mut Chance) -> u64 {
        if self.ranks == 1 {
            return 1;
        }
        for _ in 0..ATTEMPTS_MAX {
            let point = self.area_to + chance.unit() * (self.area_from - self.area_to);
            let x = self.area_inverse(point);
            let rank = libm::floor(x + 0.5).clamp(1.0, self.ranks as f64);
            if rank - x <= self.sure || point >= self.area(rank + 0.5) - self.weight(rank) {
                return (rank as u64).min(self.ranks);
            }
        }
        1
    }

    fn weight(&self, x: f64) -> f64 {
        libm::exp(-self.exponent * libm::log(x))
    }

    /// Returns the integral of the weight from 1 to x: (x^(1−s) − 1) / (1 − s), or ln x if s is 1.
    fn area(&self, x: f64) -> f64 {
        let log = libm::log(x);
        log * expm1_ratio((1.0 - self.exponent) * log)
    }

    fn area_inverse(&self, area: f64) -> f64 {
        // Rounding must not fall below the area's lower bound, 1 / (s − 1).
        let product = (area * (1.0 - self.exponent)).max(-1.0);
        libm::exp(area * log1p_ratio(product))
    }
}

/// Returns (eˣ − 1) / x, stable near 0.
fn expm1_ratio(x: f64) -> f64 {
    if x.abs() > 1e-8 { libm::expm1(x) / x } else { 1.0 + x / 2.0 }
}

/// Returns ln(1 + x) / x, stable near 0.
fn log1p_ratio(x: f64) -> f64 {
    if x.abs() > 1e-8 { libm::log1p(x) / x } else { 1.0 - x / 2.0 }
}
