//! Seeded random numbers for reproducible orders, resampling, and noise.

use core::f64::consts::TAU;

use libm::{cos, log, sqrt};

/// SplitMix64 generator (G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn of(seed: u64) -> Self {
        Self(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Draws an integer from `0..count`, uniform up to a bias below 2⁻³². 0 if `count` is 0.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let wide = (self.bits() as u128) * (count as u128);
        (wide >> 64) as usize
    }

    /// Draws from the uniform distribution on [0, 1).
    fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Draws from the standard normal distribution (Box–Muller transform).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = sqrt(-2.0 * log(1.0 - self.uniform()));
        radius * cos(TAU * self.uniform())
    }

    /// Shuffles `items` into a uniformly random order (Fisher–Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_draws_match_the_reference() {
        // First outputs of the reference implementation with seed 1234567.
        let mut chance = Chance::of(1_234_567);
        let drawn = [chance.bits(), chance.bits(), chance.bits()];
        assert_eq!(drawn, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn shuffle_reaches_every_order() {
        let mut counts = [[0u32; 3]; 3];
        let mut chance = Chance::of(7);
        for _ in 0..3_000 {
            let mut items = [0, 1, 2];
            chance.shuffle(&mut items);
            for (place, item) in items.iter().enumerate() {
                counts[place][*item] += 1;
            }
        }
        assert!(counts.iter().flatten().all(|count| (900..1_100).contains(count)), "{counts:?}");
    }
}
