//! Lines that are not replayed, counted by reason.

use std::collections::BTreeMap;

/// Reason why a line or statement of a log is not replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Line in another format.
    Unparsable,
    /// Line longer than the limit.
    TooLong,
    /// Message of the server that is not a statement.
    NoStatement,
    /// Message about preparing or binding; the execution has a separate line.
    PartOfExecution,
    /// Duration of a statement without its text in the log.
    DurationOnly,
    /// COPY without its data, which the log lacks.
    Copy,
    /// Fetch from a portal that an earlier statement opened.
    Fetch,
    /// Call over the fastpath interface without its arguments, which the log lacks.
    Fastpath,
    /// Statement with placeholders without their values, which the log lacks.
    NoValues,
    /// Statement or value that the server cut.
    Cut,
    /// Statement without a session.
    NoSession,
    /// Statement with a time that is missing or out of range.
    NoTime,
    /// Protocol command that is not a statement, such as Ping.
    Command,
    /// Command that a script called.
    PartOfScript,
    /// Request without its body, which the log lacks.
    NoBody,
    /// Request line that is not HTTP.
    BadRequest,
    /// Removed by a filter on user or database.
    Filtered,
    /// Removed because it may write.
    MayWrite,
    /// Removed because of its time.
    OtherTime,
}

impl Reason {
    /// Words of the reason in reports, for a plural subject.
    pub fn words(self) -> &'static str {
        match self {
            Self::Unparsable => "lines in another format",
            Self::TooLong => "lines or statements longer than 16 MiB",
            Self::NoStatement => "messages without a statement",
            Self::PartOfExecution => "parse and bind messages (the execution is replayed)",
            Self::DurationOnly => "durations without a statement",
            Self::Copy => "COPY (its data is not in the log)",
            Self::Fetch => "fetches from an open portal",
            Self::Fastpath => "fastpath calls (their arguments are not in the log)",
            Self::NoValues => "statements whose parameter values are not in the log",
            Self::Cut => "statements or values that the server cut",
            Self::NoSession => "statements without a session",
            Self::NoTime => "statements without a usable time",
            Self::Command => "commands that are no statements",
            Self::PartOfScript => "commands that scripts called (the script is replayed)",
            Self::NoBody => "requests whose body is not in the log",
            Self::BadRequest => "requests that are not HTTP",
            Self::Filtered => "left out by --user, --database",
            Self::MayWrite => "left out by --only reads",
            Self::OtherTime => "left out by --since, --until",
        }
    }

    /// Key of the reason in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Self::Unparsable => "unparsable",
            Self::TooLong => "too_long",
            Self::NoStatement => "no_statement",
            Self::PartOfExecution => "part_of_execution",
            Self::DurationOnly => "duration_only",
            Self::Copy => "copy",
            Self::Fetch => "fetch",
            Self::Fastpath => "fastpath",
            Self::NoValues => "no_values",
            Self::Cut => "cut",
            Self::NoSession => "no_session",
            Self::NoTime => "no_time",
            Self::Command => "command",
            Self::PartOfScript => "part_of_script",
            Self::NoBody => "no_body",
            Self::BadRequest => "bad_request",
            Self::Filtered => "filtered",
            Self::MayWrite => "may_write",
            Self::OtherTime => "other_time",
        }
    }

    /// Whether a statement was lost. False for lines without a statement, and for statements that a flag excludes.
    pub fn is_loss(self) -> bool {
        let is_left_out = matches!(self, Self::Filtered | Self::MayWrite | Self::OtherTime);
        let is_part = matches!(self, Self::NoStatement | Self::PartOfExecution | Self::PartOfScript);
        !is_left_out && !is_part
    }
}

/// Number of skipped lines by reason, with the first line number of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped(BTreeMap<Reason, (u64, u64)>);

impl Skipped {
    /// Counts a line. Lines are numbered from 1.
    pub fn note(&mut self, reason: Reason, line: u64) {
        self.0.entry(reason).or_insert((0, line)).0 += 1;
    }

    /// Number of lines with this reason.
    pub fn count(&self, reason: Reason) -> u64 {
        self.0.get(&reason).map_or(0, |(count, _)| *count)
    }

    /// Reasons with the number of their lines and the number of the first such line.
    pub fn list(&self) -> impl Iterator<Item = (Reason, u64, u64)> {
        self.0.iter().map(|(reason, (count, first))| (*reason, *count, *first))
    }

    /// Number of statements that were lost.
    pub fn losses(&self) -> u64 {
        self.list().filter(|(reason, ..)| reason.is_loss()).map(|(_, count, _)| count).sum()
    }
}
