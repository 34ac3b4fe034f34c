//! How one request ended, and when.

/// The five ways a request that was started can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// Answered, and every check held.
    Ok,
    /// The system answered no: a status, a check, an SQL error.
    Rejected,
    /// No usable answer: connecting, reset, protocol.
    Failed,
    /// No complete answer within the request's total deadline.
    TimedOut,
    /// In flight when the run ended.
    Unfinished,
}

impl Outcome {
    /// Every outcome, in the order of reports.
    pub const ALL: [Self; 5] = [Self::Ok, Self::Rejected, Self::Failed, Self::TimedOut, Self::Unfinished];

    /// The word used in everything that is printed. Stores have one of their own for *rejected*.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Unfinished => "unfinished",
        }
    }
}

/// One finished request: its three times, and what came of it. All times are nanoseconds since the load began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finish {
    /// When the load shape wanted it to start.
    pub intended_ns: u64,
    /// When its first byte was handed to the kernel (or, if no connection came about, when it was begun).
    pub sent_ns: u64,
    /// When the first byte of the reply was read; `None` if none came.
    pub first_byte_ns: Option<u64>,
    /// When its last byte was read, or when it was given up.
    pub finished_ns: u64,
    /// What came of it.
    pub outcome: Outcome,
    /// The protocol's status number, such as 200; 0 if there was none.
    pub status: u16,
}
