//! Letters from other threads to a reactor, which wakes for them.

use crate::gate::Job;
use crate::reply::Reply;
use crate::slab::Token;
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Mutex;

/// What other threads tell a reactor.
pub(crate) enum Letter {
    /// A connection that is yours now.
    Accepted { socket: OwnedFd, number: u64, tcp: bool },
    /// Executed elsewhere.
    Done { token: Token, reply: Reply },
    /// Its turn has come.
    Start(Job),
    /// Reset every connection.
    Reset,
}

/// A queue with a bell.
pub(crate) struct Mailbox {
    letters: Mutex<Vec<Letter>>,
    bell: OwnedFd,
}

impl Mailbox {
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self {
            letters: Mutex::default(),
            bell: eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?,
        })
    }

    pub(crate) fn post(&self, letter: Letter) {
        let first = {
            let mut letters = self.letters.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            letters.push(letter);
            letters.len() == 1
        };
        // Letters behind the first are found with it: the reader takes all at once, after the bell.
        if first {
            self.ring();
        }
    }

    /// Wakes the reactor without a letter.
    pub(crate) fn ring(&self) {
        // It can fail only when the counter is full, and then the bell is ringing already.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }

    /// Moves all letters into `into`, which must be empty.
    pub(crate) fn collect(&self, into: &mut Vec<Letter>) {
        let mut letters = self.letters.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        std::mem::swap(&mut *letters, into);
    }

    /// For edge-triggered waiting: every ring is a new edge, so the counter is never read.
    pub(crate) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}
