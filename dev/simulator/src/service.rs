//! Service time distributions.

use load::chance::Chance;

/// Distribution of service times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Service {
    /// Constant time.
    Constant {
        /// Service time.
        ns: u64,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean_ns: u64,
    },
    /// Lognormal.
    LogNormal {
        /// Median.
        median_ns: u64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
}

impl Service {
    /// Draws a service time, in nanoseconds.
    #[inline]
    pub fn draw(&self, chance: &mut Chance) -> u64 {
        match *self {
            Self::Constant { ns } => ns,
            Self::Exponential { mean_ns } => (chance.exponential() * mean_ns as f64) as u64,
            Self::LogNormal { median_ns, sigma } => {
                ((sigma * normal(chance)).exp() * median_ns as f64) as u64
            }
        }
    }

    /// Returns the distribution with all times multiplied by `factor`.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let longer = |ns: u64| (ns as f64 * factor).round() as u64;
        match self {
            Self::Constant { ns } => Self::Constant { ns: longer(ns) },
            Self::Exponential { mean_ns } => Self::Exponential { mean_ns: longer(mean_ns) },
            Self::LogNormal { median_ns, sigma } => Self::LogNormal { median_ns: longer(median_ns), sigma },
        }
    }
}

/// Draws from the standard normal distribution (G. E. P. Box and M. E. Muller, "A note on the generation of random normal
/// deviates", Annals of Mathematical Statistics 29, 1958). Discards the second of each pair, so that every draw costs the same.
pub(crate) fn normal(chance: &mut Chance) -> f64 {
    let (radius, angle) = ((2.0 * chance.exponential()).sqrt(), std::f64::consts::TAU * chance.unit());
    radius * angle.cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_ms(service: Service) -> f64 {
        let mut chance = Chance::stream(11, 0);
        (0..100_000).map(|_| service.draw(&mut chance) as f64 / 1e6).sum::<f64>() / 1e5
    }

    #[test]
    fn means_match_the_distributions() {
        assert_eq!(mean_ms(Service::Constant { ns: 5_000_000 }), 5.0);
        // The standard error is 0.3 %.
        assert!((mean_ms(Service::Exponential { mean_ns: 5_000_000 }) / 5.0 - 1.0).abs() < 0.02);
        // The mean is exp(σ²/2) times the median.
        let log_normal = Service::LogNormal { median_ns: 5_000_000, sigma: 1.0 };
        assert!((mean_ms(log_normal) / (5.0 * 0.5f64.exp()) - 1.0).abs() < 0.03);
        assert!((mean_ms(log_normal.times(1.05)) / mean_ms(log_normal) - 1.05).abs() < 1e-6);
    }

    #[test]
    fn normal_draws_have_normal_moments_and_tails() {
        let mut chance = Chance::stream(5, 0);
        let draws: Vec<f64> = (0..100_000).map(|_| normal(&mut chance)).collect();
        let n = draws.len() as f64;
        assert!((draws.iter().sum::<f64>() / n).abs() < 0.02);
        assert!((draws.iter().map(|draw| draw * draw).sum::<f64>() / n - 1.0).abs() < 0.03);
        // 5 % are beyond ±1.96; the standard error is 0.07 percentage points.
        let beyond = draws.iter().filter(|draw| draw.abs() > 1.959_964).count() as f64 / n;
        assert!((beyond - 0.05).abs() < 0.005, "{beyond}");
    }
}
