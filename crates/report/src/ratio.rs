//! Formats ratios of two figures uniformly.

use crate::units::decimal;

/// Formats a ratio: `1.12 ×`. Near 1 it has more decimals, to stay distinguishable from 1.
pub(crate) fn times(ratio: f64) -> String {
    format!("{} ×", decimal(ratio, decimals(ratio)))
}

/// Formats a ratio with its interval: `1.12 × (1.08–1.15)`.
pub(crate) fn times_within(ratio: f64, ends: Option<[f64; 2]>) -> String {
    let ends = ends.map(|ends| interval_bounds(ratio, ends));
    let ends = ends.map_or_else(String::new, |[low, high]| format!(" ({low}–{high})"));
    format!("{}{ends}", times(ratio))
}

/// Formats a ratio with its interval for a column of ratios: `1.12 (1.08–1.15)`.
pub(crate) fn with_interval(ratio: f64, ends: Option<[f64; 2]>) -> String {
    times_within(ratio, ends).replace(" ×", "")
}

/// Formats the bounds of an interval with the decimals of its ratio, or with more if a bound would look like 1.
pub(crate) fn interval_bounds(ratio: f64, ends: [f64; 2]) -> [String; 2] {
    let rounds_to_one = ends.iter().any(|end| *end != 1.0 && (end - 1.0).abs() < 0.005);
    let decimals = decimals(ratio).max(if rounds_to_one { 3 } else { 0 });
    ends.map(|end| if end.is_finite() { decimal(end, decimals) } else { "∞".to_owned() })
}

fn decimals(ratio: f64) -> usize {
    match ratio {
        ratio if (ratio - 1.0).abs() < 0.05 => 3,
        ratio if ratio < 9.995 => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_near_one_have_more_decimals() {
        let written = [1.0, 1.0024, 0.96, 1.06, 9.994, 12.34].map(times);
        assert_eq!(written, ["1.000 ×", "1.002 ×", "0.960 ×", "1.06 ×", "9.99 ×", "12.3 ×"]);
        assert_eq!(times_within(1.12, Some([1.0349, 1.2])), "1.12 × (1.03–1.20)");
        assert_eq!(times_within(1.12, Some([1.0011, 1.2])), "1.12 × (1.001–1.200)", "not 1.00");
        assert_eq!(times_within(2.0, None), "2.00 ×");
        assert_eq!(times_within(2.0, Some([1.9, f64::INFINITY])), "2.00 × (1.90–∞)", "nothing limits it");
    }
}
