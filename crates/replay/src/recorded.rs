//! Reads a log to its end: its content, and the part of it to send.

use std::io::{self, BufRead};

use crate::entry::Entry;
use crate::formats::Format;
use crate::instant;
use crate::log::Log;
use crate::skipped::{Reason, Skipped};
use crate::survey::Survey;
use crate::trace::{SPILLED_ABOVE_BYTES, Trace, TraceBuilder, TraceError};

/// Entries of a log that are replayed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Users with sessions to replay. Empty for all users.
    pub users: Vec<String>,
    /// Databases with sessions to replay, or hosts of requests. Empty for all.
    pub databases: Vec<String>,
    /// Whether statements that may write are skipped.
    pub only_reads: bool,
    /// Time before which entries are skipped. `None` for the start of the log.
    pub since: Option<Moment>,
    /// Time from which on entries are skipped. `None` for the end of the log.
    pub until: Option<Moment>,
}

/// A time in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Nanoseconds since 1970.
    At(u64),
    /// Nanoseconds since the first entry of the log.
    AfterFirst(u64),
}

impl Moment {
    /// Parses a date and a time such as `2026-01-02 03:04:05.6`, or with `T` and a zone. Without a zone it is UTC. `None` if the text is
    /// invalid.
    pub fn from_date(text: &str) -> Option<Self> {
        let (at_ns, used) = instant::iso(text.as_bytes())?;
        (used == text.len()).then_some(Self::At(at_ns))
    }

    fn at_ns(self, first_ns: u64) -> u64 {
        match self {
            Self::At(at_ns) => at_ns,
            Self::AfterFirst(ns) => first_ns.saturating_add(ns),
        }
    }
}

/// Parses a speed such as `2x` or `0.5`. `None` for `max`, which has no pauses.
///
/// # Errors
///
/// Returns the error message.
pub fn speed(text: &str) -> Result<Option<f64>, String> {
    if text == "max" {
        return Ok(None);
    }
    match text.strip_suffix('x').unwrap_or(text).parse::<f64>() {
        Ok(factor) if (0.001..=1_000.0).contains(&factor) => Ok(Some(factor)),
        _ => Err(format!("{text:?} is no factor from 0.001x to 1000x")),
    }
}

/// A log that was read to its end.
#[derive(Debug)]
pub struct Recorded {
    /// Format of the log.
    pub format: &'static Format,
    /// Counts of the entries that are replayed.
    pub survey: Survey,
    /// Number of lines.
    pub lines: u64,
    /// Lines that are not replayed.
    pub skipped: Skipped,
    /// Items to send. Empty if they were not kept.
    pub trace: Trace,
}

/// Reason why a log cannot be read to its end.
#[derive(Debug)]
pub enum ReadError {
    /// Error of the operating system.
    Io(io::Error),
    /// The temporary file of its statements cannot be written.
    File(io::Error),
    /// Statements that need more memory than [`crate::KEPT_BYTES_MAX`].
    TooLarge,
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<TraceError> for ReadError {
    fn from(error: TraceError) -> Self {
        match error {
            TraceError::TooLarge => Self::TooLarge,
            TraceError::File(error) => Self::File(error),
        }
    }
}

/// Storage of the statements of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Nowhere: the log is only counted.
    Nothing,
    /// Keeps items in memory.
    InMemory,
    /// Keeps items in memory, or in a temporary file if there are many and they belong to sessions.
    InFile,
}

impl Selection {
    /// Reason to skip an entry of a log that starts at `first_ns`. `None` if it is replayed.
    fn skip_reason(&self, entry: &Entry, first_ns: u64) -> Option<Reason> {
        let is_early = self.since.is_some_and(|since| entry.at_ns < since.at_ns(first_ns));
        if is_early || self.until.is_some_and(|until| entry.at_ns >= until.at_ns(first_ns)) {
            return Some(Reason::OtherTime);
        }
        let is_wanted =
            |wanted: &[String], name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
        let is_selected = is_wanted(&self.users, &entry.user) && is_wanted(&self.databases, &entry.database);
        (!is_selected).then_some(Reason::Filtered)
    }
}

impl Recorded {
    /// Reads the rest of a log, and keeps what to send.
    ///
    /// # Errors
    ///
    /// See [`ReadError`].
    pub fn read<R: BufRead>(
        mut log: Log<R>,
        selection: &Selection,
        keep: Storage,
    ) -> Result<Self, ReadError> {
        let (mut survey, mut builder) = (Survey::new(log.format.traffic), TraceBuilder::new());
        if keep == Storage::InFile {
            builder = builder.with_spill_limit(SPILLED_ABOVE_BYTES);
        }
        let mut first_ns = None;
        while let Some(entry) = log.next_entry()? {
            let first_ns = *first_ns.get_or_insert(entry.at_ns);
            if let Some(reason) = selection.skip_reason(&entry, first_ns) {
                log.skip(reason);
                continue;
            }
            let (fingerprint, writes) = survey.classify(&entry);
            if writes && selection.only_reads {
                log.skip(Reason::MayWrite);
                continue;
            }
            survey.count(&entry, fingerprint, writes);
            if keep != Storage::Nothing {
                builder.add(entry, fingerprint)?;
            }
        }
        let trace = builder.build(survey.first_ns().unwrap_or(0)).map_err(ReadError::File)?;
        Ok(Self { format: log.format, survey, lines: log.lines(), skipped: log.skipped().clone(), trace })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Layout;

    fn count(since: Option<&str>, until: Option<Moment>) -> (u64, u64) {
        let line = |second: u8| {
            format!(
                "2026-01-02 03:04:0{second}.000 UTC [7] LOG:  duration: 1.000 ms  statement: SELECT {second}\n"
            )
        };
        let text: String = (0..10).map(line).collect();
        let log = Log::open(text.as_bytes(), None, &Layout::default()).expect("a log");
        let since = since.map(|text| Moment::from_date(text).expect("a time"));
        let selection = Selection { since, until, ..Selection::default() };
        let recorded = Recorded::read(log, &selection, Storage::InMemory).expect("a log");
        assert_eq!(recorded.trace.len() as u64, recorded.survey.statements);
        (recorded.survey.statements, recorded.skipped.count(Reason::OtherTime))
    }

    #[test]
    fn entries_before_since_and_from_until_on_are_left_out_and_counted() {
        assert_eq!(count(None, None), (10, 0));
        assert_eq!(count(Some("2026-01-02 03:04:03.5"), None), (6, 4));
        assert_eq!(
            count(Some("2026-01-02T04:04:03.5+01:00"), Some(Moment::AfterFirst(6_000_000_000))),
            (2, 8)
        );
    }

    #[test]
    fn text_after_a_date_is_no_moment() {
        assert_eq!(Moment::from_date("2026-01-02 03:04:05 later"), None);
        assert_eq!(Moment::from_date("10min"), None);
        assert_eq!(Moment::from_date("1970-01-01 00:00:01"), Some(Moment::At(1_000_000_000)));
    }

    #[test]
    fn speed_is_a_factor_or_max() {
        assert_eq!((speed("2x"), speed("0.5"), speed("max")), (Ok(Some(2.0)), Ok(Some(0.5)), Ok(None)));
        assert!(speed("0").is_err() && speed("fast").is_err());
    }
}
