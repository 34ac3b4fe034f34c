//! Small and fast pseudo-random numbers, reproducible from a seed. Good enough for synthetic durations.

/// Pseudo-random number generator: Marsaglia's xorshift64.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    /// Creates a generator. Different seeds give different sequences.
    pub(crate) fn new(seed: u64) -> Self {
        let mut chance = Self((seed ^ 0x9e37_79b9_7f4a_7c15).max(1));
        // Sequences of adjacent seeds are similar at first, so this skips the first numbers.
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

    /// Returns a uniformly distributed number, at least 0 and below 1.
    pub(crate) fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns an approximately standard normal number: the sum of twelve uniform ones, minus 6. Lies between -6 and 6.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.share()).sum::<f64>() - 6.0
    }

    /// Returns a log-normal number with this median. `sigma` is the standard deviation of its logarithm.
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
