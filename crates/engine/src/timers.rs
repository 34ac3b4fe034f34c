//! Timers of a worker: a heap whose entries are corrected lazily.
//!
//! The deadline of a request is not removed when its reply arrives. A user keeps at most one live deadline entry. When the entry
//! comes up, it is compared with the user's present deadline, and set again if that is later. So a request costs no heap operation,
//! and a user costs one entry per time-out period.

/// Time value for "no deadline" or "no timer".
pub(crate) const NEVER: u64 = u64::MAX;

/// Reason of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// The deadline of a user's request may have passed.
    Deadline,
    /// A user's next request is due, or its back-off is over.
    Wake,
    /// A pause within a user's request is over.
    EndPause,
    /// The back-off of a lane of the pool is over.
    Lane,
    /// There may be room for exchanges that wait at a peer.
    Room,
}

/// Times in order, with the number of the user, link or lane, and the reason.
pub(crate) type Timers = sockets::timers::Timers<u32, Reason>;
