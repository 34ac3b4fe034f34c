//! One exchange at a time on a blocking connection: sends what a channel has to send, and reads up to the end of the exchange.

use std::io::{self, Read, Write};
use std::thread;
use std::time::Duration;

use record::ErrorClass;
use wire::{Channel, Closing, Event, Next, Redirect, Reply, Ticket};

use super::line::BlockingConnection;
use crate::job::Peer;

/// Ticket of the only exchange on a connection.
pub(super) const TICKET: Ticket = Ticket(0);

/// Error class and reason why an exchange failed.
pub(super) type Reason = (ErrorClass, String);

/// End of an exchange.
pub(super) enum End {
    Replied(Reply),
    Redirected(Redirect),
}

impl End {
    /// Returns the reply, or the reason of a redirection that is not followed.
    pub(super) fn reply(self) -> Result<Reply, Reason> {
        match self {
            Self::Replied(reply) => Ok(reply),
            Self::Redirected(redirect) => Err((redirect.fault.class, redirect.fault.message())),
        }
    }
}

/// Runs an exchange from `next` to its end. Opens the connection again if the channel asks for it. The time-out applies to each wait
/// for a reply.
pub(super) fn converse(
    line: &mut BlockingConnection,
    peer: &Peer,
    channel: &mut dyn Channel,
    mut next: Next,
    timeout: Duration,
) -> Result<End, Reason> {
    let mut bytes = Vec::new();
    loop {
        match next {
            Next::Send | Next::Await => {}
            Next::Reopen => {
                *line = BlockingConnection::open(peer, timeout)
                    .map_err(|error| (ErrorClass::ConnectRefused, error.to_string()))?;
                bytes.clear();
                next = channel.resume(TICKET);
                continue;
            }
            Next::Pause { ns } => {
                thread::sleep(Duration::from_nanos(ns).min(timeout));
                next = channel.resume(TICKET);
                continue;
            }
            Next::Done(reply) => return Ok(End::Replied(reply)),
            Next::Broken(words) => return Err((ErrorClass::ScriptStopped, words)),
        }
        next = match answer(line, channel, &mut bytes, timeout)? {
            Event::Replied { reply, .. } => return Ok(End::Replied(reply)),
            Event::Redirected { redirect, .. } => return Ok(End::Redirected(redirect)),
            Event::Failed { fault, .. } => return Err((fault.class, fault.message())),
            Event::PartReplied { next, .. } => next,
        };
    }
}

/// Sends what a channel has to send, and reads up to the next event. Bytes after it stay in `bytes`.
fn answer(
    line: &mut BlockingConnection,
    channel: &mut dyn Channel,
    bytes: &mut Vec<u8>,
    timeout: Duration,
) -> Result<Event, Reason> {
    let begun = line.age();
    let mut buffer = vec![0; 16 * 1024];
    loop {
        while !channel.outgoing().is_empty() {
            line.write_all(channel.outgoing()).map_err(|error| lost(&error, timeout))?;
            let count = channel.outgoing().len();
            channel.sent(count);
        }
        if !bytes.is_empty() {
            let outcome = channel.received(bytes).map_err(|fault| (fault.class, fault.message()))?;
            let used = outcome.as_ref().map_or(bytes.len(), |(used, _)| (*used).min(bytes.len()));
            bytes.drain(..used);
            if let Some((_, event)) = outcome {
                return Ok(event);
            }
        }
        if line.age().saturating_sub(begun) > timeout {
            return Err((ErrorClass::TimeoutBody, format!("no whole reply within {timeout:?}")));
        }
        match line.read(&mut buffer).map_err(|error| lost(&error, timeout))? {
            0 => {
                return match channel.peer_closed(TICKET) {
                    Closing::Replied(reply) => Ok(Event::Replied { ticket: TICKET, reply }),
                    Closing::Empty | Closing::Incomplete => Err((
                        ErrorClass::ClosedBeforeReply,
                        "the peer closed the connection without a reply".to_owned(),
                    )),
                };
            }
            count => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

/// Returns the reason why a connection broke before a reply was complete.
fn lost(error: &io::Error, timeout: Duration) -> Reason {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            (ErrorClass::TimeoutFirstByte, format!("no answer within {timeout:?}"))
        }
        io::ErrorKind::ConnectionReset => {
            (ErrorClass::ResetBeforeReply, "the peer reset the connection instead of answering".to_owned())
        }
        _ => (ErrorClass::ResetBeforeReply, error.to_string()),
    }
}
