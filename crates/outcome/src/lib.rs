//! Outcomes of requests, and error classes with outcome, responsible party, explanation, and advice.
//!
//! Protocols assign a class when they judge a reply. The engine assigns one if there is no reply. Stores keep the name of the class, and
//! reports explain it.
#![no_std]

extern crate alloc;

mod class;

pub use class::{Blame, ClassName, ErrorClass};

/// Outcome of a request that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// The reply passed every check.
    Ok,
    /// The system rejected the request: an error status, a failed check, or an SQL error.
    Rejected,
    /// There was no usable reply: a connect, reset, or protocol error.
    Failed,
    /// There was no complete reply before the total deadline of the request.
    TimedOut,
    /// The request was in flight when the run ended.
    Unfinished,
}

impl Outcome {
    /// All outcomes, in the order of reports.
    pub const ALL: [Self; 5] = [Self::Ok, Self::Rejected, Self::Failed, Self::TimedOut, Self::Unfinished];

    /// Returns the name used in all output. Stores use another name for *rejected*.
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
