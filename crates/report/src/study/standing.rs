//! Whether a run counts in the figures of its study.

use store::Verdict;

use crate::view::View;

/// Whether a run counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It went to its end, and its numbers may be believed.
    Valid,
    /// It says nothing about the system.
    Invalid,
    /// The system did not start, or died.
    Failed,
    /// It ended early.
    CutShort,
}

/// The standing of a run.
pub(crate) fn standing(view: &View<'_>) -> Standing {
    let ending = view.run.ending.as_ref();
    let went_to_its_end = matches!(view.verdict, Verdict::Complete | Verdict::Degraded);
    if went_to_its_end && !view.is_invalid() {
        Standing::Valid
    } else if ending.is_some_and(|ending| ending.failure.is_some()) {
        Standing::Failed
    } else if view.is_invalid() && view.verdict != Verdict::Partial && view.verdict != Verdict::Aborted {
        Standing::Invalid
    } else {
        Standing::CutShort
    }
}
