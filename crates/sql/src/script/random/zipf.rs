//! Zipf distribution with any exponent, by rejection-inversion: W. Hörmann and G. Derflinger, "Rejection-inversion to generate
//! variates from monotone discrete distributions", ACM Transactions on Modeling and Computer Simulation 6 (1996).

use load::xoroshiro::Xoroshiro;

/// Maximum number of attempts. Nearly every draw is accepted at the first; only invalid parameters reach the maximum.
const ATTEMPTS_MAX: u32 = 1_000;

/// Draws a number from `min`, the most likely, to `max`. The k-th number has weight k^−`exponent`.
pub(crate) fn zipf(random: &mut Xoroshiro, min: i64, max: i64, exponent: f64) -> i64 {
    let count = max.wrapping_sub(min).wrapping_add(1) as f64;
    let law = ZipfWeights { exponent };
    // The area of the first rank is cut to its weight.
    let (from, to) = (law.area(1.5) - 1.0, law.area(count + 0.5));
    for _ in 0..ATTEMPTS_MAX {
        let point = to + random.unit() * (from - to);
        let rank = law.area_inverse(point).round().clamp(1.0, count);
        if point >= law.area(rank + 0.5) - law.weight(rank) {
            return min.wrapping_add(rank as i64 - 1).clamp(min, max);
        }
    }
    min
}

/// Weight function x^−`exponent`, and its integral.
struct ZipfWeights {
    exponent: f64,
}

impl ZipfWeights {
    fn weight(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    /// Integral from 1 to x.
    fn area(&self, x: f64) -> f64 {
        let log = x.ln();
        let power = (1.0 - self.exponent) * log;
        // (eˣ − 1) / x, stable near 0.
        log * if power.abs() > 1e-8 { power.exp_m1() / power } else { 1.0 + power / 2.0 }
    }

    fn area_inverse(&self, area: f64) -> f64 {
        // Rounding must not fall below the area's lower bound.
        let product = (area * (1.0 - self.exponent)).max(-1.0);
        // ln(1 + x) / x, stable near 0.
        let ratio = if product.abs() > 1e-8 { product.ln_1p() / product } else { 1.0 - product / 2.0 };
        (area * ratio).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_drawn_by_weight() {
        const DRAWS: u32 = 200_000;
        for exponent in [0.2, 0.8, 1.0, 1.2, 3.0] {
            let mut random = Xoroshiro::seed(5);
            let mut counts = [0_u32; 20];
            (0..DRAWS).for_each(|_| counts[zipf(&mut random, 0, 19, exponent) as usize] += 1);
            let weight = |rank: usize| (rank as f64 + 1.0).powf(-exponent);
            let whole: f64 = (0..20).map(weight).sum();
            for (rank, count) in counts.into_iter().enumerate() {
                let (share, expected) = (f64::from(count) / f64::from(DRAWS), weight(rank) / whole);
                assert!(
                    (share - expected).abs() < 0.005,
                    "{exponent}: rank {rank} has {share}, not {expected}"
                );
            }
        }
    }

    #[test]
    fn any_span_and_exponent_stays_within_bounds() {
        let mut random = Xoroshiro::seed(6);
        for (min, max) in [(0, i64::MAX - 1), (i64::MIN, -2), (7, 7), (7, 8)] {
            for exponent in [1e-9, 0.5, 1.0, 1.000_000_001, 20.0, 1000.0] {
                for _ in 0..100 {
                    assert!((min..=max).contains(&zipf(&mut random, min, max, exponent)));
                }
            }
        }
    }
}
