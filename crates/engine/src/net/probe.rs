//! Connects once before the load, and sends nothing: a wrong address should cost a second, not a run.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::tls::Session;
use crate::job::{Endpoint, Peer};

/// What the probe found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probed {
    /// How long connecting took, TLS included.
    pub connect_ns: u64,
    /// The TLS version, cipher suite and key exchange, if TLS is spoken.
    pub tls: Option<String>,
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
        class: &'static str,
        /// Why not, and what to do.
        reason: String,
    },
}

/// Connects, shakes hands if TLS is asked for, and closes.
pub fn probe(peer: &Peer, timeout: Duration) -> Result<Probed, ProbeError> {
    let begun = Instant::now();
    let refused = |error: std::io::Error| ProbeError::Connect {
        endpoint: peer.endpoint(0).to_string(),
        reason: explain(&error, timeout),
    };
    let tls = match peer.endpoint(0) {
        Endpoint::Tcp(address) => {
            let stream = TcpStream::connect_timeout(address, timeout).map_err(refused)?;
            stream.set_read_timeout(Some(timeout)).map_err(refused)?;
            shake_hands(peer, stream, begun + timeout)?
        }
        Endpoint::Unix(path) => {
            // A blocking connect would wait for ever at a full backlog.
            let dialled = super::unix::dial(path).map_err(|errno| refused(errno.into()))?;
            let stream = UnixStream::from(dialled.socket.into_fd());
            stream.set_nonblocking(false).map_err(refused)?;
            stream.set_read_timeout(Some(timeout)).map_err(refused)?;
            shake_hands(peer, stream, begun + timeout)?
        }
    };
    Ok(Probed { connect_ns: begun.elapsed().as_nanos() as u64, tls })
}

fn shake_hands(
    peer: &Peer,
    mut stream: impl Read + Write,
    until: Instant,
) -> Result<Option<String>, ProbeError> {
    let Some(tls) = &peer.tls else { return Ok(None) };
    let refused = |class, reason| ProbeError::Tls { endpoint: peer.endpoint(0).to_string(), class, reason };
    let broken = |error: std::io::Error| refused("tls_error", format!("the handshake broke off: {error}"));
    let mut session = Session::new(tls).map_err(|fault| refused(fault.class, fault.sentence))?;
    let mut buffer = vec![0; 16 * 1024];
    while !session.is_established {
        stream.write_all(&std::mem::take(&mut session.outgoing)).map_err(broken)?;
        let count = stream.read(&mut buffer).map_err(broken)?;
        if count == 0 || Instant::now() > until {
            return Err(refused(
                "tls_error",
                "the peer closed in the middle of the handshake; does it speak TLS?".into(),
            ));
        }
        let received = session.receive(&mut buffer[..count], &mut Vec::new());
        received.map_err(|fault| refused(fault.class, advise(fault.class, fault.sentence)))?;
    }
    // The last flight, so that the peer does not log a broken handshake. Whether it arrives makes no difference here.
    let _ = stream.write_all(&session.outgoing);
    Ok(session.description())
}

fn explain(error: &std::io::Error, timeout: Duration) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::ConnectionRefused => "connection refused; is the server running, and on this port?".into(),
        ErrorKind::TimedOut | ErrorKind::WouldBlock => {
            format!("no answer within {timeout:?}; is the address right, or a firewall in the way?")
        }
        ErrorKind::ConnectionReset => {
            "the connection was reset as it was opened; does the server take connections from here?".into()
        }
        ErrorKind::NotFound => "there is no such socket; is the server running?".into(),
        ErrorKind::PermissionDenied => "permission denied; may this user open it?".into(),
        _ => error.to_string(),
    }
}

fn advise(class: &str, sentence: String) -> String {
    match class {
        "tls_protocol" => format!("{sentence}; does the port speak plain HTTP?"),
        "tls_unknown_issuer" | "tls_expired" | "tls_not_yet_valid" | "tls_wrong_host" | "tls_certificate" => {
            format!("{sentence}; name its authority with --cacert, or accept any certificate with --insecure")
        }
        _ => sentence,
    }
}
