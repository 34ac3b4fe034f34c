//! One finished request: when it was intended, sent, and finished, and its outcome.

use outcome::Outcome;

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
