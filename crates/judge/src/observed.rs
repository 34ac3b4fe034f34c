//! Differences of throughput that appear in every run of a few blocks, although these are too few for a verdict.
//!
//! The throughput of each run has bounds, from its generator's effect, the difference between its halves, and four
//! standard errors of its count. They hold for this start of the system at this time. Another start may be faster or
//! slower, and no single block shows by how much, so an observed difference is never a verdict or a ranking.

use evidence::{Distorted, Level};

use crate::compared_by::ComparedBy;
use crate::comparison::Variant;
use crate::eligibility::{Eligibility, eligibility_by};
use crate::figure_bounds;
use crate::measured_run::MeasuredRun;

/// Min ratio of the bounds that is reported.
const RATIO_MIN: f64 = 2.0;
/// Number of standard errors of a count, in each direction.
const STANDARD_ERRORS: f64 = 4.0;

/// Difference between two variants in all of their runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// Index of the faster variant.
    pub faster: usize,
    /// Index of the slower variant.
    pub slower: usize,
    /// Ratio of the lowest bound of the faster variant to the highest bound of the slower one.
    pub ratio_min: f64,
    /// Number of starts of both variants together.
    pub starts: usize,
}

/// Returns the differences between the fastest variant and each other one, if the bounds of all runs differ by at least
/// a factor of 2. Empty unless variants are compared by throughput. `runs` are all runs of the study.
pub fn observed(variants: &[&Variant<'_>], runs: &[MeasuredRun<'_>], by: &ComparedBy) -> Vec<Observed> {
    if by.distorted() != Some(Distorted::Throughput) || by.is_of_events() {
        return Vec::new();
    }
    let bounds: Vec<Option<[f64; 2]>> = variants.iter().map(|variant| of_variant(variant, runs)).collect();
    let low = |row: &usize| bounds[*row].map_or(0.0, |[low, _]| low);
    let fastest = (0..variants.len()).max_by(|a, b| low(a).total_cmp(&low(b)));
    let Some((faster, [low, _])) = fastest.and_then(|row| Some((row, bounds[row]?))) else {
        return Vec::new();
    };
    let share = |row: usize| variants[row].unserved_share().unwrap_or(0.0);
    let pair = |slower: usize| {
        let ratio_min = low / bounds[slower]?[1];
        let is_clear = ratio_min >= RATIO_MIN && share(faster) <= share(slower) + stats::ERRORS_MARGIN;
        let starts = [faster, slower].map(|row| starts(variants[row], runs)).iter().sum();
        is_clear.then_some(Observed { faster, slower, ratio_min, starts })
    };
    (0..variants.len()).filter(|row| *row != faster).filter_map(pair).collect()
}

/// Returns the number of blocks with a run of a variant. Each block has a start of its own.
fn starts(variant: &Variant<'_>, runs: &[MeasuredRun<'_>]) -> usize {
    let block = |run: usize| runs[run].run.new.place.as_ref().map(|(_, place)| place.block);
    variant.shown().map(block).collect::<std::collections::BTreeSet<_>>().len()
}

/// Returns the lowest and highest bound of ok answers per second over all runs of a variant. `None` without runs, or if
/// the bounds of one are unknown.
fn of_variant(variant: &Variant<'_>, runs: &[MeasuredRun<'_>]) -> Option<[f64; 2]> {
    let bounds = variant.shown().map(|run| of_run(&runs[run]));
    let bounds = bounds.collect::<Option<Vec<[f64; 2]>>>()?;
    bounds.into_iter().reduce(|[low, high], [more_low, more_high]| [low.min(more_low), high.max(more_high)])
}

/// Returns the bounds of the ok answers per second that an ideal client would have measured in this run. `None` if
/// unknown.
fn of_run(run: &MeasuredRun<'_>) -> Option<[f64; 2]> {
    let (window, ending) = (run.measured.window?, run.run.ending.as_ref()?);
    let effect = ending.validity.effect.as_ref();
    let is_bounded = effect.is_some() || ending.validity.verdict == Level::Valid;
    let is_eligible = eligibility_by(run.run, Some(Distorted::Throughput)) == Eligibility::Valid;
    let bounds =
        figure_bounds::throughput(window.ok_per_s(), effect).filter(|_| is_bounded && is_eligible)?;
    let ok = window.counts.ok as f64;
    let halves =
        ending.steadiness.as_ref().and_then(|steadiness| steadiness.halves_share).unwrap_or(0.0).abs();
    let chance = STANDARD_ERRORS / ok.max(1.0).sqrt() + halves;
    (ok > 0.0).then_some([bounds.low() * (1.0 - chance).max(0.0), bounds.high() * (1.0 + chance)])
}
