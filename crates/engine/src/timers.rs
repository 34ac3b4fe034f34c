//! What a worker must look at, and when: a heap that is corrected lazily.
//!
//! A request's deadline is not taken out when the reply comes: a user keeps at most one live entry, which, when it
//! comes up, is checked against the user's present deadline and put back if that is later. So a request costs the
//! heap nothing, and a user one entry per time-out.

/// No deadline, or no timer.
pub(crate) const NEVER: u64 = u64::MAX;

/// Who is to be looked at, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// The deadline of a user's request may have passed.
    Deadline,
    /// A user's next request is due, or its back-off is over.
    Wake,
    /// A pause within a user's request is over.
    GoOn,
    /// The back-off of a lane of the pool is over.
    Lane,
    /// There may be room for exchanges that wait at a peer.
    Room,
}

/// Times in order, with the number of the user, link or lane, and the reason.
pub(crate) type Timers = sockets::timers::Timers<u32, Reason>;
