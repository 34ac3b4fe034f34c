//! Request in flight.

use std::num::NonZero;

use crate::timers::NEVER;

/// Request from its start to its end. Its ticket is the number of its user, who has only one at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    /// Number of the link that carries the exchange.
    pub(crate) link: u32,
    /// Number of the step.
    pub(crate) step: u16,
    pub(crate) intended_ns: u64,
    /// Time at which the exchange was given to its link, which may still have had to be opened.
    pub(crate) begun_ns: u64,
    /// Time of the first write. `begun_ns` until then.
    pub(crate) sent_ns: u64,
    /// Time of the first byte of the reply; 0 until then.
    pub(crate) first_byte_ns: u64,
    /// Time by which the request must be complete. Until it is begun, time by which its link must be up.
    pub(crate) deadline_ns: u64,
    /// Whether the channel of the link has begun the exchange.
    pub(crate) is_begun: bool,
    /// Progress of the attempts to send the request.
    pub(crate) attempt: Attempt,
    /// Part whose reply is awaited. `None` if that part has no account.
    pub(crate) part: Option<Part>,
    /// Time of the latest send.
    pub(crate) part_sent_ns: u64,
    /// Bytes of all parts so far that were passed to the socket or to TLS.
    pub(crate) sent_bytes: u64,
    /// End of the current pause; 0 if there is none.
    pub(crate) pause_until_ns: u64,
}

/// Progress of the attempts to send a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// First attempt; no part was answered.
    First,
    /// Second attempt, on a new connection or at another peer; no part was answered.
    Second,
    /// At least one part was answered.
    PartReplied,
}

/// Part of an exchange whose reply is awaited.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// Number of its account; these numbers follow those of the steps.
    pub(crate) account: NonZero<u16>,
    pub(crate) sent_ns: u64,
    /// Time of the first byte of the reply; 0 until then.
    pub(crate) first_byte_ns: u64,
}

/// Redirections of an exchange: their number, at most 127, and whether the channel must announce that only this exchange goes to the
/// peer (`ASKING`). One byte, the only one that a user has free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Redirections(u8);

impl Redirections {
    const ASKING: u8 = 0x80;

    pub(crate) fn count(self) -> u8 {
        self.0 & !Self::ASKING
    }

    pub(crate) fn is_asking(self) -> bool {
        self.0 & Self::ASKING != 0
    }

    /// Counts one more redirection. `is_asking` is that of the new one.
    pub(crate) fn incremented(self, is_asking: bool) -> Self {
        let count = self.count().saturating_add(1).min(!Self::ASKING);
        Self(count | if is_asking { Self::ASKING } else { 0 })
    }

    /// Notes that the channel has announced the redirection.
    pub(crate) fn announced(self) -> Self {
        Self(self.count())
    }
}

impl Exchange {
    /// Creates an exchange that is about to begin.
    #[inline]
    pub(crate) fn new(link: u32, step: u16, intended_ns: u64, begun_ns: u64, sent_ns: u64) -> Self {
        Self {
            link,
            step,
            intended_ns,
            begun_ns,
            sent_ns,
            first_byte_ns: 0,
            deadline_ns: NEVER,
            is_begun: false,
            attempt: Attempt::First,
            part: None,
            part_sent_ns: 0,
            sent_bytes: 0,
            pause_until_ns: 0,
        }
    }

    /// Returns whether any part was answered.
    pub(crate) fn is_answered(&self) -> bool {
        self.attempt == Attempt::PartReplied
    }

    /// Notes bytes of the reply that came at `at_ns`. Returns their time, which is never before the time of sending.
    #[inline]
    pub(crate) fn note_bytes(&mut self, at_ns: u64) -> u64 {
        let at_ns = at_ns.max(self.sent_ns);
        if self.first_byte_ns == 0 {
            self.first_byte_ns = at_ns;
        }
        if let Some(part) = &mut self.part
            && part.first_byte_ns == 0
        {
            part.first_byte_ns = at_ns;
        }
        at_ns
    }
}
