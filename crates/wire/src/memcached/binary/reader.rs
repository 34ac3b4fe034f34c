//! Parser of responses of the binary protocol, split at any byte.
//!
//! ```text
//!            24 bytes           extras and key    value
//!   Header ───────────► Body ────────────────────────────► [response ends]
//! ```
//!
//! Lengths are counted, never allocated. The parser keeps bytes only of an incomplete header, of an error, and of a value that a check or
//! a saved value needs.

use alloc::format;

use super::super::content::{Content, Kind};
use super::request::{HEADER_BYTES, OPAQUE, OPERATIONS, Operation};
use crate::ErrorClass;
use crate::blame::PeerFault;

/// First byte of a response.
const RESPONSE: u8 = 0x81;

pub(super) const NOT_BINARY: &str = "the reply is not the binary protocol of memcached";
pub(super) const OTHER: &str = "the response is for a request that is not under way";
pub(super) const LENGTH: &str = "the body of a response is shorter than its extras and its key";
pub(super) const NUMBER: &str = "the number of a counter does not have 8 bytes";

const KEY_ABSENT: u16 = 0x01;
const KEY_EXISTS: u16 = 0x02;
const NOT_STORED: u16 = 0x05;

/// Status codes of errors, with their names and classes. Codes of Couchbase are included.
pub(super) const STATUSES: &[(u16, &str, ErrorClass)] = &[
    (0x03, "value too large", ErrorClass::LimitReached),
    (0x04, "invalid arguments", ErrorClass::BadStatement),
    (0x06, "the value is not a number", ErrorClass::WrongType),
    (0x07, "not my vbucket", ErrorClass::Moved),
    (0x08, "no bucket", ErrorClass::MissingObject),
    (0x09, "locked", ErrorClass::LockTimeout),
    (0x1f, "authentication stale", ErrorClass::MissingPrivilege),
    (0x20, "authentication error", ErrorClass::MissingPrivilege),
    (0x22, "out of range", ErrorClass::BadStatement),
    (0x24, "no access", ErrorClass::MissingPrivilege),
    (0x25, "not initialized", ErrorClass::NotReady),
    (0x81, "unknown command", ErrorClass::BadStatement),
    (0x82, "out of memory", ErrorClass::OutOfResources),
    (0x83, "not supported", ErrorClass::BadStatement),
    (0x85, "busy", ErrorClass::NotReady),
    (0x86, "temporary failure", ErrorClass::NotReady),
];

/// State of the parser.
#[derive(Debug)]
pub(in super::super) struct ReplyParser {
    /// Operation that awaits a response.
    operation: &'static Operation,
    header: [u8; HEADER_BYTES],
    /// Received bytes of the header.
    header_bytes: usize,
    /// Number of bytes of the extras and the key that are still to come.
    skipped: u32,
    /// Number of bytes of the value that are still to come.
    left: u32,
    /// Number of a counter so far.
    number: u64,
    received_bytes: u64,
    has_ended: bool,
    content: Content,
}

impl Default for ReplyParser {
    fn default() -> Self {
        Self {
            operation: &OPERATIONS[0],
            header: [0; HEADER_BYTES],
            header_bytes: 0,
            skipped: 0,
            left: 0,
            number: 0,
            received_bytes: 0,
            has_ended: false,
            content: Content::default(),
        }
    }
}

impl ReplyParser {
    /// Awaits the response of an operation.
    pub(in super::super) fn expect(&mut self, operation: &'static Operation) {
        self.operation = operation;
    }

    /// Processes bytes up to the end of one response, and returns how many were used. `None` if the response is incomplete; all bytes
    /// were used. Keeps the value if `keeps`.
    pub(in super::super) fn take(&mut self, bytes: &[u8], keeps: bool) -> Result<Option<usize>, PeerFault> {
        if self.has_ended {
            self.reset();
        }
        let mut at = 0;
        if self.header_bytes < HEADER_BYTES {
            if self.header_bytes == 0 && bytes.first().is_some_and(|first| *first != RESPONSE) {
                return Err(fault(NOT_BINARY).with_first_bytes(bytes));
            }
            at = (HEADER_BYTES - self.header_bytes).min(bytes.len());
            self.header[self.header_bytes..self.header_bytes + at].copy_from_slice(&bytes[..at]);
            self.header_bytes += at;
            if self.header_bytes == HEADER_BYTES {
                self.read_header(keeps)?;
            }
        }
        if self.header_bytes == HEADER_BYTES {
            at += self.skip(bytes.len() - at);
            at += self.take_value(&bytes[at..], keeps);
            self.has_ended = self.skipped == 0 && self.left == 0;
        }
        self.received_bytes += at as u64;
        if self.has_ended {
            self.end(keeps);
        }
        Ok(self.has_ended.then_some(at))
    }

    /// Resets the state for the next response.
    pub(in super::super) fn reset(&mut self) {
        (self.header_bytes, self.skipped, self.left) = (0, 0, 0);
        (self.number, self.received_bytes, self.has_ended) = (0, 0, false);
        self.content.clear();
    }

    /// Whether no byte of the next response has arrived.
    pub(in super::super) fn is_idle(&self) -> bool {
        self.has_ended || self.received_bytes == 0
    }

    /// Bytes of the response so far.
    pub(in super::super) fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    /// Content of the response. Call it after its end.
    pub(in super::super) fn content(&self) -> &Content {
        &self.content
    }

    fn read_header(&mut self, keeps: bool) -> Result<(), PeerFault> {
        let header = &self.header;
        let short = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        let body = u32::from_be_bytes([header[8], header[9], header[10], header[11]]);
        let (status, before) = (short(6), u32::from(short(2)) + u32::from(header[4]));
        if header[1] != self.operation.code || header[12..16] != OPAQUE {
            return Err(fault(OTHER).with_first_bytes(header));
        }
        self.left = body.checked_sub(before).ok_or_else(|| fault(LENGTH).with_first_bytes(header))?;
        self.skipped = before;
        self.content.kind = match status {
            0 => self.operation.success,
            KEY_ABSENT => self.operation.absent,
            KEY_EXISTS => Kind::Exists,
            NOT_STORED => Kind::NotStored,
            _ => Kind::Error,
        };
        if self.content.kind == Kind::Number && self.left != 8 {
            return Err(fault(NUMBER).with_first_bytes(&self.header));
        }
        if self.content.kind == Kind::Error {
            let known = STATUSES.iter().find(|(code, ..)| *code == status);
            let (name, class) =
                known.map_or(("unknown", ErrorClass::CommandError), |(_, name, class)| (*name, *class));
            let separator = if self.left > 0 { ": " } else { "" };
            self.content.begin_error(format!("status {status:#04x}, {name}{separator}").as_bytes(), class);
        } else if keeps && self.content.kind == Kind::Value {
            let [.., a, b, c, d, e, f, g, h] = self.header;
            let unique = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
            self.content.unique = itoa::Buffer::new().format(unique).as_bytes().into();
        }
        Ok(())
    }

    /// Skips extras and key, up to `bytes`. Returns how many were skipped.
    fn skip(&mut self, bytes: usize) -> usize {
        let skipped = (self.skipped as usize).min(bytes);
        self.skipped -= skipped as u32;
        skipped
    }

    fn take_value(&mut self, bytes: &[u8], keeps: bool) -> usize {
        let value = &bytes[..(self.left as usize).min(bytes.len())];
        self.left -= value.len() as u32;
        match self.content.kind {
            Kind::Error => self.content.extend_error(value),
            Kind::Number => {
                self.number = value.iter().fold(self.number, |sum, byte| sum << 8 | u64::from(*byte))
            }
            Kind::Value | Kind::Version if keeps => self.content.keep(value),
            _ => {}
        }
        value.len()
    }

    fn end(&mut self, keeps: bool) {
        match self.content.kind {
            Kind::Number if keeps => {
                self.content.keep(itoa::Buffer::new().format(self.number).as_bytes());
                self.content.end_value();
            }
            Kind::Value | Kind::Version if keeps => self.content.end_value(),
            _ => {}
        }
    }
}

#[cold]
fn fault(sentence: &'static str) -> PeerFault {
    PeerFault::new(ErrorClass::ProtocolError, 0, sentence)
}
