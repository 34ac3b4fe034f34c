//! Result of one run of a variant.

use crate::bounded::Bounded;

/// Result of one run of a variant in a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RunResult {
    /// The run counts.
    Figure {
        /// Value of the metric, with its bounds. Above zero if figures are compared by ratio; infinite if it has no upper limit.
        value: Bounded,
        /// Planned requests that the system did not serve.
        errors: u64,
        /// Number of planned requests.
        planned: u64,
    },
    /// The run counts, but has too few samples for a verdict on the metric.
    TooFew,
    /// The load generator's numbers are not valid.
    Invalid,
    /// The system did not start, or the run was interrupted.
    Failed,
    /// There was no run.
    Missing,
}

impl RunResult {
    /// Creates a valid run whose value is known exactly.
    pub const fn exactly(value: f64, errors: u64, planned: u64) -> Self {
        Self::Figure { value: Bounded::exactly(value), errors, planned }
    }

    /// Returns the measured value of the metric. `None` if the run has none.
    pub fn value(&self) -> Option<f64> {
        self.bounded().map(|figure| figure.value)
    }

    /// Returns the value of the metric with its bounds. `None` if the run has none.
    pub fn bounded(&self) -> Option<Bounded> {
        match self {
            Self::Figure { value, .. } => Some(*value),
            _ => None,
        }
    }

    /// Returns the share of planned requests that failed. 0 without requests.
    pub(crate) fn error_share(&self) -> f64 {
        match self {
            Self::Figure { errors, planned, .. } => error_share(*errors, *planned).unwrap_or(0.0),
            _ => 0.0,
        }
    }
}

/// Returns the share of planned requests that are errors, capped at 1. `None` if nothing was planned.
pub fn error_share(errors: u64, planned: u64) -> Option<f64> {
    (planned > 0).then(|| errors.min(planned) as f64 / planned as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_share_is_at_most_one_and_unknown_without_requests() {
        assert_eq!(error_share(1, 4), Some(0.25));
        assert_eq!(error_share(5, 4), Some(1.0));
        assert_eq!(error_share(0, 0), None);
    }
}
