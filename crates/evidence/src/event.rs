//! Events: actions on a system under load, and their outcomes.

/// One event of a run, or one occurrence of an event that repeats. All times are nanoseconds since the load began, warm-up included.
/// Texts are untrusted: escape them before printing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The event's name in the plan.
    pub name: String,
    /// Number of the occurrence of the event, from 0.
    pub occurrence: u32,
    /// The action in words, without secrets.
    pub action: String,
    /// When it was to begin; `None` if it waited for something that did not come.
    pub planned_ns: Option<u64>,
    /// When it began; `None` if it did not.
    pub begun_ns: Option<u64>,
    /// When it had ended, its sign of success included; `None` if the run ended before it.
    pub ended_ns: Option<u64>,
    /// With which code its command exited; `None` if it ran none, or a signal ended it.
    pub exit: Option<i32>,
    /// The number of the signal that ended its command.
    pub signal: Option<i32>,
    /// The end of what it wrote, at most [`Event::OUTPUT_BYTES_MAX`].
    pub output: Vec<u8>,
    /// How much it wrote before that, which is not kept.
    pub dropped_bytes: u64,
    /// Why it failed; `None` if it did not, as far as is known.
    pub failure: Option<String>,
    /// Whether the run goes on and counts although it failed.
    pub may_fail: bool,
}

/// How an event stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventOutcome {
    /// It did what it should.
    Done,
    /// It failed.
    Failed,
    /// It began, and nothing tells how it ended.
    Underway,
    /// It did not begin.
    NotBegun,
}

impl Event {
    /// Maximum length of the output that is kept of one event, in bytes.
    pub const OUTPUT_BYTES_MAX: usize = 64 << 10;
    /// Maximum number of events that are kept of one run, occurrences included.
    pub const COUNT_MAX: usize = 1_000;

    /// How it went.
    pub fn outcome(&self) -> EventOutcome {
        match (&self.failure, self.begun_ns, self.ended_ns) {
            (Some(_), ..) => EventOutcome::Failed,
            (None, None, _) => EventOutcome::NotBegun,
            (None, Some(_), None) => EventOutcome::Underway,
            (None, Some(_), Some(_)) => EventOutcome::Done,
        }
    }

    /// How long it took; `None` if it did not begin or did not end.
    pub fn lasting_ns(&self) -> Option<u64> {
        self.ended_ns?.checked_sub(self.begun_ns?)
    }

    /// Whether it did not end before it began, and wrote no more than is kept.
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
    /// The word in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Underway => "underway",
            Self::NotBegun => "not begun",
        }
    }
}
