//! Sequence of requests by one client, outside of a load.

use std::fmt;
use std::time::Duration;

use record::ErrorClass;
use wire::{Conversation, Reply};

use super::line::Line;
use super::probe::converse;
use crate::job::Peer;

/// Client that makes requests one after the other, over one connection as long as its peer keeps it open.
pub struct Errand {
    peer: Peer,
    conversation: Box<dyn Conversation>,
    timeout: Duration,
}

/// Failed request of an errand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrandFault {
    /// Step of the request.
    pub step: u16,
    /// Error that was answered, or reason why there is no answer.
    pub reason: String,
}

impl fmt::Debug for Errand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Errand").field("peer", &self.peer).finish_non_exhaustive()
    }
}

impl Errand {
    /// Creates a client without a connection. The time-out applies to connecting, and to each reply.
    pub fn new(peer: Peer, conversation: Box<dyn Conversation>, timeout: Duration) -> Self {
        Self { peer, conversation, timeout }
    }

    /// Conversation of the client, with the values saved from replies.
    pub fn conversation(&mut self) -> &mut dyn Conversation {
        &mut *self.conversation
    }

    /// Makes the requests of `steps` in order, until one fails.
    ///
    /// # Errors
    ///
    /// Returns the first step that was rejected or not answered.
    pub fn run(&mut self, steps: impl IntoIterator<Item = u16>) -> Result<(), ErrandFault> {
        let mut line = None;
        for step in steps {
            let reply = self.make(step, &mut line).map_err(|reason| ErrandFault { step, reason })?;
            if let Some(refusal) = reply.refusal {
                return Err(ErrandFault { step, reason: self.conversation.explain(refusal) });
            }
            if !reply.reusable {
                line = None;
            }
        }
        Ok(())
    }

    fn make(&mut self, step: u16, line: &mut Option<Line>) -> Result<Reply, String> {
        let Self { peer, conversation, timeout } = self;
        let line = match line {
            Some(line) => line,
            None => line.insert(Line::open(peer, *timeout).map_err(|error| error.to_string())?),
        };
        let next = conversation.begin(step);
        let reply = converse(line, peer, &mut **conversation, next, *timeout);
        reply.map_err(|(class, reason)| {
            conversation.forget();
            words(class, &reason)
        })
    }
}

fn words(class: ErrorClass, reason: &str) -> String {
    format!("{reason} ({class})")
}
