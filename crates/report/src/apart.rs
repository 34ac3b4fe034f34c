//! Formats the difference between two figures: as a ratio, or as a signed difference if the figures may be 0.

use judge::ComparedBy;
use judge::results::{MinEffect, Scale};

use crate::ratio;
use crate::units::percent_with;

/// Formats an estimate: `1.12 ×`, `−398 ms`.
pub(crate) fn alone(by: &ComparedBy, estimate: f64) -> String {
    match by.scale() {
        Scale::Ratio => ratio::times(estimate),
        Scale::Difference => signed(estimate, by.metric.kind.writer()),
    }
}

/// Formats an estimate with its interval: `1.12 × (1.08–1.15)`, `−398 ms (−410 ms to −380 ms)`.
pub(crate) fn with_interval(by: &ComparedBy, estimate: f64, ends: Option<[f64; 2]>) -> String {
    let of_ends = ends.map(|ends| format!(" ({})", interval_bounds(by, estimate, ends)));
    format!("{}{}", alone(by, estimate), of_ends.unwrap_or_default())
}

/// Formats an estimate with its interval for a column of ratios: `1.12 (1.08–1.15)`.
pub(crate) fn for_column(by: &ComparedBy, estimate: f64, ends: Option<[f64; 2]>) -> String {
    match by.scale() {
        Scale::Ratio => ratio::with_interval(estimate, ends),
        Scale::Difference => with_interval(by, estimate, ends),
    }
}

/// Formats the bounds of an interval next to its estimate: `1.08–1.15`, `−410 ms to −380 ms`.
pub(crate) fn interval_bounds(by: &ComparedBy, estimate: f64, ends: [f64; 2]) -> String {
    let link = match by.scale() {
        Scale::Ratio => "–",
        Scale::Difference => " to ",
    };
    each_bound(by, estimate, ends).join(link)
}

/// Formats the lower and the upper bound of an interval.
pub(crate) fn each_bound(by: &ComparedBy, estimate: f64, ends: [f64; 2]) -> [String; 2] {
    match by.scale() {
        Scale::Ratio => ratio::interval_bounds(estimate, ends),
        Scale::Difference => ends.map(|end| alone(by, end)),
    }
}

/// Name of a scale: `ratio`, `difference`.
pub(crate) const fn noun(scale: Scale) -> &'static str {
    match scale {
        Scale::Ratio => "ratio",
        Scale::Difference => "difference",
    }
}

/// Formats the smallest effect that matters: `3 %`, `20 ms`, `1 request`.
pub(crate) fn min_effect(by: &ComparedBy, matters: MinEffect) -> String {
    match matters.scale {
        Scale::Ratio => {
            let percent = matters.size * 100.0;
            percent_with(matters.size, usize::from((percent - percent.round()).abs() > 0.005))
        }
        Scale::Difference => by.sized(matters.size),
    }
}

/// Formats a difference with its sign. An infinite difference means that one of the two figures is unbounded.
pub(crate) fn signed(figure: f64, write: impl Fn(f64) -> String) -> String {
    let sign = match figure {
        figure if figure > 0.0 => "+",
        figure if figure < 0.0 => "−",
        _ => "",
    };
    let size = if figure.is_infinite() { "∞".to_owned() } else { write(figure.abs()) };
    format!("{sign}{size}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_differences_with_sign_and_unit() {
        let by = |name: &str| ComparedBy::named(name).unwrap();
        assert_eq!(with_interval(&by("outage"), -398e6, Some([-410e6, 0.0])), "−398 ms (−410 ms to 0 ms)");
        assert_eq!(
            with_interval(&by("recovery"), f64::INFINITY, Some([2e9, f64::INFINITY])),
            "+∞ (+2.00 s to +∞)"
        );
        assert_eq!(with_interval(&by("lost"), 2.5, None), "+2.5");
        assert_eq!(with_interval(&by("p99"), 1.12, Some([1.0349, 1.2])), "1.12 × (1.03–1.20)");
        let matters = |name: &str, size: f64| {
            let by = by(name);
            min_effect(&by, MinEffect { size, ..by.usual_min_effect() })
        };
        assert_eq!([matters("p99", 0.03), matters("outage", 20e6)], ["3 %", "20.0 ms"]);
        assert_eq!([matters("lost", 1.0), matters("lost", 5.0)], ["1 request", "5 requests"]);
    }
}
