//! Result of one run of a variant.

/// Result of one run of a variant in a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RunResult {
    /// The run counts.
    Figure {
        /// Value of the metric. Above zero if figures are compared by ratio; infinite if it has no upper limit.
        value: f64,
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
    /// Value of the metric. `None` if the run has none.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Figure { value, .. } => Some(*value),
            _ => None,
        }
    }

    /// Share of planned requests that failed. 0 without requests.
    pub(crate) fn error_share(&self) -> f64 {
        match self {
            Self::Figure { errors, planned, .. } => error_share(*errors, *planned).unwrap_or(0.0),
            _ => 0.0,
        }
    }
}

/// Share of planned requests that are errors, capped at 1. `None` if nothing was planned.
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
