//! Shares of a whole, which are limited to 0 to 100 % by construction.

use crate::shown;

/// Share of a whole, from 0 to 1. Part and whole are from the same window, and the whole contains the part.
///
/// A quotient that may exceed 1, such as one reading divided by another, is a ratio, and is printed as a ratio.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Share(f64);

impl Share {
    /// Returns the share of a count. `None` if the whole is 0, or if the part exceeds it.
    pub fn of_count(part: u64, whole: u64) -> Option<Self> {
        (whole > 0 && part <= whole).then(|| Self(part as f64 / whole as f64))
    }

    /// Returns the share of a measured quantity, with both values in the same unit, such as times. A part that exceeds its whole counts as
    /// the whole, because both readings are rounded and taken one after the other. `None` if the whole is not positive, or if a value is
    /// not finite.
    pub fn of_measured(part: f64, whole: f64) -> Option<Self> {
        let is_known = part.is_finite() && whole.is_finite() && whole > 0.0;
        is_known.then(|| Self((part / whole).clamp(0.0, 1.0)))
    }

    /// Returns the share, from 0 to 1.
    pub fn get(self) -> f64 {
        self.0
    }

    /// Formats the share in percent, with enough decimals to differ from 0: `12.5 %`.
    pub fn percent(self) -> String {
        shown::percent_of(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_of_count_is_unknown_if_the_whole_does_not_contain_the_part() {
        assert_eq!(Share::of_count(1, 4).map(Share::percent).as_deref(), Some("25.0 %"));
        assert_eq!(Share::of_count(4, 4).map(Share::get), Some(1.0));
        for (part, whole) in [(5, 4), (1, 0), (0, 0), (u64::MAX, 1)] {
            assert_eq!(Share::of_count(part, whole), None, "{part} of {whole}");
        }
    }

    #[test]
    fn measured_share_is_always_between_0_and_1() {
        let values = [f64::NAN, f64::INFINITY, -1.0, -0.0, 0.0, 1e-300, 0.5, 1.0, 1.12, 1e300];
        for (part, whole) in values.iter().flat_map(|part| values.iter().map(move |whole| (*part, *whole))) {
            let share = Share::of_measured(part, whole).map(Share::get);
            assert!(share.is_none_or(|share| (0.0..=1.0).contains(&share)), "{part} of {whole}: {share:?}");
        }
        assert_eq!(Share::of_measured(1.12, 1.0).map(Share::get), Some(1.0));
        assert_eq!(Share::of_measured(0.25, 0.5).map(Share::get), Some(0.5));
        assert_eq!(Share::of_measured(1.0, 0.0), None);
    }
}
