//! Seeded random numbers, with a separate stream per purpose and worker.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Reproducible stream of random numbers (PCG64 MCG).
#[derive(Clone, Debug)]
pub struct Chance(Pcg64Mcg);

impl Chance {
    /// Creates a stream from a seed and a stream number, which separates users of one seed.
    pub fn stream(seed: u64, number: u64) -> Self {
        // The odd multiplier spreads neighboring stream numbers, and stream 0 of a seed is the seed itself.
        Self(Pcg64Mcg::seed_from_u64(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    /// Splits off an independent stream. It costs this stream exactly one draw, however much is drawn from the new one.
    pub fn branch(&mut self) -> Self {
        Self(Pcg64Mcg::seed_from_u64(self.0.next_u64()))
    }

    /// Leaves this stream as [`Chance::branch`] does, for a branch that nothing would be drawn from.
    pub fn skip_branch(&mut self) {
        self.0.next_u64();
    }

    /// Draws 128 random bits.
    pub fn bits(&mut self) -> u128 {
        u128::from(self.0.next_u64()) << 64 | u128::from(self.0.next_u64())
    }

    /// Draws from the uniform distribution on [0, 1), in steps of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Draws an integer from `min` to `max`, uniformly and without bias (D. Lemire, "Fast random integer generation in an
    /// interval", ACM Transactions on Modeling and Computer Simulation 29, 2019). `min` if the range is empty.
    pub fn within(&mut self, min: i64, max: i64) -> i64 {
        if max <= min {
            return min;
        }
        let last = max.wrapping_sub(min) as u64;
        let Some(count) = last.checked_add(1) else { return self.0.next_u64() as i64 };
        let mut product = u128::from(self.0.next_u64()) * u128::from(count);
        if (product as u64) < count {
            // Rejects the lowest 2⁶⁴ mod `count` fractions, which would favor some numbers.
            let excess = count.wrapping_neg() % count;
            while (product as u64) < excess {
                product = u128::from(self.0.next_u64()) * u128::from(count);
            }
        }
        min.wrapping_add((product >> 64) as i64)
    }

    /// Draws from the exponential distribution with mean 1, by inversion: −ln(1 − u).
    pub fn exponential(&mut self) -> f64 {
        -libm::log1p(-self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_reproducible_and_distinct() {
        let draws = |seed, number| {
            let mut chance = Chance::stream(seed, number);
            [chance.unit(), chance.unit()]
        };
        assert_eq!(draws(1, 2), draws(1, 2));
        assert_ne!(draws(1, 2), draws(1, 3));
        assert_ne!(draws(1, 2), draws(2, 2));
    }

    #[test]
    fn branch_costs_one_draw() {
        let drawn = |from_branch: usize| {
            let mut chance = Chance::stream(1, 2);
            let mut branch = chance.branch();
            let first = branch.unit();
            for _ in 1..from_branch {
                branch.unit();
            }
            (first, chance.unit())
        };
        assert_eq!(drawn(1), drawn(100));
        let mut skipped = Chance::stream(1, 2);
        skipped.skip_branch();
        assert_eq!(skipped.unit(), drawn(1).1);
        assert_ne!(drawn(1).0, drawn(1).1);
    }

    #[test]
    fn exponential_draws_have_mean_and_deviation_one() {
        let mut chance = Chance::stream(7, 0);
        let n = 200_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let draw = chance.exponential();
            assert!(draw >= 0.0 && draw.is_finite());
            sum += draw;
            squares += draw * draw;
        }
        let mean = sum / f64::from(n);
        // The standard error is 0.0022: these bounds are more than 8 standard errors away.
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!((squares / f64::from(n) - mean * mean - 1.0).abs() < 0.05);
    }
}
