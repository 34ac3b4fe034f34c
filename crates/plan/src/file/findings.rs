//! What is found to be wrong while a file is read: collected, never more than can be shown.

use super::near;
use super::span::Span;

/// Further findings are counted, not kept.
const KEPT_MAX: usize = 100;

/// One mistake in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Where; `None`: the file as a whole.
    pub(crate) at: Option<Span>,
    pub(crate) what: String,
    /// Next to the caret: `did you mean …?`.
    pub(crate) note: Option<String>,
    pub(crate) help: String,
}

/// All mistakes of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    pub(crate) list: Vec<Finding>,
    /// How many more there are.
    pub(crate) further: usize,
    /// Suspicious places that are no errors.
    pub(crate) warnings: Vec<Finding>,
}

impl Findings {
    pub(crate) fn at(&mut self, at: Span, what: impl Into<String>, help: impl Into<String>) {
        self.keep(Finding { at: Some(at), what: what.into(), note: None, help: help.into() });
    }

    /// A warning: the plan can be run.
    pub(crate) fn warn_at(&mut self, at: Span, what: impl Into<String>, help: impl Into<String>) {
        if self.warnings.len() < KEPT_MAX {
            self.warnings.push(Finding { at: Some(at), what: what.into(), note: None, help: help.into() });
        }
    }

    /// About the file as a whole.
    pub(crate) fn whole(&mut self, what: impl Into<String>, help: impl Into<String>) {
        self.keep(Finding { at: None, what: what.into(), note: None, help: help.into() });
    }

    /// A name that is none of the known ones: the nearest is suggested, or all are listed.
    pub(crate) fn unknown<'a>(
        &mut self,
        at: Span,
        what: impl Into<String>,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
        listed_as: &str,
    ) {
        if self.is_full() {
            self.further += 1;
            return;
        }
        let known: Vec<&str> = known.into_iter().collect();
        let (note, help) = match near::nearest(name, known.iter().copied()) {
            Some(near) => (Some(format!("did you mean `{near}`?")), format!("write `{near}`")),
            None => (None, format!("{listed_as} {}", near::listed(&known))),
        };
        self.keep(Finding { at: Some(at), what: what.into(), note, help });
    }

    /// Whether something was found exactly there: what follows from it need not be told.
    pub(crate) fn has_at(&self, at: Span) -> bool {
        self.list.iter().any(|finding| finding.at == Some(at))
    }

    /// Whether something was found in this part of the file.
    pub(crate) fn has_within(&self, part: Span) -> bool {
        let is_within = |at: Span| part.start <= at.start && at.end <= part.end;
        self.list.iter().filter_map(|finding| finding.at).any(is_within)
    }

    /// Whether what is found from now on is only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= KEPT_MAX
    }

    /// How many there are in all.
    pub(crate) fn count(&self) -> usize {
        self.list.len() + self.further
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn keep(&mut self, finding: Finding) {
        if self.list.contains(&finding) {
            return;
        }
        if self.list.len() < KEPT_MAX {
            self.list.push(finding);
        } else {
            self.further += 1;
        }
    }
}
