//! Recognition of servers of other protocols by the first bytes of their answers.

use alloc::string::String;

use super::fault::Fault;
use crate::ErrorClass;
use crate::blame::PeerFault;

/// Wildcard in the beginning of an answer.
const ANY: u8 = 0xff;
/// Code of the first row of [`FOREIGN`], above the codes of [`Fault`].
const FIRST_CODE: u32 = 1_000;

/// Beginnings of answers of other protocols, and the messages about them.
const FOREIGN: &[(&[u8], &str)] = &[
    (b"\x15\x03", "the server expects TLS: write https://"),
    (b"\x00\xff\xff\x04\xff\x00\x00\x00\x00", HTTP2),
    (b"\x00\xff\xff\x07\xff\x00\x00\x00\x00", HTTP2),
    (b"SSH-", "an SSH server answered: correct the port"),
    (b"-ERR", REDIS),
    (b"-NOAUTH", REDIS),
    (b"-DENIED", REDIS),
    (b"220 ", SMTP),
    (b"220-", SMTP),
    (b"+OK", "a POP3 server answered: correct the port"),
    (b"* OK", "an IMAP server answered: correct the port"),
    (
        b"ERROR\r\n",
        "a memcached server answered: correct the port, or write memcached:// for a load of commands",
    ),
    (b"E\x00\x00\x00\xffSFATAL", "a PostgreSQL server answered: write postgres://"),
    (b"\xff\x00\x00\x00\x0a", "a MySQL server answered: write mysql://"),
];

const HTTP2: &str =
    "an HTTP/2 server answered: requests are HTTP/1.1, which the server must accept on this port";
const REDIS: &str = "a Redis server answered: correct the port, or write redis:// for a load of commands";
const SMTP: &str = "an SMTP or FTP server answered: correct the port";

/// Returns the error for an answer that is not HTTP/1.1. `Ok` if more bytes are needed to decide.
#[cold]
pub(super) fn reject_foreign(bytes: &[u8]) -> Result<(), PeerFault> {
    if let Some(fault) = foreign_server_error(bytes) {
        return Err(fault);
    }
    // Only rows with a definite first byte wait for more bytes; a wildcard would delay the error of every answer.
    let may_be = |(beginning, _): &&(&[u8], &str)| beginning[0] != ANY && matches_prefix(bytes, beginning);
    if FOREIGN.iter().any(|row| may_be(&row)) { Ok(()) } else { Err(Fault::NotHttp.with_first_bytes(bytes)) }
}

/// Error that names the server of an answer. `None` if its first bytes are unknown.
pub(super) fn foreign_server_error(bytes: &[u8]) -> Option<PeerFault> {
    let is_it =
        |(beginning, _): &(&[u8], &str)| bytes.len() >= beginning.len() && matches_prefix(bytes, beginning);
    let number = FOREIGN.iter().position(is_it)?;
    let code = FIRST_CODE + number as u32;
    Some(PeerFault::new(ErrorClass::ProtocolError, code, FOREIGN[number].1).with_first_bytes(bytes))
}

/// Returns the class and the message of the error if a server answered without TLS where TLS was expected. `None` if the answer is unknown,
/// or a TLS alert.
///
/// Plain HTTP is a TLS error, because the scheme of the URL is wrong. Another protocol is a protocol error, because no HTTP scheme is
/// right. Its message states the correction, and quotes the start of the answer.
pub(super) fn plaintext_server_error(bytes: &[u8]) -> Option<(ErrorClass, String)> {
    if bytes.starts_with(b"HTTP/") {
        return Some((ErrorClass::TlsProtocol, "the server speaks plain HTTP".into()));
    }
    let fault = foreign_server_error(bytes).filter(|_| !bytes.starts_with(b"\x15"))?;
    Some((ErrorClass::ProtocolError, fault.message()))
}

/// Whether all available bytes match the start of a known answer.
fn matches_prefix(bytes: &[u8], beginning: &[u8]) -> bool {
    bytes.iter().zip(beginning).all(|(byte, expected)| byte == expected || *expected == ANY)
}
