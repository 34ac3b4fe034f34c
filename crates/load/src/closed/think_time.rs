//! How long a user reads before asking again.

use crate::chance::Chance;

/// A pause between a reply and the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkTime {
    /// No pause.
    None,
    /// Always the same.
    Constant {
        /// Its length.
        ns: u64,
    },
    /// Anything between two limits, equally likely.
    Uniform {
        /// The shortest.
        min_ns: u64,
        /// The longest.
        max_ns: u64,
    },
    /// Exponential, as of a memoryless user.
    Exponential {
        /// Its mean.
        mean_ns: u64,
    },
}

impl ThinkTime {
    /// The next pause.
    #[inline]
    pub fn draw(&self, chance: &mut Chance) -> u64 {
        match *self {
            Self::None => 0,
            Self::Constant { ns } => ns,
            Self::Uniform { min_ns, max_ns } => {
                min_ns + libm::round(chance.unit() * max_ns.saturating_sub(min_ns) as f64) as u64
            }
            Self::Exponential { mean_ns } => libm::round(chance.exponential() * mean_ns as f64) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_keep_their_limits_and_their_mean() {
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
        let exponential = ThinkTime::Exponential { mean_ns: 2_000_000 };
        let sum: u64 = (0..n).map(|_| exponential.draw(&mut chance)).sum();
        assert!((sum / n).abs_diff(2_000_000) < 60_000);
        assert_eq!(ThinkTime::None.draw(&mut chance), 0);
        assert_eq!(ThinkTime::Constant { ns: 9 }.draw(&mut chance), 9);
    }
}
