//! Chance that is the same in every process: small, quick, and good enough for durations that are made up.

/// Marsaglia's xorshift64.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    /// Different seeds give different chances.
    pub(crate) fn new(seed: u64) -> Self {
        let mut chance = Self((seed ^ 0x9e37_79b9_7f4a_7c15).max(1));
        // Neighbouring seeds look alike until they were stirred.
        (0..16).for_each(|_| {
            chance.bits();
        });
        chance
    }

    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// From 0 up to 1.
    pub(crate) fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// About the normal distribution, by the sum of twelve: its tails end at six.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.share()).sum::<f64>() - 6.0
    }

    /// Mostly near the median, seldom many times as much.
    pub(crate) fn log_normal(&mut self, median: f64, sigma: f64) -> f64 {
        median * (self.normal() * sigma).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_even_and_the_same_again() {
        let mut chance = Chance::new(7);
        let shares: Vec<f64> = (0..10_000).map(|_| chance.share()).collect();
        let mean = shares.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
        let mut again = Chance::new(7);
        assert!(shares.iter().all(|share| *share == again.share()));
        assert!(shares[0] != Chance::new(8).share());
    }
}
