//! Connects once before the load, greets, and asks at most one question: a wrong address should cost a second, not a run.

use std::io::{self, Read, Write};
use std::thread;
use std::time::Duration;

use record::ErrorClass;
use wire::{Channel, Closing, Conversation, Next, Progress, Reply};

use super::line::Line;
use super::tls::TlsPeer;
use crate::job::Peer;

/// What the probe found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probed {
    /// How long connecting took, TLS and log-in included.
    pub connect_ns: u64,
    /// The TLS version, cipher suite and key exchange, if TLS is spoken.
    pub tls: Option<String>,
    /// The server asked for a client certificate, and there is none to present.
    pub is_certificate_missing: bool,
}

/// What came of a question.
#[derive(Debug)]
pub struct Asked<T> {
    /// The reply; of a refusal the conversation has the reason.
    pub reply: Reply,
    /// The conversation, which has heard the reply.
    pub conversation: T,
    /// What connecting showed.
    pub probed: Probed,
}

/// Why the peer cannot be spoken to.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// No connection.
    #[error("cannot connect to {endpoint}: {reason}")]
    Connect {
        /// Where.
        endpoint: String,
        /// Why not, and what to do.
        reason: String,
    },
    /// A connection, but no TLS.
    #[error("{endpoint} does not pass as a TLS server ({class}): {reason}")]
    Tls {
        /// Where.
        endpoint: String,
        /// The error class.
        class: ErrorClass,
        /// Why not, and what to do.
        reason: String,
    },
    /// A connection, but no log-in.
    #[error("{endpoint} does not let us in ({class}): {reason}")]
    Greeting {
        /// Where.
        endpoint: String,
        /// The error class.
        class: ErrorClass,
        /// Why not, in the peer's words where it has some.
        reason: String,
    },
    /// A question without an answer.
    #[error("{endpoint} does not answer ({class}): {reason}")]
    Question {
        /// Where.
        endpoint: String,
        /// The error class.
        class: ErrorClass,
        /// Why not.
        reason: String,
    },
}

impl ProbeError {
    pub(super) fn connect(endpoint: String, error: &io::Error, timeout: Duration) -> Self {
        Self::Connect { endpoint, reason: explain(error, timeout) }
    }
}

/// Connects, shakes hands if TLS begins at once, goes through the greeting of a channel, and closes. Fails, too, if the server
/// rejects the client for its certificate or its log-in.
pub fn probe(peer: &Peer, channel: &mut dyn Channel, timeout: Duration) -> Result<Probed, ProbeError> {
    let mut line = Line::open(peer, timeout)?;
    let probed = probed(&line);
    line.await_verdict()?;
    line.greet_channel(channel)?;
    Ok(probed)
}

/// Connects, goes through the greeting of a conversation, says goodbye and closes.
pub fn greet(
    peer: &Peer,
    conversation: &mut dyn Conversation,
    timeout: Duration,
) -> Result<Probed, ProbeError> {
    let mut line = Line::open(peer, timeout)?;
    line.greet(conversation)?;
    let probed = probed(&line);
    send_farewell(&mut line, conversation);
    Ok(probed)
}

/// Connects, greets, sends the request of step 0, waits for its reply, says goodbye and closes. The time-out counts for the
/// connection, for the greeting, and for each wait for the reply.
pub fn ask<T: Conversation>(
    peer: &Peer,
    mut conversation: T,
    timeout: Duration,
) -> Result<Asked<T>, ProbeError> {
    let (reply, probed) = put(peer, &mut conversation, timeout)?;
    Ok(Asked { reply, conversation, probed })
}

/// As [`ask`], for any conversation.
pub(super) fn put(
    peer: &Peer,
    conversation: &mut dyn Conversation,
    timeout: Duration,
) -> Result<(Reply, Probed), ProbeError> {
    let mut line = Line::open(peer, timeout)?;
    line.greet(conversation)?;
    let probed = probed(&line);
    let next = conversation.begin(0);
    let reply = converse(&mut line, peer, conversation, next, timeout);
    let reply = reply.map_err(|(class, reason)| ProbeError::Question {
        endpoint: line.endpoint().to_owned(),
        class,
        reason,
    })?;
    send_farewell(&mut line, conversation);
    Ok((reply, probed))
}

/// An error class, and the reason in words.
type Reason = (ErrorClass, String);

/// Goes on with a request to the end of its last reply, over another connection if the reply asks for that.
pub(super) fn converse(
    line: &mut Line,
    peer: &Peer,
    conversation: &mut dyn Conversation,
    mut next: Next,
    timeout: Duration,
) -> Result<Reply, Reason> {
    let begun = line.age();
    let lost = |error: io::Error| match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            (ErrorClass::TimeoutFirstByte, format!("no answer within {timeout:?}"))
        }
        io::ErrorKind::ConnectionReset => {
            (ErrorClass::ResetBeforeReply, "the peer reset the connection instead of answering".to_owned())
        }
        _ => (ErrorClass::ResetBeforeReply, error.to_string()),
    };
    let (mut buffer, mut bytes) = (vec![0; 16 * 1024], Vec::new());
    loop {
        match next {
            Next::Send => line.write_all(conversation.outgoing()).map_err(lost)?,
            Next::Await => {}
            Next::Reopen => {
                *line = Line::open(peer, timeout)
                    .map_err(|error| (ErrorClass::ConnectRefused, error.to_string()))?;
                bytes.clear();
                next = conversation.go_on();
                continue;
            }
            Next::Pause { ns } => {
                thread::sleep(Duration::from_nanos(ns).min(timeout));
                next = conversation.go_on();
                continue;
            }
            Next::Done(reply) => return Ok(reply),
            Next::Broken(words) => return Err((ErrorClass::ScriptStopped, words)),
        }
        next = loop {
            let progress =
                if bytes.is_empty() { Progress::NeedMore } else { hear(conversation, &mut bytes)? };
            match progress {
                Progress::NeedMore => {}
                Progress::Replied { reply, .. } => return Ok(reply),
                Progress::Answered { next, .. } => break next,
            }
            if line.age().saturating_sub(begun) > timeout {
                return Err((ErrorClass::TimeoutBody, format!("no whole reply within {timeout:?}")));
            }
            match line.read(&mut buffer).map_err(lost)? {
                0 => match conversation.peer_closed() {
                    Closing::Replied(reply) => return Ok(reply),
                    _ => {
                        return Err((
                            ErrorClass::ClosedBeforeReply,
                            "the peer closed the connection without a reply".to_owned(),
                        ));
                    }
                },
                count => bytes.extend_from_slice(&buffer[..count]),
            }
        };
    }
}

/// Hands the conversation what came, and keeps what it has no use for yet.
fn hear(conversation: &mut dyn Conversation, bytes: &mut Vec<u8>) -> Result<Progress, Reason> {
    let progress = conversation.received(bytes).map_err(|fault| (fault.class, fault.message()))?;
    match &progress {
        Progress::NeedMore => bytes.clear(),
        Progress::Replied { used, .. } | Progress::Answered { used, .. } => {
            bytes.drain(..(*used).min(bytes.len()));
        }
    }
    Ok(progress)
}

fn probed(line: &Line) -> Probed {
    Probed {
        connect_ns: line.age().as_nanos() as u64,
        tls: line.tls(),
        is_certificate_missing: line.is_certificate_missing(),
    }
}

/// Whether it arrives makes no difference here.
fn send_farewell(line: &mut Line, conversation: &mut dyn Conversation) {
    let _ = line.write_all(conversation.farewell());
}

fn explain(error: &io::Error, timeout: Duration) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::ConnectionRefused => "connection refused\n  help: start the server, or correct the port".into(),
        ErrorKind::TimedOut | ErrorKind::WouldBlock => {
            format!("no answer within {timeout:?}\n  help: correct the address, or check firewalls on the way")
        }
        ErrorKind::ConnectionReset => {
            "the connection was reset as it was opened\n  help: check that the server accepts connections from this host".into()
        }
        ErrorKind::NotFound => "there is no such socket\n  help: start the server, or correct the path".into(),
        ErrorKind::PermissionDenied => "permission denied\n  help: allow this user to open it".into(),
        _ => error.to_string(),
    }
}

/// What to do about a handshake that failed. Where TLS begins on request, it is the URL that says how strict to be.
pub(super) fn advise(class: ErrorClass, sentence: String, tls: &TlsPeer, is_on_request: bool) -> String {
    let (authority, lenient) = match is_on_request {
        false => ("name its authority with --cacert", "accept any certificate with --insecure"),
        true => (
            "name its authority in the URL (sslrootcert=FILE; ssl-ca=FILE for MySQL)",
            "ask for less there (sslmode=require; ssl-mode=REQUIRED)",
        ),
    };
    let cert = if is_on_request { "sslcert=FILE&sslkey=FILE in the URL" } else { "--cert FILE --key FILE" };
    match class {
        ErrorClass::TlsAlert if tls.identity.is_demanded() => match tls.identity.is_there() {
            true => format!("{sentence}\n  help: present a client certificate that the server accepts"),
            false => format!("{sentence}\n  help: present the certificate that the server asks for: {cert}"),
        },
        ErrorClass::TlsProtocol => {
            format!("{sentence}\n  help: check that the port expects TLS; for plain HTTP, write http://")
        }
        ErrorClass::TlsWrongHost => {
            format!("{sentence}\n  help: use a name that its certificate holds, or {lenient}")
        }
        ErrorClass::TlsUnknownIssuer
        | ErrorClass::TlsExpired
        | ErrorClass::TlsNotYetValid
        | ErrorClass::TlsCertificate => format!("{sentence}\n  help: {authority}, or {lenient}"),
        _ => sentence,
    }
}
