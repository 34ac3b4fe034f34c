//! What a load generator reported, in the units of Tenbin.

use std::fmt;

use outcome::ErrorClass;

use crate::words::{Account, ErrorWord};

/// The figures of one run of a tool. `None`: not reported.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// The version of the tool, as it is printed.
    pub version: Option<String>,
    /// How long it measured, in nanoseconds, above 0.
    pub measured_ns: u64,
    /// Requests that were answered as they should be.
    pub ok: u64,
    /// Requests that ended in any other way, by kind.
    pub errors: Vec<ToolError>,
    /// Requests that the tool left unanswered at its end.
    pub unfinished: u64,
    /// Replies by status.
    pub statuses: Vec<(u16, u64)>,
    /// Bytes of replies, heads included.
    pub received_bytes: Option<u64>,
    /// Times of requests.
    pub times: Times,
    /// Words of the tool that stand for no error, each with its count and meaning, as sentences.
    pub notes: Vec<String>,
}

/// A kind of error, and how often it was reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError {
    /// The class that comes nearest.
    pub class: ErrorClass,
    /// A status, or 0.
    pub code: u32,
    /// The tool's own words.
    pub message: String,
    /// How often.
    pub count: u64,
}

/// Times in nanoseconds. What a tool rounds to 0 is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// The smallest step in which they are printed.
    pub resolution_ns: u64,
    /// The shortest.
    pub min_ns: Option<u64>,
    /// The mean.
    pub mean_ns: Option<u64>,
    /// The longest.
    pub max_ns: Option<u64>,
    /// By parts per million of the requests that took no longer.
    pub percentiles: Vec<(u32, u64)>,
}

/// Why the output of a tool cannot be read, as the end of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread(pub String);

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unread {}

impl Figures {
    /// Counts requests under a word of the tool, if there were any.
    pub(crate) fn count(&mut self, word: &ErrorWord, count: u64) {
        self.count_message(word, word.word, count);
    }

    /// Counts requests under a word that is part of a message.
    pub(crate) fn count_message(&mut self, word: &ErrorWord, message: &str, count: u64) {
        match word.account {
            _ if count == 0 => {}
            Account::Errors(class) => {
                self.errors.push(ToolError { class, code: 0, message: message.to_owned(), count });
            }
            Account::Unfinished => self.unfinished = self.unfinished.saturating_add(count),
            Account::Note => self.notes.push(format!("{message}: {count}; {}", word.meaning)),
        }
    }

    /// Sorts replies by their status: ok from 200 to 399, rejected otherwise.
    pub(crate) fn note_statuses(&mut self, statuses: Vec<(u16, u64)>) {
        for (status, count) in &statuses {
            if (200..400).contains(status) {
                self.ok = self.ok.saturating_add(*count);
            } else {
                let message = format!("status {status}");
                let class = ErrorClass::Status;
                self.errors.push(ToolError { class, code: u32::from(*status), message, count: *count });
            }
        }
        self.statuses = statuses;
    }

    /// The same, if it is plausible: a length, and counts that can be added up.
    pub(crate) fn checked(self) -> Result<Self, Unread> {
        let errors = self.errors.iter().map(|error| error.count);
        let all = errors.chain([self.ok, self.unfinished]).try_fold(0u64, u64::checked_add);
        // No run has more requests, or takes longer.
        let is_plausible = all.is_some_and(|all| all < 1 << 48) && (1..1 << 53).contains(&self.measured_ns);
        if is_plausible {
            Ok(self)
        } else {
            Err(Unread("it printed figures that no run can have".to_owned()))
        }
    }
}

impl Times {
    pub(crate) fn in_steps_of(resolution_ns: u64) -> Self {
        Self { resolution_ns, ..Self::default() }
    }

    /// Adds a percentile, in percent; one that was rounded to 0 is left out.
    pub(crate) fn add(&mut self, percent: f64, ns: Option<u64>) {
        if let Some(ns) = ns.filter(|ns| *ns > 0 && percent > 0.0 && percent < 100.0) {
            self.percentiles.push(((percent * 10_000.0).round() as u32, ns));
        }
    }
}
