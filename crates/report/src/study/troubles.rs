//! What went wrong, once for all runs that it happened to in the same way.

use judge::Standing;
use store::Output;

use super::{LoadView, StudyView};
use crate::view::View;

/// Something that happened to runs of one row. Texts may hold anything: escape them.
pub(crate) struct Trouble<'a> {
    pub(crate) row: usize,
    /// How many runs.
    pub(crate) runs: usize,
    pub(crate) kind: Kind<'a>,
}

/// What happened.
pub(crate) enum Kind<'a> {
    /// The system did not start, or died.
    Failure {
        stage: &'a str,
        process: Option<&'a str>,
        what: &'a str,
        way_out: &'a str,
        outputs: &'a [Output],
    },
    /// The numbers may not be believed, or not all of them.
    Doubt { is_invalid: bool, code: &'a str, sentence: &'a str, remedy: &'a str },
    /// It ended early without a failure.
    CutShort,
    /// What was noted besides, such as a system that had to be killed or a command that failed after it.
    Note { text: &'a str, outputs: &'a [Output] },
}

/// Failures first, then runs that do not count, then those in doubt, then what was noted; by row.
pub(crate) fn of_load<'a>(view: &'a StudyView<'_>, load: &LoadView<'_>) -> Vec<Trouble<'a>> {
    let mut troubles: Vec<Trouble<'a>> = Vec::new();
    for (row, of_row) in load.rows.iter().enumerate() {
        for (run, standing) in of_row.runs.iter().chain(&of_row.others) {
            for kind in of_run(&view.runs[*run], *standing) {
                match troubles.iter_mut().find(|known| known.row == row && known.kind.is_like(&kind)) {
                    Some(known) => known.runs += 1,
                    None => troubles.push(Trouble { row, runs: 1, kind }),
                }
            }
        }
    }
    troubles.sort_by_key(|trouble| (trouble.kind.rank(), trouble.row));
    troubles
}

fn of_run<'a>(view: &'a View<'_>, standing: Standing) -> Vec<Kind<'a>> {
    let mut kinds = Vec::new();
    let failure = view.run.ending.as_ref().and_then(|ending| ending.failure.as_ref());
    if let Some(store::Failure { stage, process, what, way_out }) = failure {
        let process = process.as_deref();
        kinds.push(Kind::Failure { stage, process, what, way_out, outputs: view.run.outputs() });
    } else if standing == Standing::CutShort {
        kinds.push(Kind::CutShort);
    }
    let notes = view.run.ending.iter().flat_map(|ending| &ending.notes);
    kinds.extend(notes.enumerate().map(|(number, text)| {
        // What a run's system wrote is shown once.
        let is_shown = failure.is_some() || number > 0;
        Kind::Note { text, outputs: if is_shown { &[] } else { view.run.outputs() } }
    }));
    // A system that is not there has no numbers that could be in doubt.
    if matches!(standing, Standing::Valid | Standing::Invalid) {
        kinds.extend(view.validity.causes.iter().map(|cause| Kind::Doubt {
            is_invalid: standing == Standing::Invalid,
            code: &cause.code,
            sentence: &cause.sentence,
            remedy: &cause.remedy,
        }));
    }
    kinds
}

impl Kind<'_> {
    fn rank(&self) -> u8 {
        match self {
            Self::Failure { .. } => 0,
            Self::Doubt { is_invalid: true, .. } => 1,
            Self::CutShort => 2,
            Self::Doubt { is_invalid: false, .. } => 3,
            Self::Note { .. } => 4,
        }
    }

    /// Whether both are told in one sentence: figures in it are those of the first run.
    fn is_like(&self, other: &Kind<'_>) -> bool {
        match (self, other) {
            (
                Self::Failure { stage, process, what, .. },
                Kind::Failure { stage: other_stage, process: other_process, what: other_what, .. },
            ) => (stage, process, what) == (other_stage, other_process, other_what),
            (
                Self::Doubt { is_invalid, code, .. },
                Kind::Doubt { is_invalid: other_is_invalid, code: other_code, .. },
            ) => (is_invalid, code) == (other_is_invalid, other_code),
            (Self::CutShort, Kind::CutShort) => true,
            (Self::Note { text, .. }, Kind::Note { text: other_text, .. }) => text == other_text,
            _ => false,
        }
    }
}
