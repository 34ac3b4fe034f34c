//! Single requests to a server outside a load, over one connection that stays open.

use std::fmt;
use std::time::Duration;

use wire::Conversation;

use super::line::Line;
use super::probe::{ProbeError, converse};
use crate::job::Peer;

/// Client that sends one request at a time over one connection.
pub struct Interview<T> {
    line: Line,
    peer: Peer,
    conversation: T,
    timeout: Duration,
}

impl<T: fmt::Debug> fmt::Debug for Interview<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interview").field("conversation", &self.conversation).finish_non_exhaustive()
    }
}

/// Reason why a request was not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// The server rejected the request, with this reason.
    Rejected(String),
    /// The connection broke, or no reply arrived within the time-out.
    Broken(String),
}

impl<T: Conversation> Interview<T> {
    /// Connects, with TLS if it starts right after connecting, and logs in. The time-out applies to connecting, to the log-in, and
    /// to each reply.
    ///
    /// # Errors
    ///
    /// If there is no connection, or the server rejects the log-in.
    pub fn open(peer: Peer, mut conversation: T, timeout: Duration) -> Result<Self, ProbeError> {
        let line = Line::open_greeted(&peer, &mut conversation, timeout)?;
        Ok(Self { line, peer, conversation, timeout })
    }

    /// Sends the request of a step, and waits for its reply. The interview must not be continued after [`Unanswered::Broken`].
    ///
    /// # Errors
    ///
    /// If the server rejects the request, or does not answer.
    pub fn ask(&mut self, step: u16) -> Result<(), Unanswered> {
        let Self { line, peer, conversation, timeout } = self;
        let next = conversation.begin(step);
        let reply = converse(line, peer, conversation, next, *timeout);
        let reply = reply.map_err(|(class, reason)| Unanswered::Broken(format!("{reason} ({class})")))?;
        match reply.refusal {
            None => Ok(()),
            Some(refusal) => Err(Unanswered::Rejected(self.conversation.explain(refusal))),
        }
    }

    /// Returns the conversation of the client, with the values saved from replies.
    pub fn conversation(&mut self) -> &mut T {
        &mut self.conversation
    }
}
