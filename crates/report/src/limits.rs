//! What probably kept a system from doing more: the first of a list of rules that fires. Nothing here is more than
//! suspected, because nothing was changed to confirm it.

use store::Model;

use crate::study::{Row, StudyView};
use crate::view::View;

mod evidence;
mod rules;

use evidence::Evidence;

/// What probably kept a run, or all runs of a row, from doing more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    /// A word for programs, such as `machine_cpu`.
    pub(crate) resource: &'static str,
    /// A few words for people, such as `CPU of the machine`.
    pub(crate) what: &'static str,
    /// The evidence in a sentence with its figures, without a full stop. May quote names: escape it.
    pub(crate) because: String,
    pub(crate) certainty: Certainty,
}

/// How sure a limit is. There is no `confirmed` before a perturbation has confirmed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Certainty {
    Suspected,
    Unknown,
}

impl Certainty {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Suspected => "suspected",
            Self::Unknown => "unknown",
        }
    }
}

/// The limit of one run; `None` where nothing was answered well, so that there is nothing to explain.
pub(crate) fn of_run(view: &View<'_>) -> Option<Limit> {
    of(&Evidence { views: vec![view], figures: &view.whole })
}

/// The limit of a row, from the middle of the runs that its figures are of; `None` where nothing was answered well.
pub(crate) fn of_row(study: &StudyView<'_>, row: &Row<'_>) -> Option<Limit> {
    let views: Vec<&View<'_>> = row.shown().map(|run| &study.runs[run]).collect();
    of(&Evidence { views, figures: row.figures.as_ref()? })
}

/// The limit of one run, if it says something that its answer has not said already.
pub(crate) fn worth_telling(view: &View<'_>) -> Option<Limit> {
    let is_said = |limit: &Limit| limit.resource == "load" && view.run.new.model == Model::Open;
    of_run(view).filter(|limit| limit.certainty == Certainty::Suspected && !is_said(limit))
}

fn of(evidence: &Evidence<'_>) -> Option<Limit> {
    if evidence.figures.counts.ok == 0 {
        return None;
    }
    Some(rules::first(evidence))
}
