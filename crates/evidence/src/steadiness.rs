//! Steadiness: whether a run reached a steady state.

use serde::{Deserialize, Serialize};

/// Steadiness of a run, judged by its windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steadiness {
    /// Verdict.
    pub verdict: SteadinessVerdict,
    /// Evidence against a steady state, in words; `None` if there is none.
    pub why: Option<String>,
    /// Length of a window.
    pub window_ns: u64,
    /// Number of windows examined.
    pub windows: u32,
    /// Start of the steady state, in seconds since the measured time began. 0 if the run was steady at once.
    pub cut_s: f64,
    /// Slope of a line through the windows, over the whole time, as a share of the mean: -0.02 falls by 2 %.
    pub drift_share: Option<f64>,
    /// Second half minus first half, as a share of the mean.
    pub halves_share: Option<f64>,
    /// Time of a step in the figures, in seconds since the measured time began. `None` if there is none.
    pub step_s: Option<f64>,
    /// Number of times the run was extended.
    pub extended: u32,
}

/// Verdict on steadiness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SteadinessVerdict {
    /// Steady from the first window.
    Steady,
    /// Steady after the cut.
    WarmingUp,
    /// Not steady within the run.
    NotSteady,
    /// Too few windows to judge.
    TooShort,
}

impl SteadinessVerdict {
    /// Returns the words for the verdict in reports.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::WarmingUp => "warming up",
            Self::NotSteady => "not steady",
            Self::TooShort => "too short",
        }
    }
}

impl Steadiness {
    /// Returns whether every figure is finite. NaN and infinity can be neither stored nor printed.
    pub fn is_finite(&self) -> bool {
        let Self { cut_s, drift_share, halves_share, step_s, .. } = *self;
        [Some(cut_s), drift_share, halves_share, step_s].into_iter().flatten().all(f64::is_finite)
    }
}
