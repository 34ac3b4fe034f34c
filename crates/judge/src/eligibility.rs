//! Whether a run counts in the figures of its study.

use store::{Level, Run, Verdict};

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

/// Whether a run counts, and why not.
pub fn eligibility(run: &Run) -> Eligibility {
    let Some(ending) = &run.ending else { return Eligibility::CutShort };
    let went_to_its_end = matches!(ending.verdict, Verdict::Complete | Verdict::Degraded);
    let was_cut_short = matches!(ending.verdict, Verdict::Partial | Verdict::Aborted);
    match is_invalid(run) {
        false if went_to_its_end => Eligibility::Valid,
        _ if ending.failure.is_some() => Eligibility::Failed,
        true if !was_cut_short => Eligibility::Invalid,
        _ => Eligibility::CutShort,
    }
}

/// Whether the figures of a run must not be compared with others at all.
pub fn is_invalid(run: &Run) -> bool {
    let is_invalid = |ending: &store::Ending| {
        ending.verdict == Verdict::Invalid || ending.validity.verdict == Level::Invalid
    };
    run.ending.as_ref().is_some_and(is_invalid)
}
