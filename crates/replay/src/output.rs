//! Output of the reader of a format: entries in order, and counts of skipped lines.

use std::collections::VecDeque;

use crate::entry::Entry;
use crate::skipped::{Reason, Skipped};

/// Entries and skipped lines of a log so far.
#[derive(Debug, Default)]
pub struct Output {
    /// Entries that are complete and were not taken yet. Those of a session are in order.
    pub entries: VecDeque<Entry>,
    /// Skipped lines.
    pub skipped: Skipped,
    /// Number of the present line, from 1.
    pub line: u64,
}

impl Output {
    pub(crate) fn skip(&mut self, reason: Reason) {
        self.skipped.note(reason, self.line);
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        self.entries.push_back(entry);
    }
}

/// Reader of one format.
pub trait Reader: Send {
    /// Takes the next line, without its line break.
    fn line(&mut self, line: &[u8], out: &mut Output);

    /// Takes the end of the log.
    fn end(&mut self, out: &mut Output);
}
