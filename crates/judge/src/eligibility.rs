//! Decides whether a run is part of its study's figures.

use evidence::{Cause, Distorted, Ending, GateResult, Level, Run, Verdict};

use crate::condition::Condition;
use crate::validity;

/// Eligibility of a run for its study's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eligibility {
    /// The run reached its end, and its figures can be trusted.
    Valid,
    /// The figures do not describe the system.
    Invalid,
    /// The system did not start, died, or left inconsistent tables.
    Failed,
    /// The run ended early. Only such runs are repeated when their study is resumed.
    CutShort,
}

/// Returns the eligibility of a run if all its figures are needed.
pub fn eligibility(run: &Run) -> Eligibility {
    eligible(run, is_invalid(run))
}

/// Returns the eligibility of a run that is judged by one figure, because a generator may distort only others. A figure
/// counts with its bounds, unless it may have a distortion that the bounds do not cover.
pub fn eligibility_by(run: &Run, figure: Option<Distorted>) -> Eligibility {
    let (Some(figure), Some(ending)) = (figure, &run.ending) else { return eligibility(run) };
    if !is_explained(ending) {
        return eligibility(run);
    }
    eligible(run, !is_within_bounds(ending, figure))
}

/// Returns whether the bounds of a figure contain its true value. Runs of other tools and of earlier versions have no
/// bounds: their suspect response times do not count, but their suspect throughput does.
fn is_within_bounds(ending: &Ending, figure: Distorted) -> bool {
    let validity = &ending.validity;
    let enough = if figure == Distorted::Throughput { Level::Invalid } else { Level::Suspect };
    let Some(effect) = validity.effect.filter(|_| !validity.causes.is_empty()) else {
        return validity.of(figure) < enough;
    };
    let includes = |cause: &Cause| match cause.distorts.iter().find(|of| of.figure == figure) {
        Some(_) if validity::bounds_include(cause) => true,
        // The true throughput is at least the measured one, without an upper bound.
        Some(_) if validity::is_generator_limit(cause) => {
            figure == Distorted::Throughput && effect.is_at_limit
        }
        Some(of) => of.level < enough,
        None => validity.verdict != Level::Invalid || !cause.distorts.is_empty(),
    };
    validity.causes.iter().all(includes)
}

fn eligible(run: &Run, is_invalid: bool) -> Eligibility {
    let Some(ending) = &run.ending else { return Eligibility::CutShort };
    let was_cut_short = matches!(ending.verdict, Verdict::Partial | Verdict::Aborted);
    match is_invalid {
        false if reached_its_end(ending) => Eligibility::Valid,
        _ if ending.failure.is_some() => Eligibility::Failed,
        true if !was_cut_short => Eligibility::Invalid,
        _ => Eligibility::CutShort,
    }
}

/// Returns whether the result of a gate counts: the run reached its end, and the gate's figure is not invalid. A gate
/// on errors, or on another figure without causes of its own, counts only if no figure is invalid.
pub fn is_judged(ending: &Ending, gate: &GateResult) -> bool {
    let figure = Condition::parse_gate(&gate.text).ok().and_then(|condition| condition.figure.distorted());
    let is_invalid = match figure {
        Some(figure) if is_explained(ending) => ending.validity.of(figure) == Level::Invalid,
        _ => has_invalid_figure(ending),
    };
    reached_its_end(ending) && !is_invalid
}

/// Returns whether the causes of doubt explain why a run is invalid.
fn is_explained(ending: &Ending) -> bool {
    ending.verdict != Verdict::Invalid || ending.validity.verdict == Level::Invalid
}

fn reached_its_end(ending: &Ending) -> bool {
    match ending.verdict {
        Verdict::Complete | Verdict::Degraded => !ending.is_inconsistent(),
        // The figure in question is valid; another one is not.
        Verdict::Invalid => ending.failure.is_none(),
        Verdict::Partial | Verdict::Aborted => false,
    }
}

/// Returns whether any figure of a run is invalid, so that it must not be compared with others.
pub fn is_invalid(run: &Run) -> bool {
    run.ending.as_ref().is_some_and(has_invalid_figure)
}

fn has_invalid_figure(ending: &Ending) -> bool {
    ending.verdict == Verdict::Invalid || ending.validity.verdict == Level::Invalid
}
