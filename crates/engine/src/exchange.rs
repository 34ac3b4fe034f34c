//! One request in flight.

use std::num::NonZero;

use crate::timers::NEVER;

/// A request from its begin to its end. Its ticket is the number of its user, who has no other at the same time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    /// The link that carries it.
    pub(crate) link: u32,
    /// The step that it is of.
    pub(crate) step: u16,
    pub(crate) intended_ns: u64,
    /// When it was given to its link, which may still have had to be opened.
    pub(crate) begun_ns: u64,
    /// When it was first written; when it was begun, until then.
    pub(crate) sent_ns: u64,
    /// When the first byte of its reply came; 0 until then.
    pub(crate) first_byte_ns: u64,
    /// When it must be over; until it is begun, when its link must be up.
    pub(crate) deadline_ns: u64,
    /// Whether its link has taken it.
    pub(crate) is_begun: bool,
    /// How far its attempts have come.
    pub(crate) attempt: Attempt,
    /// The part whose reply is awaited, if it has an account of its own.
    pub(crate) part: Option<Part>,
    /// When bytes were last sent.
    pub(crate) part_sent_ns: u64,
    /// Bytes of all its parts so far that were handed on, to the socket or to TLS.
    pub(crate) sent_bytes: u64,
    /// When its pause is over; 0 while it does not pause.
    pub(crate) pause_until_ns: u64,
}

/// How far the attempts of an exchange have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// Nothing of it was answered.
    First,
    /// It was begun once more, on a new connection, and nothing of it was answered.
    Second,
    /// A part of it was answered.
    Answered,
}

/// A part of an exchange, on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// The number of its account, which follows those of the steps.
    pub(crate) account: NonZero<u16>,
    pub(crate) sent_ns: u64,
    /// When the first byte of its reply came; 0 until then.
    pub(crate) first_byte_ns: u64,
}

impl Exchange {
    /// An exchange that is about to begin.
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

    /// Whether anything of it was answered.
    pub(crate) fn is_answered(&self) -> bool {
        self.attempt == Attempt::Answered
    }

    /// The instant of bytes that came for it: none is answered before it is sent.
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
