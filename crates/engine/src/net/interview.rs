//! Single requests to a server outside a load, over one connection that stays open.

use std::fmt;
use std::time::Duration;

use wire::{Channel, Conversation, Serial, Values};

use super::exchange::{End, TICKET, converse};
use super::line::BlockingConnection;
use super::probe::ProbeError;
use crate::job::Peer;

/// Client that sends one request at a time over one connection.
pub struct RequestClient<T> {
    line: BlockingConnection,
    peer: Peer,
    channel: Serial<T>,
    timeout: Duration,
}

impl<T> fmt::Debug for RequestClient<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestClient").field("peer", &self.peer).finish_non_exhaustive()
    }
}

/// Reason why a request was not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskError {
    /// The server rejected the request, with this reason.
    Rejected(String),
    /// The connection broke, or no reply arrived within the time-out.
    Broken(String),
}

impl<T: Conversation> RequestClient<T> {
    /// Connects, with TLS if it starts right after connecting, and logs in. The time-out applies to connecting, to the log-in, and
    /// to each reply.
    ///
    /// # Errors
    ///
    /// If there is no connection, or the server rejects the log-in.
    pub fn open(peer: Peer, conversation: T, timeout: Duration) -> Result<Self, ProbeError> {
        let mut channel = Serial::new(conversation);
        let line = BlockingConnection::open_greeted(&peer, &mut channel, timeout)?;
        Ok(Self { line, peer, channel, timeout })
    }

    /// Sends the request of a step, and waits for its reply. The client must not be used after [`AskError::Broken`].
    ///
    /// # Errors
    ///
    /// If the server rejects the request, or does not answer.
    pub fn ask(&mut self, step: u16) -> Result<(), AskError> {
        let Self { line, peer, channel, timeout } = self;
        let next = channel.begin(TICKET, step, &Values::default());
        let reply = converse(line, peer, channel, next, *timeout).and_then(End::reply);
        let reply = reply.map_err(|(class, reason)| AskError::Broken(format!("{reason} ({class})")))?;
        match reply.rejection {
            None => Ok(()),
            Some(rejection) => Err(AskError::Rejected(self.channel.explain(rejection))),
        }
    }

    /// Returns the conversation of the client, with the values saved from replies.
    pub fn conversation(&mut self) -> &mut T {
        self.channel.conversation()
    }
}
