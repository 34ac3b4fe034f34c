//! Parser of replies in the text protocol, classic and meta, split at any byte.
//!
//! ```text
//!            VALUE, VA                   VALUE
//!   Line ───────────────► Data ──► DataEnd ──► Line
//!    ▲  │                             └─ VA ──► [reply ends]
//!    └──┘ STAT        any other line ends the reply
//! ```
//!
//! Lengths are counted, never allocated. The parser keeps bytes only of an unfinished line, of an error, and of values that a check
//! or a saved value needs.

use alloc::vec::Vec;
use core::str;

use super::content::{Content, Kind};
use crate::ErrorClass;
use crate::blame::PeerFault;

/// Max bytes of a line.
pub(super) const LINE_BYTES_MAX: usize = 8 * 1024;
/// Max length of a value: above what servers can be configured to store.
const LENGTH_MAX: u64 = 1 << 40;
pub(super) const NOT_MEMCACHED: &str = "the reply is not the text protocol of memcached";
pub(super) const LINE_END: &str = "a line of the reply does not end with CR LF";
pub(super) const LONG_LINE: &str = "a line of the reply is longer than 8 KiB";
pub(super) const LENGTH: &str = "a length in the reply is no number from 0 to 2^40";
pub(super) const DATA_END: &str = "a value in the reply does not end where its length says";
pub(super) const MIXED: &str = "a reply with values ends with something else than END";

/// First words of lines that end a reply, with its type.
const ENDS: &[(&str, Kind)] = &[
    ("END", Kind::Miss),
    ("STORED", Kind::Stored),
    ("NOT_STORED", Kind::NotStored),
    ("EXISTS", Kind::Exists),
    ("NOT_FOUND", Kind::NotFound),
    ("DELETED", Kind::Deleted),
    ("TOUCHED", Kind::Touched),
    ("OK", Kind::Ok),
    ("RESET", Kind::Ok),
    ("VERSION", Kind::Version),
    ("HD", Kind::Ok),
    ("EN", Kind::Miss),
    ("NS", Kind::NotStored),
    ("EX", Kind::Exists),
    ("NF", Kind::NotFound),
    ("MN", Kind::Ok),
    ("ME", Kind::Value),
    ("ERROR", Kind::Error),
    ("CLIENT_ERROR", Kind::Error),
    ("SERVER_ERROR", Kind::Error),
];

/// State of the parser.
#[derive(Debug, Default)]
pub(super) struct ReplyParser {
    /// Received bytes of an incomplete line.
    line: Vec<u8>,
    state: State,
    /// Number of values so far.
    values: u64,
    has_stats: bool,
    received_bytes: u64,
    has_ended: bool,
    content: Content,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Line,
    /// Value with `left` bytes to come. `is_last` is true if the reply ends with it.
    Data { left: u64, is_last: bool },
    /// Two bytes at the end of a value, after `arrived` of them.
    DataEnd { arrived: u8, is_last: bool },
}

impl ReplyParser {
    /// Processes bytes up to the end of one reply, and returns how many were used. `None` if the reply is incomplete; all bytes
    /// were used. Keeps values if `keeps`.
    #[inline]
    pub(super) fn take(&mut self, bytes: &[u8], keeps: bool) -> Result<Option<usize>, PeerFault> {
        if self.has_ended {
            self.reset();
        }
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            at += match self.state {
                State::Line => match memchr::memchr(b'\n', rest) {
                    None => {
                        self.keep_line(rest)?;
                        rest.len()
                    }
                    Some(end) => {
                        self.take_line(&rest[..=end], keeps)?;
                        end + 1
                    }
                },
                State::Data { left, is_last } => self.take_data(rest, left, is_last, keeps),
                State::DataEnd { arrived, is_last } => self.end_data(rest[0], arrived, is_last, keeps)?,
            };
            if self.has_ended {
                self.received_bytes += at as u64;
                return Ok(Some(at));
            }
        }
        self.received_bytes += bytes.len() as u64;
        Ok(None)
    }

    /// Resets the state for the next reply.
    #[inline]
    pub(super) fn reset(&mut self) {
        self.line.clear();
        self.state = State::Line;
        (self.values, self.has_stats, self.received_bytes) = (0, false, 0);
        self.has_ended = false;
        self.content.clear();
    }

    /// Whether no byte of the next reply has arrived.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.has_ended || self.received_bytes == 0
    }

    /// Bytes of the reply so far.
    pub(super) fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    /// Content of the reply. Call it after the end of the reply.
    pub(super) fn content(&self) -> &Content {
        &self.content
    }

    #[cold]
    fn keep_line(&mut self, bytes: &[u8]) -> Result<(), PeerFault> {
        if self.line.len() + bytes.len() > LINE_BYTES_MAX {
            return Err(fault(LONG_LINE));
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    /// Processes the end of a line.
    #[inline]
    fn take_line(&mut self, end: &[u8], keeps: bool) -> Result<(), PeerFault> {
        if self.line.is_empty() && end.len() <= LINE_BYTES_MAX {
            return self.read_line(end, keeps);
        }
        self.keep_line(end)?;
        let line = core::mem::take(&mut self.line);
        let read = self.read_line(&line, keeps);
        self.line = line;
        self.line.clear();
        read
    }

    fn read_line(&mut self, line: &[u8], keeps: bool) -> Result<(), PeerFault> {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let content = content.strip_suffix(b"\r").ok_or_else(|| match is_known(content) {
            true => fault(LINE_END),
            false => fault(NOT_MEMCACHED).with_first_bytes(line),
        })?;
        let mut words = content.split(|byte| *byte == b' ');
        let first = words.next().unwrap_or_default();
        match first {
            b"VALUE" => {
                let (length, unique) = (words.nth(2), words.next());
                self.begin_data(length, false)?;
                self.content.unique = unique.unwrap_or_default().into();
                Ok(())
            }
            b"VA" => {
                let length = words.next();
                let unique = words.find_map(|flag| flag.strip_prefix(b"c"));
                self.begin_data(length, true)?;
                self.content.unique = unique.unwrap_or_default().into();
                Ok(())
            }
            b"STAT" => {
                self.has_stats = true;
                Ok(())
            }
            _ => {
                self.end(first, content, keeps).ok_or_else(|| fault(NOT_MEMCACHED).with_first_bytes(line))?
            }
        }
    }

    /// Ends the reply with this line. `None` if no reply ends with this kind of line.
    fn end(&mut self, first: &[u8], content: &[u8], keeps: bool) -> Option<Result<(), PeerFault>> {
        let is_number = !first.is_empty() && first.iter().all(u8::is_ascii_digit) && first.len() <= 20;
        let kind = ENDS.iter().find(|(word, _)| word.as_bytes() == first).map(|(_, kind)| *kind);
        let kind = kind.or(is_number.then_some(Kind::Number))?;
        let has_parts = self.values > 0 || self.has_stats;
        if has_parts && first != b"END" && kind != Kind::Error {
            return Some(Err(fault(MIXED)));
        }
        self.content.kind = match kind {
            Kind::Miss if self.has_stats => Kind::Stats,
            Kind::Miss if self.values > 0 => Kind::Value,
            kind => kind,
        };
        match kind {
            Kind::Error => self.content.begin_error(content, class(content)),
            Kind::Number if keeps => {
                // `decr` may pad its number with spaces.
                self.content.keep(first);
                self.content.end_value();
            }
            Kind::Version if keeps => {
                self.content.keep(content.get(8..).unwrap_or_default());
                self.content.end_value();
            }
            _ => {}
        }
        self.has_ended = true;
        Some(Ok(()))
    }

    fn begin_data(&mut self, length: Option<&[u8]>, is_last: bool) -> Result<(), PeerFault> {
        let text = length.unwrap_or_default();
        let number = str::from_utf8(text).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let left = number.and_then(|text| text.parse().ok()).filter(|length| *length <= LENGTH_MAX);
        let left = left.ok_or_else(|| fault(LENGTH).with_first_bytes(text))?;
        self.values += 1;
        self.state = match left {
            0 => State::DataEnd { arrived: 0, is_last },
            left => State::Data { left, is_last },
        };
        Ok(())
    }

    fn take_data(&mut self, bytes: &[u8], left: u64, is_last: bool, keeps: bool) -> usize {
        let used = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        if keeps {
            self.content.keep(&bytes[..used]);
        }
        let left = left - used as u64;
        self.state =
            if left == 0 { State::DataEnd { arrived: 0, is_last } } else { State::Data { left, is_last } };
        used
    }

    fn end_data(&mut self, byte: u8, arrived: u8, is_last: bool, keeps: bool) -> Result<usize, PeerFault> {
        match (arrived, byte) {
            (0, b'\r') => self.state = State::DataEnd { arrived: 1, is_last },
            (1, b'\n') => {
                self.state = State::Line;
                if keeps {
                    self.content.end_value();
                }
                if is_last {
                    self.content.kind = Kind::Value;
                    self.has_ended = true;
                }
            }
            _ => return Err(fault(DATA_END)),
        }
        Ok(1)
    }
}

/// Whether a line starts like a known reply line.
fn is_known(line: &[u8]) -> bool {
    let first = line.split(|byte| *byte == b' ').next().unwrap_or_default();
    let starts = [&b"VALUE"[..], b"VA", b"STAT"];
    let is_number = !first.is_empty() && first.iter().all(u8::is_ascii_digit);
    starts.contains(&first) || is_number || ENDS.iter().any(|(word, _)| word.as_bytes() == first)
}

/// Beginnings of errors with their classes; the first that fits counts.
const BEGINNINGS: &[(&str, ErrorClass)] = &[
    ("ERROR Too many open connections", ErrorClass::TooManyConnections),
    ("CLIENT_ERROR unauthenticated", ErrorClass::MissingPrivilege),
    ("CLIENT_ERROR authentication failure", ErrorClass::MissingPrivilege),
    ("CLIENT_ERROR bad authentication token", ErrorClass::MissingPrivilege),
    ("CLIENT_ERROR cannot increment or decrement non-numeric value", ErrorClass::WrongType),
    ("SERVER_ERROR object too large for cache", ErrorClass::LimitReached),
    ("SERVER_ERROR out of memory", ErrorClass::OutOfResources),
    ("SERVER_ERROR Out of memory", ErrorClass::OutOfResources),
    ("ERROR", ErrorClass::BadStatement),
    ("CLIENT_ERROR", ErrorClass::BadStatement),
];

/// Class of an error reply.
fn class(error: &[u8]) -> ErrorClass {
    let found = BEGINNINGS.iter().find(|(beginning, _)| error.starts_with(beginning.as_bytes()));
    found.map_or(ErrorClass::CommandError, |(_, class)| *class)
}

#[cold]
fn fault(sentence: &'static str) -> PeerFault {
    PeerFault::new(ErrorClass::ProtocolError, 0, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_has_class_of_its_beginning() {
        for (error, expected) in [
            ("ERROR", ErrorClass::BadStatement),
            ("CLIENT_ERROR bad data chunk", ErrorClass::BadStatement),
            ("SERVER_ERROR out of memory storing object", ErrorClass::OutOfResources),
            ("SERVER_ERROR object too large for cache", ErrorClass::LimitReached),
            ("SERVER_ERROR something else", ErrorClass::CommandError),
        ] {
            assert_eq!(class(error.as_bytes()), expected, "{error}");
        }
    }
}
