//! Scales on which two figures are compared: by ratio, or by difference if figures may be zero.

use libm::{exp, log, log1p};

use crate::bounded::Bounded;

/// Scale of a comparison of two figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// First ÷ second. Both must be above zero.
    Ratio,
    /// First minus second, in their unit. A figure may be zero or infinite; an infinite figure is larger than any other by an
    /// unknown amount.
    Difference,
}

/// Smallest difference that matters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MinEffect {
    /// Scale of the difference.
    pub scale: Scale,
    /// Size of the difference. For ratios, a share: 0.03 means that ratios from 1 ÷ 1.03 to 1.03 do not matter. For differences, in
    /// the unit of the figures.
    pub size: f64,
}

impl MinEffect {
    /// Creates a smallest ratio that matters, given as a share.
    pub const fn share(size: f64) -> Self {
        Self { scale: Scale::Ratio, size }
    }

    /// Creates a smallest difference that matters, in the unit of the figures.
    pub const fn difference(size: f64) -> Self {
        Self { scale: Scale::Difference, size }
    }

    /// Returns the size on the scale of [`Scale::apart`]: the log ratio or the difference.
    pub(crate) fn distance(self) -> f64 {
        let size = self.size.max(0.0);
        match self.scale {
            Scale::Ratio => log1p(size),
            Scale::Difference => size,
        }
    }

    /// Returns whether an estimate is at least the smallest difference that matters.
    pub fn is_reached_by(self, estimate: f64) -> bool {
        match self.scale {
            Scale::Ratio => estimate >= 1.0 + self.size || estimate * (1.0 + self.size) <= 1.0,
            Scale::Difference => estimate.abs() >= self.size,
        }
    }
}

impl Scale {
    /// Returns the estimate that means "no difference": 1 for ratios, 0 for differences.
    pub const fn none(self) -> f64 {
        match self {
            Self::Ratio => 1.0,
            Self::Difference => 0.0,
        }
    }

    /// Returns the estimate with the two sides swapped.
    pub fn turned(self, estimate: f64) -> f64 {
        match self {
            Self::Ratio => estimate.recip(),
            // Avoids -0.
            Self::Difference => 0.0 - estimate,
        }
    }

    /// Returns whether an interval excludes "no difference".
    pub fn excludes_no_difference(self, [low, high]: [f64; 2]) -> bool {
        low > self.none() || high < self.none()
    }

    /// Returns the lower and upper bound of the distance between two figures: the log ratio or the difference. Both bounds are equal unless
    /// both figures are infinite. 0 means no difference. `None` if one is not a valid figure.
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

    /// Returns the lower and upper bound of the distance between the true figures of two runs: the worst ends of both, on the scale of
    /// [`Self::apart`]. `None` if one is not a valid figure.
    pub(crate) fn true_distance_bounds(self, (first, second): (Bounded, Bounded)) -> Option<[f64; 2]> {
        let measured = self.apart((first.value, second.value))?;
        let is_exact = |of: Bounded| of.low == of.high;
        if is_exact(first) && is_exact(second) {
            return Some(measured);
        }
        let apart = |first: f64, second: f64| match self {
            // The logarithm of a bound of 0 is −∞.
            Self::Ratio => log(first.max(0.0)) - log(second.max(0.0)),
            Self::Difference => first - second,
        };
        let [low, high] = [apart(first.low, second.high), apart(first.high, second.low)];
        let low = if low.is_nan() { f64::NEG_INFINITY } else { low };
        let high = if high.is_nan() { f64::INFINITY } else { high };
        Some([low.min(measured[0]), high.max(measured[1])])
    }

    /// Converts a value on the scale of [`Self::apart`] into an estimate.
    pub(crate) fn estimate(self, apart: f64) -> f64 {
        match self {
            Self::Ratio => exp(apart),
            Self::Difference => apart,
        }
    }
}

/// Returns whether a ratio can be computed from the figure.
pub(crate) fn is_figure(figure: &f64) -> bool {
    *figure > 0.0 && figure.is_finite()
}

/// Returns the log ratio of two figures. `None` if one is not positive and finite.
pub(crate) fn log_ratio((first, second): (f64, f64)) -> Option<f64> {
    (is_figure(&first) && is_figure(&second)).then(|| log(first) - log(second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_infinite_figures_have_bounds() {
        let apart = |first, second| Scale::Difference.apart((first, second));
        assert_eq!([apart(3.0, 1.0), apart(0.0, 0.0)], [Some([2.0; 2]), Some([0.0; 2])]);
        assert_eq!(apart(f64::INFINITY, 1.0), Some([f64::INFINITY; 2]));
        assert_eq!(apart(f64::INFINITY, f64::INFINITY), Some([f64::NEG_INFINITY, f64::INFINITY]));
        assert_eq!([apart(f64::NAN, 1.0), Scale::Ratio.apart((0.0, 1.0))], [None, None]);
        assert_eq!(Scale::Difference.turned(0.0).to_bits(), 0.0f64.to_bits());
    }

    #[test]
    fn bounds_of_a_ratio_are_its_worst_ends() {
        let apart = |first: Bounded, second: Bounded| {
            Scale::Ratio.true_distance_bounds((first, second)).map(|ends| ends.map(exp))
        };
        let (fast, slow) =
            (Bounded::within(200.0, [200.0, f64::INFINITY]), Bounded::within(100.0, [80.0, 125.0]));
        let [low, high] = apart(fast, slow).unwrap();
        assert!((low - 1.6).abs() < 1e-12 && high == f64::INFINITY, "{low} {high}");
        let [low, high] = apart(slow, fast).unwrap();
        assert!(low == 0.0 && (high - 0.625).abs() < 1e-12, "{low} {high}");
        assert_eq!(apart(Bounded::within(0.0, [0.0, 1.0]), slow), None, "no ratio, whatever the bounds");
        let cost = Bounded::within(3.0, [2.0, 3.0]);
        assert_eq!(Scale::Difference.true_distance_bounds((cost, Bounded::exactly(1.0))), Some([1.0, 2.0]));
        let endless = Bounded::exactly(f64::INFINITY);
        assert_eq!(
            Scale::Difference
                .true_distance_bounds((endless, Bounded::within(f64::INFINITY, [1.0, f64::INFINITY]))),
            Some([f64::NEG_INFINITY, f64::INFINITY])
        );
    }

    #[test]
    fn threshold_is_reached_on_either_side() {
        let share = MinEffect::share(0.03);
        assert_eq!(
            [1.03, 1.02, 0.97, 0.98].map(|ratio| share.is_reached_by(ratio)),
            [true, false, true, false]
        );
        let ms = MinEffect::difference(20.0);
        assert_eq!([20.0, -20.0, 19.0, 0.0].map(|apart| ms.is_reached_by(apart)), [true, true, false, false]);
    }
}
