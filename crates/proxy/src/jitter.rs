//! Delay of each piece of data: a fixed delay plus seeded random jitter.

use std::f64::consts::TAU;

use rand_core::Rng;
use rand_pcg::Pcg64;

use crate::settings::{Settings, Spread};

/// Seeded random numbers of a proxy. Equal seeds give equal sequences.
#[derive(Debug)]
pub(crate) struct RandomDraws(Pcg64);

impl RandomDraws {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Pcg64::new(u128::from(seed), 1))
    }

    /// Draws the delay of the next piece of data, at least 0.
    pub(crate) fn delay_ns(&mut self, settings: &Settings) -> u64 {
        let delay_ns = settings.delay.as_nanos() as u64;
        let Some(jitter) = settings.jitter else { return delay_ns };
        let part = match jitter.spread {
            Spread::Uniform => 2.0 * self.uniform() - 1.0,
            Spread::Normal => self.normal(),
        };
        // The conversion to an unsigned integer saturates at 0.
        (delay_ns as f64 + jitter.by.as_nanos() as f64 * part).round() as u64
    }

    /// Returns true with probability `share`.
    pub(crate) fn draw_bool(&mut self, share: f64) -> bool {
        share >= 1.0 || self.uniform() <= share && share > 0.0
    }

    /// Draws from the uniform distribution on (0, 1], so that its logarithm is finite.
    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Draws from the standard normal distribution (Box–Muller transform).
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (TAU * self.uniform()).cos()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::settings::Jitter;

    fn delays_ms(delay_ms: u64, jitter: Option<(u64, Spread)>) -> Vec<f64> {
        let settings = Settings {
            delay: Duration::from_millis(delay_ms),
            jitter: jitter.map(|(by, spread)| Jitter { by: Duration::from_millis(by), spread }),
            ..Settings::default()
        };
        let mut draws = RandomDraws::new(7);
        (0..20_000).map(|_| draws.delay_ns(&settings) as f64 / 1e6).collect()
    }

    #[test]
    fn delay_without_jitter_is_constant() {
        assert!(delays_ms(20, None).iter().all(|delay| *delay == 20.0));
    }

    #[test]
    fn uniform_jitter_is_even_within_its_bounds() {
        let delays = delays_ms(20, Some((2, Spread::Uniform)));
        assert!(delays.iter().all(|delay| (18.0..=22.0).contains(delay)));
        let below =
            |limit: f64| delays.iter().filter(|delay| **delay < limit).count() as f64 / delays.len() as f64;
        for (limit, share) in [(19.0, 0.25), (20.0, 0.5), (21.0, 0.75)] {
            assert!((below(limit) - share).abs() < 0.02, "{limit}: {}", below(limit));
        }
    }

    #[test]
    fn normal_jitter_has_its_deviation_and_no_negative_delay() {
        let delays = delays_ms(20, Some((2, Spread::Normal)));
        let mean = delays.iter().sum::<f64>() / delays.len() as f64;
        let deviation =
            (delays.iter().map(|delay| (delay - mean).powi(2)).sum::<f64>() / delays.len() as f64).sqrt();
        assert!((mean - 20.0).abs() < 0.1 && (deviation - 2.0).abs() < 0.1, "{mean} {deviation}");
        assert!(delays_ms(1, Some((5, Spread::Normal))).iter().all(|delay| *delay >= 0.0));
    }

    #[test]
    fn draw_bool_has_the_given_probability() {
        let mut draws = RandomDraws::new(1);
        let mut count = |share| (0..10_000).filter(|_| draws.draw_bool(share)).count();
        assert_eq!((count(0.0), count(1.0)), (0, 10_000));
        assert!((2_800..3_200).contains(&count(0.3)));
    }
}
