//! Checks of a peer before the load: connect, log in, and send at most one request, so that a wrong address fails within a second, not
//! after a run.

use std::io::{self, Write};
use std::time::Duration;

use record::ErrorClass;
use wire::{Channel, Conversation, Reply, Serial, Values};

use super::exchange::{End, TICKET, converse};
use super::line::BlockingConnection;
use super::tls::TlsPeer;
use crate::job::Peer;

/// Result of a connection check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeResult {
    /// Time to connect, TLS included. Includes the log-in for [`ask`], but not for [`probe`].
    pub connect_ns: u64,
    /// TLS version, cipher suite, and key exchange. `None` without TLS.
    pub tls: Option<String>,
    /// Whether the server asked for a client certificate and none is configured.
    pub is_certificate_missing: bool,
}

/// Reply to a request, with the state of the conversation.
#[derive(Debug)]
pub struct ProbeReply<T> {
    /// Reply. If it is a rejection, the conversation has the reason.
    pub reply: Reply,
    /// Conversation after the reply.
    pub conversation: T,
    /// Result of the connection check.
    pub probed: ProbeResult,
}

/// Reason why a check of a peer failed.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// Connecting failed.
    #[error("cannot connect to {endpoint}: {reason}")]
    Connect {
        /// Address of the peer.
        endpoint: String,
        /// Reason, with help.
        reason: String,
    },
    /// TLS handshake failed.
    #[error("{endpoint} does not pass as a TLS server ({class}): {reason}")]
    Tls {
        /// Address of the peer.
        endpoint: String,
        /// Error class.
        class: ErrorClass,
        /// Reason, with help.
        reason: String,
    },
    /// Log-in failed.
    #[error("{endpoint} does not let us in ({class}): {reason}")]
    Greeting {
        /// Address of the peer.
        endpoint: String,
        /// Error class.
        class: ErrorClass,
        /// Reason, quoted from the peer if it gave one.
        reason: String,
    },
    /// The request was not answered.
    #[error("{endpoint} does not answer ({class}): {reason}")]
    Question {
        /// Address of the peer.
        endpoint: String,
        /// Error class.
        class: ErrorClass,
        /// Reason.
        reason: String,
    },
}

impl ProbeError {
    /// Returns whether every other address would give the same error.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Self::Greeting { class: ErrorClass::LoginRefused, .. })
    }

    pub(super) fn connect(endpoint: String, error: &io::Error, timeout: Duration) -> Self {
        Self::Connect { endpoint, reason: explain(error, timeout) }
    }
}

/// Connects, with TLS if it starts right after connecting, runs the greeting of a channel, and closes. Also fails if the server
/// rejects the client's certificate or log-in. A peer that fails over is asked at each address, until one completes the greeting or
/// rejects the log-in for good: other members of a replica set than its primary do neither.
pub fn probe(peer: &Peer, channel: &mut dyn Channel, timeout: Duration) -> Result<ProbeResult, ProbeError> {
    if !peer.selection.fails_over() {
        return probe_once(peer, channel, timeout);
    }
    let mut first_error = None;
    for address in 0..peer.endpoints.len() {
        channel.set_address(address as u16);
        match probe_once(&peer.at(address), channel, timeout) {
            Ok(probed) => return Ok(probed),
            Err(error) if error.is_final() => return Err(error),
            Err(error) => first_error = first_error.or(Some(error)),
        }
        channel.forget();
    }
    first_error.map_or_else(|| probe_once(peer, channel, timeout), Err)
}

fn probe_once(peer: &Peer, channel: &mut dyn Channel, timeout: Duration) -> Result<ProbeResult, ProbeError> {
    let mut line = BlockingConnection::open(peer, timeout)?;
    let probed = probed(&line);
    line.await_verdict()?;
    line.greet(channel)?;
    Ok(probed)
}

/// Connects, runs the greeting, sends the request of step 0, waits for its reply, sends the farewell, and closes. The time-out
/// applies to connecting, to the greeting, and to each wait for the reply.
pub fn ask<T: Conversation>(
    peer: &Peer,
    conversation: T,
    timeout: Duration,
) -> Result<ProbeReply<T>, ProbeError> {
    let mut channel = Serial::new(conversation);
    let (reply, probed) = ask_channel(peer, &mut channel, timeout)?;
    Ok(ProbeReply { reply, conversation: channel.into_conversation(), probed })
}

/// Like [`ask`], for a channel.
pub(super) fn ask_channel(
    peer: &Peer,
    channel: &mut dyn Channel,
    timeout: Duration,
) -> Result<(Reply, ProbeResult), ProbeError> {
    let mut line = BlockingConnection::open_greeted(peer, channel, timeout)?;
    let probed = probed(&line);
    let next = channel.begin(TICKET, 0, &Values::default());
    let reply = converse(&mut line, peer, channel, next, timeout).and_then(End::reply);
    let reply = reply.map_err(|(class, reason)| ProbeError::Question {
        endpoint: line.endpoint().to_owned(),
        class,
        reason,
    })?;
    // The connection closes in any case.
    let _ = line.write_all(channel.farewell());
    Ok((reply, probed))
}

fn probed(line: &BlockingConnection) -> ProbeResult {
    ProbeResult {
        connect_ns: line.age().as_nanos() as u64,
        tls: line.tls(),
        is_certificate_missing: line.is_certificate_missing(),
    }
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

/// Adds help to the reason of a failed handshake. If TLS starts on request, the options are parameters of the URL.
pub(super) fn with_tls_help(
    class: ErrorClass,
    sentence: String,
    tls: &TlsPeer,
    is_on_request: bool,
) -> String {
    let (authority, lenient) = match is_on_request {
        false => ("name its authority with --cacert", "accept any certificate with --insecure"),
        true => (
            "name its authority in the URL (sslrootcert=FILE; ssl-ca=FILE for MySQL)",
            "ask for less there (sslmode=require; ssl-mode=REQUIRED)",
        ),
    };
    let cert = if is_on_request { "sslcert=FILE&sslkey=FILE in the URL" } else { "--cert FILE --key FILE" };
    match class {
        ErrorClass::TlsAlert if tls.identity.is_requested() => match tls.identity.is_present() {
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
