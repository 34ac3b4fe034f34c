//! Student's t distribution.

use libm::{exp, lgamma, log, sqrt};

/// Returns the two-sided p-value of `t` with `freedom` degrees of freedom: the regularized incomplete beta function of freedom ÷ (freedom +
/// t²), by its continued fraction (Abramowitz and Stegun, 26.5.8 and 26.7.1). 0 for infinite `t`, 1 without a degree of freedom.
pub(crate) fn p_value(t: f64, freedom: usize) -> f64 {
    if freedom == 0 || t.is_nan() {
        return 1.0;
    }
    let freedom = freedom as f64;
    // Without any error, t is infinite.
    if t.is_infinite() { 0.0 } else { incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t)) }
}

/// Returns the value of t that has the two-sided p-value `p`.
pub(crate) fn quantile(p: f64, freedom: usize) -> f64 {
    let (mut low, mut high) = (0.0, 1e6);
    // Each step halves the interval, so 80 steps exhaust the precision of `f64`.
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if p_value(middle, freedom) > p { low = middle } else { high = middle }
    }
    high
}

/// Returns the regularized incomplete beta function I_x(a, b).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The continued fraction converges fast only on this side of the mean.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1.0 - x)) / a;
    (front * continued_fraction(a, b, x)).clamp(0.0, 1.0)
}

/// Number of steps of the continued fraction. Up to a thousand degrees of freedom need fewer.
const STEPS: u32 = 200;

/// Evaluates the continued fraction from its last step to its first.
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    let mut below = 1.0;
    for step in (1..=STEPS).rev() {
        let m = f64::from(step / 2);
        let part = if step % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        below = 1.0 + part / below;
    }
    below.recip()
}

/// Returns the mean of the figures and its standard error. `None` with fewer than two figures.
pub(crate) fn mean_and_error(figures: &[f64]) -> Option<[f64; 2]> {
    let count = figures.len() as f64;
    let mean = figures.iter().sum::<f64>() / count;
    let square: f64 = figures.iter().map(|one| (one - mean) * (one - mean)).sum();
    (figures.len() > 1).then(|| [mean, sqrt(square / (count - 1.0) / count)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_published_tables() {
        for (freedom, p, t) in [
            (1, 0.05, 12.706),
            (2, 0.05, 4.303),
            (3, 0.05, 3.182),
            (3, 0.01, 5.841),
            (3, 0.002, 10.215),
            (7, 0.02, 2.998),
            (7, 0.01, 3.499),
            (23, 0.02, 2.500),
            (120, 0.05, 1.980),
        ] {
            assert!((quantile(p, freedom) - t).abs() < 6e-4, "{freedom}, {p}: {}", quantile(p, freedom));
        }
    }

    #[test]
    fn zero_error_gives_p_zero_and_no_freedom_gives_p_one() {
        assert_eq!([p_value(f64::INFINITY, 3), p_value(0.0, 3), p_value(9.0, 0)], [0.0, 1.0, 1.0]);
        assert_eq!(p_value(f64::NAN, 3), 1.0);
    }

    #[test]
    fn mean_and_error_match_hand_computation() {
        // Sum of squares 1 + 0 + 1 = 2; variance of the mean 2 ÷ 2 ÷ 3.
        let [mean, error] = mean_and_error(&[1.0, 2.0, 3.0]).unwrap();
        assert!((mean - 2.0).abs() < 1e-12 && (error - (1.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!([mean_and_error(&[1.0]), mean_and_error(&[])], [None, None]);
    }
}
