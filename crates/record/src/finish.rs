//! Finished request: scheduled, sent, and finished times, and its outcome.

use outcome::Outcome;

/// Finished request. All times are nanoseconds since the load began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finish {
    /// Scheduled start.
    pub intended_ns: u64,
    /// Time when the first byte of the request was passed to the kernel, or when the request was started if no connection was established.
    pub sent_ns: u64,
    /// Time when the first byte of the reply was read. `None` if there was no reply.
    pub first_byte_ns: Option<u64>,
    /// Time when the last byte was read, or when the request was given up.
    pub finished_ns: u64,
    /// Outcome of the request.
    pub outcome: Outcome,
    /// Status number of the protocol, such as 200. 0 if there was none.
    pub status: u16,
}
