//! How far two figures lie apart is written: as a ratio, or, of what may be 0, as a difference with its sign and unit.

use judge::ComparedBy;
use judge::results::{MinEffect, Scale};

use crate::ratio;
use crate::units::percent_with;

/// `1.12 ×`, `−398 ms`.
pub(crate) fn alone(by: &ComparedBy, estimate: f64) -> String {
    match by.scale() {
        Scale::Ratio => ratio::times(estimate),
        Scale::Difference => signed(estimate, by.metric.kind.writer()),
    }
}

/// `1.12 × (1.08–1.15)`, `−398 ms (−410 ms to −380 ms)`.
pub(crate) fn within(by: &ComparedBy, estimate: f64, ends: Option<[f64; 2]>) -> String {
    let of_ends = ends.map(|ends| format!(" ({})", ends_beside(by, estimate, ends)));
    format!("{}{}", alone(by, estimate), of_ends.unwrap_or_default())
}

/// The same where the head of a column says what it is: `1.12 (1.08–1.15)`.
pub(crate) fn in_column(by: &ComparedBy, estimate: f64, ends: Option<[f64; 2]>) -> String {
    match by.scale() {
        Scale::Ratio => ratio::within(estimate, ends),
        Scale::Difference => within(by, estimate, ends),
    }
}

/// The ends of an interval next to its estimate: `1.08–1.15`, `−410 ms to −380 ms`.
pub(crate) fn ends_beside(by: &ComparedBy, estimate: f64, ends: [f64; 2]) -> String {
    let link = match by.scale() {
        Scale::Ratio => "–",
        Scale::Difference => " to ",
    };
    each_end(by, estimate, ends).join(link)
}

/// Each of them.
pub(crate) fn each_end(by: &ComparedBy, estimate: f64, ends: [f64; 2]) -> [String; 2] {
    match by.scale() {
        Scale::Ratio => ratio::ends_beside(estimate, ends),
        Scale::Difference => ends.map(|end| alone(by, end)),
    }
}

/// `ratio`, `difference`.
pub(crate) const fn noun(scale: Scale) -> &'static str {
    match scale {
        Scale::Ratio => "ratio",
        Scale::Difference => "difference",
    }
}

/// What does not matter: `3 %`, `20 ms`, `1 request`.
pub(crate) fn min_effect(by: &ComparedBy, matters: MinEffect) -> String {
    match matters.scale {
        Scale::Ratio => {
            let percent = matters.size * 100.0;
            percent_with(matters.size, usize::from((percent - percent.round()).abs() > 0.005))
        }
        Scale::Difference => by.sized(matters.size),
    }
}

/// A difference with its sign. ∞: one of the two has no limit.
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
    fn differences_have_a_sign_and_a_unit() {
        let by = |name: &str| ComparedBy::named(name).unwrap();
        assert_eq!(within(&by("outage"), -398e6, Some([-410e6, 0.0])), "−398 ms (−410 ms to 0 ms)");
        assert_eq!(within(&by("recovery"), f64::INFINITY, Some([2e9, f64::INFINITY])), "+∞ (+2.00 s to +∞)");
        assert_eq!(within(&by("lost"), 2.5, None), "+2.5");
        assert_eq!(within(&by("p99"), 1.12, Some([1.0349, 1.2])), "1.12 × (1.03–1.20)");
        let matters = |name: &str, size: f64| {
            let by = by(name);
            min_effect(&by, MinEffect { size, ..by.usual_min_effect() })
        };
        assert_eq!([matters("p99", 0.03), matters("outage", 20e6)], ["3 %", "20.0 ms"]);
        assert_eq!([matters("lost", 1.0), matters("lost", 5.0)], ["1 request", "5 requests"]);
    }
}
