//! Decides whether invalid runs prevented every verdict of a finished study.

use std::collections::BTreeSet;

use evidence::{Distorted, Procedure, Run, Study};

use crate::compared_by::ComparedBy;
use crate::eligibility::{Eligibility, eligibility_by};
use crate::setting::{Setting, settings};

/// Max number of configurations that are compared with each other.
const SETTINGS_MAX: usize = 100;
/// Min difference in the number of invalid runs that makes the remaining runs a biased sample.
const INVALID_DIFFERENCE_MIN: usize = 3;
/// Stored reason of a study that stopped after losing several blocks in a row.
const NOT_FIT: &str = "not fit";

/// Outcome of the comparison of two configurations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PairOutcome {
    /// The blocks of both configurations allow a verdict.
    Open,
    /// The blocks of both configurations would allow a verdict without invalid runs.
    Prevented,
    /// The number of blocks was too small from the start.
    TooFew,
}

/// Blocks of a configuration, by eligibility of its runs.
struct Blocks {
    setting: Setting,
    valid: BTreeSet<u32>,
    invalid: BTreeSet<u32>,
}

/// Returns whether a finished study that compares has no verdict because of invalid runs.
pub fn is_prevented_by_invalid_runs(study: &Study) -> bool {
    let compare = &study.new.compare;
    let Some(ending) = study.ending.as_ref().filter(|_| !compare.looks_for_failures()) else { return false };
    let is_given_up = ending.why.as_deref() == Some(NOT_FIT);
    match compare.procedure {
        Procedure::Capacity(_) => false,
        Procedure::Best { .. } => is_given_up && are_most_invalid(study),
        Procedure::Blocks
        | Procedure::Duel { .. }
        | Procedure::RoundRobin { .. }
        | Procedure::BestOfEach { .. } => {
            let loads: BTreeSet<&str> = study.new.planned.iter().map(|place| place.load.as_str()).collect();
            let pair_outcomes: Vec<PairOutcome> =
                loads.into_iter().flat_map(|load| pair_outcomes(study, load, is_given_up)).collect();
            pair_outcomes.contains(&PairOutcome::Prevented) && !pair_outcomes.contains(&PairOutcome::Open)
        }
    }
}

/// Returns the figure that decides the eligibility of a run.
fn judged_by(study: &Study) -> Option<Distorted> {
    ComparedBy::named(&study.new.compare.by)?.metric.distorted
}

fn are_most_invalid(study: &Study) -> bool {
    let figure = judged_by(study);
    let count =
        |wanted: Eligibility| study.runs.iter().filter(|run| eligibility_by(run, figure) == wanted).count();
    count(Eligibility::Invalid) > count(Eligibility::Valid)
}

/// Returns the outcomes for all pairs of configurations under a load; with a baseline, only for pairs with the
/// baseline.
fn pair_outcomes(study: &Study, load: &str, is_given_up: bool) -> Vec<PairOutcome> {
    let compare = &study.new.compare;
    let needed = stats::min_blocks(crate::versus::family(compare));
    // A study that was not given up would have measured further blocks.
    let would_continue = is_given_up && compare.blocks >= needed;
    let all: Vec<Blocks> = settings(study, load)
        .into_iter()
        .take(SETTINGS_MAX)
        .map(|setting| blocks_of(study, load, setting))
        .collect();
    let is_baseline = |blocks: &Blocks| compare.baseline.as_ref() == Some(&blocks.setting.name());
    let has_baseline = all.iter().any(is_baseline);
    let mut pair_outcomes = Vec::new();
    for (place, a) in all.iter().enumerate() {
        let others = all[place + 1..].iter().filter(|b| !has_baseline || is_baseline(a) || is_baseline(b));
        pair_outcomes.extend(others.map(|b| pair_outcome(a, b, needed as usize, would_continue)));
    }
    pair_outcomes
}

fn blocks_of(study: &Study, load: &str, setting: Setting) -> Blocks {
    let stage = study.new.compare.procedure.stage_of_blocks();
    let is_of = |run: &&Run| {
        let place = run.new.place.as_ref().map(|(_, place)| place);
        place.is_some_and(|place| place.load == load && place.stage == stage && setting.is_of(place))
    };
    let figure = judged_by(study);
    let blocks = |wanted: Eligibility| {
        let runs = study.runs.iter().filter(is_of).filter(|run| eligibility_by(run, figure) == wanted);
        runs.filter_map(|run| Some(run.new.place.as_ref()?.1.block)).collect::<BTreeSet<u32>>()
    };
    let (valid, invalid) = (blocks(Eligibility::Valid), blocks(Eligibility::Invalid));
    Blocks { setting, valid, invalid }
}

fn pair_outcome(a: &Blocks, b: &Blocks, needed: usize, would_continue: bool) -> PairOutcome {
    let common = a.valid.intersection(&b.valid).count();
    let is_uneven = a.invalid.len().abs_diff(b.invalid.len()) >= INVALID_DIFFERENCE_MIN;
    let measured = |of: &Blocks| of.valid.union(&of.invalid).copied().collect::<BTreeSet<u32>>();
    let both = measured(a).intersection(&measured(b)).count();
    let has_invalid = !(a.invalid.is_empty() && b.invalid.is_empty());
    match common >= needed && !is_uneven {
        true => PairOutcome::Open,
        false if has_invalid && (both >= needed || would_continue) => PairOutcome::Prevented,
        false => PairOutcome::TooFew,
    }
}
