//! Likely bottleneck of a variant, at its lowest failing rate.

use evidence::{EvidenceError, Run, Study};
use judge::Bottleneck;
use judge::bottleneck::causes_of_failed;
use judge::results::Capacity;
use judge::words::percent;

use super::sentences::format_rate;
use super::{CapacityRow, SearchLevels};
use crate::bottleneck;

/// Likely causes at a failing rate.
pub(crate) struct Limit {
    /// Lowest failing rate per second.
    pub(crate) per_s: f64,
    /// Number of failed runs at the rate with reliable throughput.
    pub(crate) runs: usize,
    /// Causes, most likely first. Empty if no request ended ok, or if no run is reliable.
    pub(crate) causes: Vec<Bottleneck>,
}

impl Limit {
    /// `None` if no rate failed.
    pub(super) fn of(
        study: &Study,
        found: &Capacity,
        levels: &SearchLevels,
    ) -> Result<Option<Self>, EvidenceError> {
        let Some(per_s) = found.failed_per_s else { return Ok(None) };
        let failed = levels.at(per_s).map_or(&[][..], |level| &level.failed_runs);
        let runs: Vec<&Run> = study.runs.iter().filter(|run| failed.contains(&run.id)).collect();
        let (causes, runs) = causes_of_failed(&runs)?;
        Ok(Some(Self { per_s, runs, causes }))
    }

    /// Reason why there is no cause. `None` if there is one.
    pub(crate) fn why_none(&self) -> Option<&'static str> {
        match (self.causes.is_empty(), self.runs) {
            (false, _) => None,
            (true, 0) => Some("no run has a throughput that may be believed"),
            (true, _) => Some("nothing was answered ok"),
        }
    }
}

/// Most likely cause and next step, as name and sentence. May quote names. Empty if no rate failed.
pub(super) fn facts(row: &CapacityRow) -> Vec<(&'static str, String)> {
    let Some(limit) = &row.limit else { return Vec::new() };
    let at = format!("at {}/s", format_rate(limit.per_s));
    let Some(first) = limit.causes.first() else {
        return limit
            .why_none()
            .map(|why| ("bottleneck", format!("{at}: not known: {why}")))
            .into_iter()
            .collect();
    };
    let share = first.share.map(|share| format!(", {} of the response time", percent(share, 0)));
    let head = format!("{at}: {}{}", bottleneck::likely(first), share.unwrap_or_default());
    let next = (!first.next.is_empty()).then(|| ("next", first.next.clone()));
    [Some(("bottleneck", format!("{head}; {}", first.because))), next].into_iter().flatten().collect()
}

/// Heading and all causes at the lowest failing rate. `None` without a cause.
pub(super) fn all(row: &CapacityRow) -> Option<(String, Vec<String>)> {
    let limit = row.limit.as_ref().filter(|limit| !limit.causes.is_empty())?;
    let runs = if limit.runs == 1 { "1 run".to_owned() } else { format!("{} runs", limit.runs) };
    let head = format!(
        "likely bottlenecks at {}/s, the lowest failing rate ({runs}; suspected from readings, not confirmed)",
        format_rate(limit.per_s)
    );
    Some((head, bottleneck::lines(&limit.causes)))
}
