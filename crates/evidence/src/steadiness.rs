//! Whether a run came to a steady state.

use serde::{Deserialize, Serialize};

/// Steadiness of the windows of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steadiness {
    /// The judgement.
    pub verdict: SteadinessVerdict,
    /// Evidence against it, in words.
    pub why: Option<String>,
    /// How long a window is.
    pub window_ns: u64,
    /// How many windows were looked at.
    pub windows: u32,
    /// Where the steady state begins, since the measured time began; 0: at once.
    pub cut_s: f64,
    /// How much a line through the windows rises over the time, as a share of the mean: -0.02 falls by 2 %.
    pub drift_share: Option<f64>,
    /// The second half against the first, as a share of the mean.
    pub halves_share: Option<f64>,
    /// Where the figures take a step, since the measured time began.
    pub step_s: Option<f64>,
    /// How often the run was extended.
    pub extended: u32,
}

/// In one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SteadinessVerdict {
    /// From its first window on.
    Steady,
    /// After the cut.
    WarmingUp,
    /// Not within the run.
    NotSteady,
    /// Too few windows to tell.
    TooShort,
}

impl SteadinessVerdict {
    /// The word in reports.
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
    /// Whether every figure is finite, and so can be kept and printed.
    pub fn is_finite(&self) -> bool {
        let Self { cut_s, drift_share, halves_share, step_s, .. } = *self;
        [Some(cut_s), drift_share, halves_share, step_s].into_iter().flatten().all(f64::is_finite)
    }
}
