//! Hold times drawn from seeded streams. Equal seed and worker give equal times.

use rand_core::Rng;
use rand_pcg::Pcg64;
use std::f64::consts::TAU;
use std::time::Duration;

/// Longest hold time. Longer draws are capped.
pub(crate) const HOLD_MAX: Duration = Duration::from_secs(60);

/// 99 % quantile of the standard normal distribution.
const Z99: f64 = 2.326_347_874_040_841;

/// Distribution of hold times, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Distribution {
    /// Constant time.
    Constant { us: f64 },
    /// Exponential with this mean.
    Exponential { mean_us: f64 },
    /// Lognormal: the logarithm is normal with standard deviation `sigma`.
    Lognormal { median_us: f64, sigma: f64 },
}

impl Distribution {
    /// Creates a lognormal distribution with this median and 99 % quantile. `p99_us` must be at least `median_us`.
    pub(crate) fn lognormal_by_p99(median_us: f64, p99_us: f64) -> Self {
        Self::Lognormal { median_us, sigma: (p99_us / median_us).ln() / Z99 }
    }
}

/// Reproducible stream of hold times, owned by one worker.
pub(crate) struct Stream(Pcg64);

impl Stream {
    pub(crate) fn new(seed: u64, worker: usize) -> Self {
        Self(Pcg64::new(u128::from(seed), worker as u128))
    }

    /// Draws the next hold time.
    pub(crate) fn draw(&mut self, distribution: Distribution) -> Duration {
        let us = match distribution {
            Distribution::Constant { us } => us,
            Distribution::Exponential { mean_us } => -mean_us * self.uniform().ln(),
            Distribution::Lognormal { median_us, sigma } => median_us * (sigma * self.normal()).exp(),
        };
        // Caps before the conversion, because a heavy tail may overflow to infinity.
        Duration::from_nanos((us * 1e3).clamp(0.0, HOLD_MAX.as_nanos() as f64).round() as u64)
    }

    /// Draws from the uniform distribution on (0, 1], so that its logarithm is finite.
    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Draws from the standard normal distribution (Box–Muller transform).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (TAU * self.uniform()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 100_000;

    fn sorted_us(distribution: Distribution) -> Vec<f64> {
        let mut stream = Stream::new(7, 0);
        let mut times: Vec<f64> =
            (0..DRAWS).map(|_| stream.draw(distribution).as_nanos() as f64 / 1e3).collect();
        times.sort_by(f64::total_cmp);
        times
    }

    /// Returns the Kolmogorov–Smirnov distance between the empirical and the true distribution function.
    fn distance(times: &[f64], truth: impl Fn(f64) -> f64) -> f64 {
        let n = times.len() as f64;
        let gap = |(rank, &time): (usize, &f64)| {
            let f = truth(time);
            (f - rank as f64 / n).abs().max((f - (rank + 1) as f64 / n).abs())
        };
        times.iter().enumerate().map(gap).fold(0.0, f64::max)
    }

    #[test]
    fn exponential_draws_follow_their_distribution_function() {
        let times = sorted_us(Distribution::Exponential { mean_us: 5_000.0 });
        // Dvoretzky–Kiefer–Wolfowitz bound at an error probability of 1 %.
        assert!(distance(&times, |t| 1.0 - (-t / 5_000.0).exp()) < 0.0052);
    }

    #[test]
    fn lognormal_draws_have_the_requested_quantiles() {
        let times = sorted_us(Distribution::lognormal_by_p99(5_000.0, 50_000.0));
        let quantile = |q: f64| times[(q * DRAWS as f64) as usize];
        // ln t is normal with standard deviation ln(10) / z99 = 0.98978, and has these quantiles.
        for (q, truth) in
            [(0.25, 2_564.8), (0.5, 5_000.0), (0.75, 9_747.2), (0.9, 17_780.0), (0.99, 50_000.0)]
        {
            let found = quantile(q);
            assert!((found / truth - 1.0).abs() < 0.04, "quantile {q}: {found} instead of {truth}");
        }
    }

    #[test]
    fn draws_are_reproducible_and_differ_between_workers() {
        let draws = |seed, worker| {
            let mut stream = Stream::new(seed, worker);
            (0..50).map(|_| stream.draw(Distribution::Exponential { mean_us: 1e6 })).collect::<Vec<_>>()
        };
        assert_eq!(draws(1, 0), draws(1, 0));
        assert_ne!(draws(1, 0), draws(2, 0));
        assert_ne!(draws(1, 0), draws(1, 1));
    }

    #[test]
    fn draws_are_capped_at_the_max_hold() {
        let mut stream = Stream::new(1, 0);
        let wild = Distribution::Lognormal { median_us: 6e7, sigma: 5.0 };
        assert!((0..1000).all(|_| stream.draw(wild) <= HOLD_MAX));
    }
}
