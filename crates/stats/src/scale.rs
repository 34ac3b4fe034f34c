//! How far two figures lie apart: by their ratio, or, where they may be zero, by their difference.

use libm::{exp, log, log1p};

/// By what two figures are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// The first divided by the second; both are above zero.
    Ratio,
    /// The first less the second, in their unit. A figure may be zero, and it may be infinite: larger than any other, nobody knows by
    /// how much.
    Difference,
}

/// The smallest difference that matters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MinEffect {
    /// By what figures are compared.
    pub scale: Scale,
    /// Of ratios a share, such as 0.03: from 1 ÷ 1.03 to 1.03 nothing matters. Of differences one in their unit.
    pub size: f64,
}

impl MinEffect {
    /// A share, for ratios.
    pub const fn share(size: f64) -> Self {
        Self { scale: Scale::Ratio, size }
    }

    /// A difference, in the unit of the figures.
    pub const fn difference(size: f64) -> Self {
        Self { scale: Scale::Difference, size }
    }

    /// From which distance from no difference on it matters, in what [`Scale::apart`] returns.
    pub(crate) fn distance(self) -> f64 {
        let size = self.size.max(0.0);
        match self.scale {
            Scale::Ratio => log1p(size),
            Scale::Difference => size,
        }
    }

    /// Whether an estimate is so far from no difference that it matters.
    pub fn is_reached_by(self, estimate: f64) -> bool {
        match self.scale {
            Scale::Ratio => estimate >= 1.0 + self.size || estimate * (1.0 + self.size) <= 1.0,
            Scale::Difference => estimate.abs() >= self.size,
        }
    }
}

impl Scale {
    /// The estimate that says that there is no difference.
    pub const fn none(self) -> f64 {
        match self {
            Self::Ratio => 1.0,
            Self::Difference => 0.0,
        }
    }

    /// The same estimate, of the second against the first.
    pub fn turned(self, estimate: f64) -> f64 {
        match self {
            Self::Ratio => estimate.recip(),
            // Not -0.
            Self::Difference => 0.0 - estimate,
        }
    }

    /// Whether an interval has no place for no difference.
    pub fn excludes_none(self, [low, high]: [f64; 2]) -> bool {
        low > self.none() || high < self.none()
    }

    /// How far two figures lie apart, at least and at most: both are the same, unless both figures are infinite, and nobody knows. 0: not
    /// at all. `None` if one of them is no figure.
    pub(crate) fn apart(self, (first, second): (f64, f64)) -> Option<[f64; 2]> {
        match self {
            Self::Ratio => log_ratio((first, second)).map(|apart| [apart; 2]),
            Self::Difference if first.is_nan() || second.is_nan() => None,
            Self::Difference => Some(match first - second {
                unknown if unknown.is_nan() => [f64::NEG_INFINITY, f64::INFINITY],
                apart => [apart; 2],
            }),
        }
    }

    /// An estimate of what [`Self::apart`] returns.
    pub(crate) fn estimate(self, apart: f64) -> f64 {
        match self {
            Self::Ratio => exp(apart),
            Self::Difference => apart,
        }
    }
}

/// Whether a ratio can be made of it.
pub(crate) fn is_figure(figure: &f64) -> bool {
    *figure > 0.0 && figure.is_finite()
}

/// `None` if one of them is no figure.
pub(crate) fn log_ratio((first, second): (f64, f64)) -> Option<f64> {
    (is_figure(&first) && is_figure(&second)).then(|| log(first) - log(second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_what_has_no_limit_are_bounded_by_what_is_known() {
        let apart = |first, second| Scale::Difference.apart((first, second));
        assert_eq!([apart(3.0, 1.0), apart(0.0, 0.0)], [Some([2.0; 2]), Some([0.0; 2])]);
        assert_eq!(apart(f64::INFINITY, 1.0), Some([f64::INFINITY; 2]));
        assert_eq!(apart(f64::INFINITY, f64::INFINITY), Some([f64::NEG_INFINITY, f64::INFINITY]));
        assert_eq!([apart(f64::NAN, 1.0), Scale::Ratio.apart((0.0, 1.0))], [None, None]);
        assert_eq!(Scale::Difference.turned(0.0).to_bits(), 0.0f64.to_bits());
    }

    #[test]
    fn what_matters_is_reached_on_either_side() {
        let share = MinEffect::share(0.03);
        assert_eq!(
            [1.03, 1.02, 0.97, 0.98].map(|ratio| share.is_reached_by(ratio)),
            [true, false, true, false]
        );
        let ms = MinEffect::difference(20.0);
        assert_eq!([20.0, -20.0, 19.0, 0.0].map(|apart| ms.is_reached_by(apart)), [true, true, false, false]);
    }
}
