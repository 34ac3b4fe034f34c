//! Steadiness of a run in JSON.

use evidence::{Steadiness, SteadinessVerdict};
use serde::Serialize;

/// Steadiness, determined from the windows of a run.
#[derive(Serialize)]
pub(super) struct SteadinessObject<'a> {
    verdict: &'static str,
    why: Option<&'a str>,
    cut_s: f64,
    drift_share: Option<f64>,
    halves_share: Option<f64>,
    step_s: Option<f64>,
    window_s: f64,
    windows: u32,
    extended: u32,
}

impl<'a> SteadinessObject<'a> {
    pub(super) fn of(seen: &'a Steadiness) -> Self {
        Self {
            verdict: match seen.verdict {
                SteadinessVerdict::Steady => "steady",
                SteadinessVerdict::WarmingUp => "warming_up",
                SteadinessVerdict::NotSteady => "not_steady",
                SteadinessVerdict::TooShort => "too_short",
            },
            why: seen.why.as_deref(),
            cut_s: seen.cut_s,
            drift_share: seen.drift_share,
            halves_share: seen.halves_share,
            step_s: seen.step_s,
            window_s: seen.window_ns as f64 / 1e9,
            windows: seen.windows,
            extended: seen.extended,
        }
    }
}
