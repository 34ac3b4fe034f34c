//! Whether a run counts in the figures of its study.

use evidence::{Distorted, Ending, GateResult, Level, Run, Verdict};

use crate::condition::Condition;

/// Whether a run counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eligibility {
    /// It went to its end, and its numbers may be believed.
    Valid,
    /// It says nothing about the system.
    Invalid,
    /// The system did not start, or died.
    Failed,
    /// It ended early. Only such a run is made again when its study is resumed.
    CutShort,
}

/// Whether all figures of a run count, and why not.
pub fn eligibility(run: &Run) -> Eligibility {
    eligible(run, is_invalid(run))
}

/// Whether a run counts where runs are judged by one figure, which a generator can distort while it leaves others alone. A response
/// time that is in doubt is not compared; a throughput is, because it can only be too low.
pub fn eligibility_by(run: &Run, figure: Option<Distorted>) -> Eligibility {
    let (Some(figure), Some(ending)) = (figure, &run.ending) else { return eligibility(run) };
    if !is_explained(ending) {
        return eligibility(run);
    }
    let enough = if figure == Distorted::Throughput { Level::Invalid } else { Level::Suspect };
    eligible(run, ending.validity.of(figure) >= enough)
}

fn eligible(run: &Run, is_invalid: bool) -> Eligibility {
    let Some(ending) = &run.ending else { return Eligibility::CutShort };
    let was_cut_short = matches!(ending.verdict, Verdict::Partial | Verdict::Aborted);
    match is_invalid {
        false if went_to_its_end(ending) => Eligibility::Valid,
        _ if ending.failure.is_some() => Eligibility::Failed,
        true if !was_cut_short => Eligibility::Invalid,
        _ => Eligibility::CutShort,
    }
}

/// Whether the result of a gate counts: the run went to its end, and the figure of the gate is not invalid. A gate on errors, or on
/// another figure that no cause distorts by itself, counts only where no figure is invalid.
pub fn is_judged(ending: &Ending, gate: &GateResult) -> bool {
    let figure = Condition::parse_gate(&gate.text).ok().and_then(|condition| condition.figure.distorted());
    let is_invalid = match figure {
        Some(figure) if is_explained(ending) => ending.validity.of(figure) == Level::Invalid,
        _ => has_invalid_figure(ending),
    };
    went_to_its_end(ending) && !is_invalid
}

/// Whether the causes say why a run is invalid.
fn is_explained(ending: &Ending) -> bool {
    ending.verdict != Verdict::Invalid || ending.validity.verdict == Level::Invalid
}

fn went_to_its_end(ending: &Ending) -> bool {
    match ending.verdict {
        Verdict::Complete | Verdict::Degraded => true,
        // Another figure than the one in question is invalid.
        Verdict::Invalid => ending.failure.is_none(),
        Verdict::Partial | Verdict::Aborted => false,
    }
}

/// Whether any figure of a run must not be compared with others.
pub fn is_invalid(run: &Run) -> bool {
    run.ending.as_ref().is_some_and(has_invalid_figure)
}

fn has_invalid_figure(ending: &Ending) -> bool {
    ending.verdict == Verdict::Invalid || ending.validity.verdict == Level::Invalid
}
