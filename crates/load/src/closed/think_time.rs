//! Think time of a user between a reply and the next request.

use crate::chance::Chance;

/// Distribution of the pause between a reply and the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkTime {
    /// No pause.
    None,
    /// Constant pause.
    Constant {
        /// Length of the pause.
        ns: u64,
    },
    /// Uniformly distributed pause.
    Uniform {
        /// Shortest pause.
        min_ns: u64,
        /// Longest pause.
        max_ns: u64,
    },
    /// Exponentially distributed pause, as of a memoryless user, after a constant part, such as the keying time of TPC-C (clause 5.2.5).
    Exponential {
        /// Constant part. 0 if there is none.
        constant_ns: u64,
        /// Mean of the exponential part.
        mean_ns: u64,
    },
}

impl ThinkTime {
    /// Returns whether [`ThinkTime::draw`] draws from a stream.
    pub fn is_drawn(&self) -> bool {
        matches!(self, Self::Uniform { .. } | Self::Exponential { .. })
    }

    /// Draws the next pause.
    #[inline]
    pub fn draw(&self, chance: &mut Chance) -> u64 {
        match *self {
            Self::None => 0,
            Self::Constant { ns } => ns,
            Self::Uniform { min_ns, max_ns } => {
                min_ns + libm::round(chance.unit() * max_ns.saturating_sub(min_ns) as f64) as u64
            }
            Self::Exponential { constant_ns, mean_ns } => {
                constant_ns + libm::round(chance.exponential() * mean_ns as f64) as u64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_stay_within_limits_and_keep_the_mean() {
        let mut chance = Chance::stream(3, 0);
        let n = 50_000;
        let uniform = ThinkTime::Uniform { min_ns: 1_000, max_ns: 3_000 };
        let mut sum = 0;
        for _ in 0..n {
            let draw = uniform.draw(&mut chance);
            assert!((1_000..=3_000).contains(&draw));
            sum += draw;
        }
        assert!((sum / n).abs_diff(2_000) < 20);
        let exponential = ThinkTime::Exponential { constant_ns: 0, mean_ns: 2_000_000 };
        let sum: u64 = (0..n).map(|_| exponential.draw(&mut chance)).sum();
        assert!((sum / n).abs_diff(2_000_000) < 60_000);
        let keyed = ThinkTime::Exponential { constant_ns: 5_000, mean_ns: 2_000 };
        let mut sum = 0;
        for _ in 0..n {
            let draw = keyed.draw(&mut chance);
            assert!(draw >= 5_000);
            sum += draw;
        }
        assert!((sum / n).abs_diff(7_000) < 60);
        assert_eq!(ThinkTime::None.draw(&mut chance), 0);
        assert_eq!(ThinkTime::Constant { ns: 9 }.draw(&mut chance), 9);
    }
}
