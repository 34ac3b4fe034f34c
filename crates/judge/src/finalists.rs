//! Selects the variants of a sweep that enter the final: the best variant of each system.

use std::collections::BTreeMap;

use evidence::{EvidenceError, Run, Study, stage};
use stats::{RunResult, Spread};

use crate::setting::Setting;

/// Max share of unserved requests of the best variant of a system.
pub const ERRORS_MAX: f64 = 0.01;

/// Combined results of a variant's runs in the sweep.
struct SweepResult {
    setting: Setting,
    /// Number of valid runs.
    valid: usize,
    median: f64,
    error_share: f64,
}

/// Returns the variant of each system with the best median over its valid runs in the sweep, in the order of the
/// systems' names.
///
/// A system is missing if no variant of it has a valid run with at most [`ERRORS_MAX`] of errors. A variant with less
/// than half as many valid runs as another variant of its system is skipped, because its remaining runs are a biased
/// sample. `said` reads the figure of a run.
///
/// # Errors
///
/// A run cannot be read.
pub fn finalists(
    study: &Study,
    said: &mut dyn FnMut(&Run) -> Result<RunResult, EvidenceError>,
) -> Result<Vec<Setting>, EvidenceError> {
    let mut seen: BTreeMap<Setting, Vec<RunResult>> = BTreeMap::new();
    for run in &study.runs {
        if let Some((_, place)) = run.new.place.as_ref().filter(|(_, place)| place.stage == stage::SWEEP) {
            seen.entry(Setting::of(place)).or_default().push(said(run)?);
        }
    }
    let mut systems: BTreeMap<String, Vec<SweepResult>> = BTreeMap::new();
    for swept in seen.into_iter().filter_map(|(setting, seen)| SweepResult::of(setting, &seen)) {
        systems.entry(swept.setting.system.clone()).or_default().push(swept);
    }
    let higher_is_better = study.new.compare.higher_is_better;
    Ok(systems.into_values().filter_map(|variants| best(variants, higher_is_better)).collect())
}

fn best(variants: Vec<SweepResult>, higher_is_better: bool) -> Option<Setting> {
    let most = variants.iter().map(|swept| swept.valid).max()?;
    let candidates =
        variants.into_iter().filter(|swept| swept.error_share <= ERRORS_MAX && swept.valid * 2 >= most);
    // Breaks ties by name.
    let better = candidates.reduce(|best, other| {
        let is_better =
            if higher_is_better { other.median > best.median } else { other.median < best.median };
        if is_better { other } else { best }
    });
    better.map(|swept| swept.setting)
}

impl SweepResult {
    /// Combines observations; `None` without a figure.
    fn of(setting: Setting, seen: &[RunResult]) -> Option<Self> {
        let (mut lost, mut all) = (0, 0);
        for seen in seen {
            if let RunResult::Figure { errors, planned, .. } = seen {
                (lost, all) = (errors.saturating_add(lost), planned.saturating_add(all));
            }
        }
        let spread = Spread::with_infinite(seen.iter().filter_map(RunResult::value))?;
        let error_share = stats::error_share(lost, all).unwrap_or(0.0);
        Some(Self { setting, valid: spread.count, median: spread.median, error_share })
    }
}
