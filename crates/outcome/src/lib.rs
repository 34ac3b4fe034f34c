//! How a request can end: outcomes, and the classes of error with outcome, blame, explanation, and help.
//!
//! Protocols name a class when they judge a reply, the engine when there is none, stores keep its name, and reports explain it.
#![no_std]

extern crate alloc;

mod class;

pub use class::{Blame, ClassName, ErrorClass};

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
