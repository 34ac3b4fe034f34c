//! Wilson interval and standard error of a proportion of independent trials.

use libm::sqrt;

/// 97.5 % quantile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Returns the confidence interval of about 95 % for a success probability (Wilson 1927). It stays within 0 and 1, also with few successes.
/// `None` without trials.
pub fn proportion_interval(successes: u64, trials: u64) -> Option<[f64; 2]> {
    if trials == 0 || successes > trials {
        return None;
    }
    let (n, share) = (trials as f64, successes as f64 / trials as f64);
    let middle = share + Z * Z / (2.0 * n);
    let half = Z * sqrt(share * (1.0 - share) / n + Z * Z / (4.0 * n * n));
    let whole = 1.0 + Z * Z / n;
    Some([((middle - half) / whole).max(0.0), ((middle + half) / whole).min(1.0)])
}

/// Returns the standard error of a proportion, for comparing two of them. Unlike the usual estimate, it is not 0 if the proportion is.
pub fn proportion_error(successes: u64, trials: u64) -> f64 {
    match proportion_interval(successes, trials) {
        Some([low, high]) => (high - low) / (2.0 * Z),
        None => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_match_published_wilson_intervals() {
        let close = |found: Option<[f64; 2]>, [low, high]: [f64; 2]| {
            let [found_low, found_high] = found.unwrap();
            assert!((found_low - low).abs() < 5e-5 && (found_high - high).abs() < 5e-5, "{found:?}");
        };
        // Newcombe (1998), table I.
        close(proportion_interval(81, 263), [0.2553, 0.3662]);
        close(proportion_interval(15, 148), [0.0624, 0.1605]);
        close(proportion_interval(0, 20), [0.0, 0.1611]);
        close(proportion_interval(1, 29), [0.0061, 0.1718]);
        assert_eq!(proportion_interval(0, 0), None);
        assert_eq!(proportion_interval(2, 1), None);
    }

    #[test]
    fn interval_coverage_is_about_95_percent() {
        let mut state = 7u64;
        let mut chance = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / (1u64 << 24) as f64
        };
        for truth in [0.02, 0.3, 0.66] {
            let missed = (0..1_000).filter(|_| {
                let successes = (0..400).filter(|_| chance() < truth).count() as u64;
                let [low, high] = proportion_interval(successes, 400).unwrap();
                truth < low || high < truth
            });
            let missed = missed.count();
            assert!((20..=85).contains(&missed), "{truth}: {missed} of 1000");
        }
    }

    #[test]
    fn proportion_of_zero_has_a_standard_error() {
        assert!(proportion_error(0, 100) > 0.0 && proportion_error(0, 100) < 0.02);
        assert!((proportion_error(5_000, 10_000) - 0.005).abs() < 1e-5);
        assert_eq!(proportion_error(0, 0), 0.0);
    }
}
