//! Messages from other threads to a reactor, which wakes up for them.

use crate::gate::Job;
use crate::reply::Reply;
use crate::slab::Token;
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Mutex;

/// Message to a reactor.
pub(crate) enum ReactorMessage {
    /// A connection was accepted for this reactor.
    Accepted { socket: OwnedFd, number: u64, tcp: bool },
    /// A request was executed on another thread.
    Done { token: Token, reply: Reply },
    /// A queued request may start.
    Start(Job),
    /// Reset all connections.
    Reset,
}

/// Message queue with an event descriptor.
pub(crate) struct Mailbox {
    messages: Mutex<Vec<ReactorMessage>>,
    waker: OwnedFd,
}

impl Mailbox {
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self {
            messages: Mutex::default(),
            waker: eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?,
        })
    }

    pub(crate) fn post(&self, message: ReactorMessage) {
        let first = {
            let mut messages = self.messages.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            messages.push(message);
            messages.len() == 1
        };
        // Only the first message rings: the reader takes all messages at once after the event.
        if first {
            self.ring();
        }
    }

    /// Wakes the reactor without a message.
    pub(crate) fn ring(&self) {
        // A write fails only if the counter is full, and then the event is already pending.
        let _ = rustix::io::write(&self.waker, &1u64.to_ne_bytes());
    }

    /// Moves all messages into `into`, which must be empty.
    pub(crate) fn collect(&self, into: &mut Vec<ReactorMessage>) {
        let mut messages = self.messages.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        std::mem::swap(&mut *messages, into);
    }

    /// Returns the event descriptor for edge-triggered waiting. Every write is a new edge, so the counter is never read.
    pub(crate) fn waker(&self) -> BorrowedFd<'_> {
        self.waker.as_fd()
    }
}
