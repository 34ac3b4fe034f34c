//! Figures that a load generator reported, in Tenbin's units.

use std::fmt;

use outcome::ErrorClass;

use crate::words::{Account, ErrorWord};

/// Figures of one run of a tool. `None` means not reported.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Version of the tool, as printed.
    pub version: Option<String>,
    /// Measured time in nanoseconds; above 0.
    pub measured_ns: u64,
    /// Requests that were answered as expected.
    pub ok: u64,
    /// Requests with any other outcome, by kind.
    pub errors: Vec<ToolError>,
    /// Requests still unanswered at the end of the tool.
    pub unfinished: u64,
    /// Number of replies by status.
    pub statuses: Vec<(u16, u64)>,
    /// Bytes of replies, including heads.
    pub received_bytes: Option<u64>,
    /// Times of requests.
    pub times: Times,
    /// Words of the tool that do not mean an error, each with count and meaning, as sentences.
    pub notes: Vec<String>,
}

/// A kind of error, with its count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError {
    /// The closest error class.
    pub class: ErrorClass,
    /// Status code; 0 if there is none.
    pub code: u32,
    /// Error message of the tool.
    pub message: String,
    /// Number of requests.
    pub count: u64,
}

/// Times in nanoseconds. `None` for a time that the tool rounds to 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// Resolution of the printed times.
    pub resolution_ns: u64,
    /// Shortest time.
    pub min_ns: Option<u64>,
    /// Mean time.
    pub mean_ns: Option<u64>,
    /// Longest time.
    pub max_ns: Option<u64>,
    /// Percentiles: parts per million, and the time.
    pub percentiles: Vec<(u32, u64)>,
}

/// Reason why the output of a tool cannot be parsed, as the end of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError(pub String);

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParseError {}

impl Figures {
    /// Adds requests under a word of the tool, unless the count is 0.
    pub(crate) fn count(&mut self, word: &ErrorWord, count: u64) {
        self.count_message(word, word.word, count);
    }

    /// Adds requests under a word that is part of `message`, unless the count is 0.
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

    /// Counts replies by status: ok from 200 to 399, an error otherwise.
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

    /// Checks that the figures are plausible: they have a length, and their counts can be summed.
    pub(crate) fn checked(self) -> Result<Self, ParseError> {
        let errors = self.errors.iter().map(|error| error.count);
        let all = errors.chain([self.ok, self.unfinished]).try_fold(0u64, u64::checked_add);
        // Limits that no real run reaches: 2^48 requests, and 2^53 ns, which is 104 days.
        let is_plausible = all.is_some_and(|all| all < 1 << 48) && (1..1 << 53).contains(&self.measured_ns);
        if is_plausible {
            Ok(self)
        } else {
            Err(ParseError("it printed figures that no run can have".to_owned()))
        }
    }
}

impl Times {
    pub(crate) fn with_resolution(resolution_ns: u64) -> Self {
        Self { resolution_ns, ..Self::default() }
    }

    /// Adds a percentile. Times that were rounded to 0, and percentages outside 0 to 100, are ignored.
    pub(crate) fn add(&mut self, percent: f64, ns: Option<u64>) {
        if let Some(ns) = ns.filter(|ns| *ns > 0 && percent > 0.0 && percent < 100.0) {
            self.percentiles.push(((percent * 10_000.0).round() as u32, ns));
        }
    }
}
