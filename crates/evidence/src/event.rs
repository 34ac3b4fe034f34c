//! Events: actions on a system under load, and their outcomes.

/// One event of a run, or one occurrence of a repeated event. Times are nanoseconds since the load began, warm-up included. Texts
/// are untrusted: escape them before printing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Name of the event in the plan.
    pub name: String,
    /// Number of the occurrence of the event, from 0.
    pub occurrence: u32,
    /// Action in words, without secrets.
    pub action: String,
    /// Planned start; `None` if the event waited for something that did not happen.
    pub planned_ns: Option<u64>,
    /// Actual start; `None` if the event did not begin.
    pub begun_ns: Option<u64>,
    /// End, including its sign of success; `None` if the run ended first.
    pub ended_ns: Option<u64>,
    /// Exit code of the command; `None` if there was no command, or a signal ended it.
    pub exit: Option<i32>,
    /// Number of the signal that ended the command; `None` if none did.
    pub signal: Option<i32>,
    /// Last part of the command's output, up to [`Event::OUTPUT_BYTES_MAX`].
    pub output: Vec<u8>,
    /// Length of the dropped start of the output, in bytes.
    pub dropped_bytes: u64,
    /// Reason for the failure; `None` if no failure is known.
    pub failure: Option<String>,
    /// Whether the run continues and counts even if the event fails.
    pub may_fail: bool,
}

/// Outcome of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventOutcome {
    /// The event succeeded.
    Done,
    /// The event failed.
    Failed,
    /// The event began, but its end is unknown.
    Underway,
    /// The event did not begin.
    NotBegun,
}

impl Event {
    /// Maximum length of the stored output of one event, in bytes.
    pub const OUTPUT_BYTES_MAX: usize = 64 << 10;
    /// Maximum number of events stored per run, occurrences included.
    pub const COUNT_MAX: usize = 1_000;

    /// Returns the outcome, derived from failure, start, and end.
    pub fn outcome(&self) -> EventOutcome {
        match (&self.failure, self.begun_ns, self.ended_ns) {
            (Some(_), ..) => EventOutcome::Failed,
            (None, None, _) => EventOutcome::NotBegun,
            (None, Some(_), None) => EventOutcome::Underway,
            (None, Some(_), Some(_)) => EventOutcome::Done,
        }
    }

    /// Returns the duration; `None` if the event did not begin or did not end.
    pub fn lasting_ns(&self) -> Option<u64> {
        self.ended_ns?.checked_sub(self.begun_ns?)
    }

    /// Returns whether the event ends after it began, and its output is within the limit.
    pub fn is_possible(&self) -> bool {
        let is_in_order = match (self.begun_ns, self.ended_ns) {
            (Some(begun), Some(ended)) => begun <= ended,
            (None, Some(_)) => false,
            (_, None) => true,
        };
        is_in_order && self.output.len() <= Self::OUTPUT_BYTES_MAX
    }
}

impl EventOutcome {
    /// Returns the word for the outcome in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Underway => "underway",
            Self::NotBegun => "not begun",
        }
    }
}
