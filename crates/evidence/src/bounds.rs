//! Bounds of a figure: an interval that contains its true value, and what it decides about a limit.

use serde::{Deserialize, Serialize};

/// Interval that contains the true value of a figure, both ends included. It is never empty, and never below 0, because no figure is
/// negative.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredBounds", into = "StoredBounds")]
pub struct Bounds {
    low: f64,
    high: f64,
}

/// Bounds as they are stored. JSON has no infinity.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct StoredBounds {
    low: f64,
    /// `None` if nothing limits the figure from above.
    high: Option<f64>,
}

/// Result of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Every value within the bounds meets the condition.
    Holds,
    /// No value within the bounds meets the condition.
    Fails,
    /// Some values within the bounds meet the condition, others do not; or the figure is unknown.
    Undecided,
}

impl Bounds {
    /// Returns the bounds from `low` to `high`, which may be infinite. `None` if no figure can lie there: `low` is
    /// negative, infinite, or above `high`, or one of them is not a number.
    pub fn new(low: f64, high: f64) -> Option<Self> {
        (low >= 0.0 && low.is_finite() && low <= high).then_some(Self { low, high })
    }

    /// Returns the bounds of a figure that is known exactly. `None` if it is negative or not finite.
    pub fn exactly(figure: f64) -> Option<Self> {
        Self::new(figure, figure)
    }

    /// Returns the smallest possible value.
    pub const fn low(self) -> f64 {
        self.low
    }

    /// Returns the largest possible value; infinite if nothing limits it.
    pub const fn high(self) -> f64 {
        self.high
    }

    /// Returns the largest possible value; `None` if nothing limits it.
    pub fn finite_high(self) -> Option<f64> {
        Some(self.high).filter(|high| high.is_finite())
    }
}

impl Decision {
    /// All results.
    pub const ALL: [Self; 3] = [Self::Holds, Self::Fails, Self::Undecided];

    /// Returns the word in JSON and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Undecided => "undecided",
        }
    }

    /// Returns the result with the given word; `None` if there is no such result.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|decision| decision.name() == name)
    }
}

impl TryFrom<StoredBounds> for Bounds {
    type Error = &'static str;

    fn try_from(stored: StoredBounds) -> Result<Self, Self::Error> {
        Self::new(stored.low, stored.high.unwrap_or(f64::INFINITY)).ok_or("bounds that contain no figure")
    }
}

impl From<Bounds> for StoredBounds {
    fn from(bounds: Bounds) -> Self {
        Self { low: bounds.low, high: bounds.finite_high() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_bounds_cannot_be_made() {
        for (low, high) in
            [(-0.1, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::NAN), (f64::INFINITY, f64::INFINITY)]
        {
            assert_eq!(Bounds::new(low, high), None, "{low} {high}");
        }
        assert!(Bounds::new(0.0, f64::INFINITY).is_some_and(|bounds| bounds.finite_high().is_none()));
        for text in [r#"{"low":-1,"high":2}"#, r#"{"low":3,"high":2}"#] {
            assert!(serde_json::from_str::<Bounds>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn stored_bounds_are_read_back() {
        for bounds in [Bounds::new(0.5, f64::INFINITY), Bounds::exactly(0.0), Bounds::new(1.0, 1e300)] {
            let text = serde_json::to_string(&bounds.unwrap()).unwrap();
            assert_eq!(serde_json::from_str::<Bounds>(&text).ok(), bounds, "{text}");
        }
    }

    #[test]
    fn every_decision_is_found_by_its_name() {
        assert_eq!(
            Decision::ALL.map(|decision| Decision::from_name(decision.name())),
            Decision::ALL.map(Some)
        );
        assert_eq!(Decision::from_name("maybe"), None);
    }
}
