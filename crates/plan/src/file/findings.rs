//! Collects the errors and warnings of a file, up to the number that can be shown.

use super::near;
use super::span::Span;

/// Max findings that are kept. Further ones are only counted.
const KEPT_MAX: usize = 100;

/// Error or warning in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Place. `None` for the file as a whole.
    pub(crate) at: Option<Span>,
    pub(crate) what: String,
    /// Note next to the caret: `did you mean …?`
    pub(crate) note: Option<String>,
    pub(crate) help: String,
}

/// All findings of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    pub(crate) list: Vec<Finding>,
    /// Number of errors that are only counted.
    pub(crate) further: usize,
    /// Warnings about suspicious places.
    pub(crate) warnings: Vec<Finding>,
}

impl Findings {
    pub(crate) fn at(&mut self, at: Span, what: impl Into<String>, help: impl Into<String>) {
        self.keep(Finding { at: Some(at), what: what.into(), note: None, help: help.into() });
    }

    /// Adds a warning. The plan can still be run.
    pub(crate) fn warn_at(&mut self, at: Span, what: impl Into<String>, help: impl Into<String>) {
        let warning = Finding { at: Some(at), what: what.into(), note: None, help: help.into() };
        if self.warnings.len() < KEPT_MAX && !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Adds an error about the file as a whole.
    pub(crate) fn whole(&mut self, what: impl Into<String>, help: impl Into<String>) {
        self.keep(Finding { at: None, what: what.into(), note: None, help: help.into() });
    }

    /// Adds an error about an unknown name. Suggests the nearest known name, or lists all of them.
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

    /// Whether there is a finding exactly at this place, so that its consequences need no separate report.
    pub(crate) fn has_at(&self, at: Span) -> bool {
        self.list.iter().any(|finding| finding.at == Some(at))
    }

    /// Whether there is a finding within this part of the file.
    pub(crate) fn has_within(&self, part: Span) -> bool {
        let is_within = |at: Span| part.start <= at.start && at.end <= part.end;
        self.list.iter().filter_map(|finding| finding.at).any(is_within)
    }

    /// Whether the list is full, so that further findings are only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= KEPT_MAX
    }

    /// Total number of errors.
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
