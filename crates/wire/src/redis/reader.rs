//! Parser of replies in RESP2 and RESP3, split at any byte.
//!
//! ```text
//!              line ends                    a length
//!   Line ─────────────────► [value ends]    ────────► Bulk ──► BulkEnd ──► [value ends]
//!    ▲                                                                         │
//!    └──── items of an open array, map, set, push, or attribute are left ◄────┘
//! ```
//!
//! Lengths are counted, never allocated. The parser keeps bytes only of an unfinished line, of an error, and of content that a
//! check or a saved value needs.

use alloc::vec::Vec;
use core::str;

use super::kept::ScalarItems;
use crate::ErrorClass;
use crate::blame::PeerFault;

/// Max bytes of a line: a simple string, an error, or a number.
pub(super) const LINE_BYTES_MAX: usize = 16 * 1024;
/// Max bytes of the line of a reply that is read without the general parser.
const COMMON_LINE_BYTES_MAX: usize = 32;
/// Max nesting of aggregates.
pub(super) const DEPTH_MAX: usize = 128;
/// Max length of a bulk string, and max items of an aggregate: above what servers can be configured to send.
const LENGTH_MAX: u64 = 1 << 40;
/// Max bytes of an error that are kept for messages.
pub(super) const ERROR_BYTES_MAX: usize = 512;

pub(super) const NOT_RESP: &str = "the reply is not RESP";
pub(super) const LINE_END: &str = "a line of the reply does not end with CR LF";
pub(super) const LONG_LINE: &str = "a line of the reply is longer than 16 KiB";
pub(super) const LENGTH: &str = "a length in the reply is no number from 0 to 2^40";
pub(super) const TOO_DEEP: &str = "the reply has more than 128 aggregates within each other";
pub(super) const STREAMED: &str = "the reply has a streamed type, which no released server sends";
pub(super) const NUMBER: &str = "a number in the reply is none";
pub(super) const BOOLEAN: &str = "a boolean in the reply is neither t nor f";
pub(super) const NULL: &str = "a null in the reply has content";
pub(super) const MISPLACED_PUSH: &str = "a push or an attribute stands within another value";

/// The type of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Nil,
    String,
    Integer,
    Double,
    Boolean,
    BigNumber,
    Error,
    Array,
    Map,
    Set,
    /// Push, which is not a reply: the server may send it at any time.
    Push,
}

impl Kind {
    /// Types that a check can name, with their names in plans.
    pub(super) const NAMED: [(&'static str, Self); 10] = [
        ("string", Self::String),
        ("integer", Self::Integer),
        ("nil", Self::Nil),
        ("array", Self::Array),
        ("map", Self::Map),
        ("set", Self::Set),
        ("double", Self::Double),
        ("boolean", Self::Boolean),
        ("big-number", Self::BigNumber),
        ("error", Self::Error),
    ];

    pub(super) fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, kind)| *kind == self).map_or("push", |(name, _)| name)
    }
}

/// State of the parser.
#[derive(Debug, Default)]
pub(super) struct ReplyParser {
    /// Received bytes of an incomplete line.
    line: Vec<u8>,
    state: State,
    /// Open aggregates, outermost first.
    open: Vec<Frame>,
    /// Type of the whole reply. `None` before its first line.
    root: Option<Kind>,
    received_bytes: u64,
    /// Whether the reply has ended. Its state is reset when the next reply starts.
    has_ended: bool,
    has_error: bool,
    /// Beginning of the first error in the reply; valid if `has_error`.
    error: Vec<u8>,
    kept: ScalarItems,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// Start of a line, or inside of it.
    #[default]
    Line,
    /// Bulk string with `left` bytes to come.
    Bulk { left: u64, is_error: bool },
    /// Two bytes at the end of a bulk string, after `arrived` of them.
    BulkEnd { arrived: u8 },
}

/// Open aggregate with `left` items to come.
#[derive(Clone, Copy, Debug)]
struct Frame {
    left: u64,
    /// Whether the value is an attribute, which precedes the value that it describes.
    is_attribute: bool,
}

/// Meaning of a line.
enum Line {
    /// A complete value.
    Value,
    /// A bulk string of this length follows.
    Bulk { left: u64, is_error: bool },
    /// An aggregate with `left` items follows.
    Aggregate { left: u64, is_attribute: bool },
}

impl ReplyParser {
    /// Processes bytes up to the end of one reply, and returns how many were used. `None` if the reply is incomplete; all bytes
    /// were used. Keeps the content if `keeps`.
    #[inline]
    pub(super) fn take(&mut self, bytes: &[u8], keeps: bool) -> Result<Option<usize>, PeerFault> {
        if self.has_ended {
            self.reset();
        }
        if self.received_bytes == 0
            && let Some((kind, content, end)) = common_reply(bytes)
        {
            self.root = Some(kind);
            if keeps {
                self.kept.add(content);
                self.kept.end_item(kind == Kind::Nil);
            }
            self.received_bytes = end as u64;
            self.has_ended = true;
            return Ok(Some(end));
        }
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let (used, is_value) = match self.state {
                State::Line => match memchr::memchr(b'\n', rest) {
                    None => {
                        self.keep_line(rest)?;
                        break;
                    }
                    Some(end) => (end + 1, self.take_line(&rest[..=end], keeps)?),
                },
                State::Bulk { left, is_error } => (self.take_bulk(rest, left, is_error, keeps), false),
                State::BulkEnd { arrived } => (1, self.end_bulk(rest[0], arrived, keeps)?),
            };
            at += used;
            if is_value && self.end_value() {
                self.received_bytes += at as u64;
                self.has_ended = true;
                return Ok(Some(at));
            }
        }
        self.received_bytes += bytes.len() as u64;
        Ok(None)
    }

    /// Resets the state for the next reply.
    #[inline]
    pub(super) fn reset(&mut self) {
        self.state = State::Line;
        self.has_ended = false;
        self.line.clear();
        self.open.clear();
        self.root = None;
        self.received_bytes = 0;
        self.has_error = false;
        self.kept.clear();
    }

    /// Whether no byte of the next reply has arrived.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.has_ended || self.received_bytes == 0
    }

    /// Type of the whole reply. Call it after the end of the reply.
    pub(super) fn kind(&self) -> Kind {
        self.root.unwrap_or(Kind::Nil)
    }

    /// Bytes of the reply so far.
    pub(super) fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    /// Beginning of the first error anywhere in the reply. `None` if there is none.
    #[inline]
    pub(super) fn error(&self) -> Option<&[u8]> {
        self.has_error.then_some(&self.error)
    }

    /// Kept content of the reply.
    pub(super) fn kept(&self) -> &ScalarItems {
        &self.kept
    }

    #[cold]
    fn keep_line(&mut self, bytes: &[u8]) -> Result<(), PeerFault> {
        if self.line.is_empty() {
            check_type(bytes[0]).map_err(|fault| fault.with_first_bytes(bytes))?;
        }
        if self.line.len() + bytes.len() > LINE_BYTES_MAX {
            return Err(fault(LONG_LINE));
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    /// Processes the end of a line. Returns whether a value ended with it.
    #[inline]
    fn take_line(&mut self, end: &[u8], keeps: bool) -> Result<bool, PeerFault> {
        if self.line.is_empty() {
            return self.read_line(end, keeps);
        }
        self.keep_line(end)?;
        let line = core::mem::take(&mut self.line);
        let is_value = self.read_line(&line, keeps);
        self.line = line;
        self.line.clear();
        is_value
    }

    #[inline]
    fn read_line(&mut self, line: &[u8], keeps: bool) -> Result<bool, PeerFault> {
        // Reports the error that would occur if the bytes had arrived one by one.
        if line.len() > LINE_BYTES_MAX {
            check_type(line[0]).map_err(|fault| fault.with_first_bytes(line))?;
            return Err(fault(LONG_LINE));
        }
        let [first, content @ .., b'\r', b'\n'] = line else { return Err(malformed_line(line)) };
        let (kind, meaning) = meaning(*first, content)
            .map_err(|fault| if fault.sentence == NOT_RESP { fault.with_first_bytes(line) } else { fault })?;
        if matches!(kind, Some(Kind::Push)) || matches!(meaning, Line::Aggregate { is_attribute: true, .. }) {
            // An attribute may precede any value, but a push is valid only between replies.
            let is_within = kind == Some(Kind::Push) && !self.open.is_empty();
            if is_within {
                return Err(fault(MISPLACED_PUSH));
            }
        }
        if self.open.is_empty() && kind.is_some() {
            self.root = kind;
        }
        match meaning {
            Line::Value => {
                self.note_value(kind, content, keeps);
                Ok(true)
            }
            Line::Bulk { left, is_error } => {
                self.begin_bulk(left, is_error);
                Ok(false)
            }
            Line::Aggregate { left: 0, is_attribute } => Ok(!is_attribute),
            Line::Aggregate { left, is_attribute } => {
                if self.open.len() == DEPTH_MAX {
                    return Err(fault(TOO_DEEP));
                }
                self.open.push(Frame { left, is_attribute });
                Ok(false)
            }
        }
    }

    #[inline]
    fn note_value(&mut self, kind: Option<Kind>, content: &[u8], keeps: bool) {
        if kind == Some(Kind::Error) && !self.is_in_attribute() && !self.has_error {
            self.has_error = true;
            self.error.clear();
            self.error.extend_from_slice(&content[..content.len().min(ERROR_BYTES_MAX)]);
        }
        if keeps && !self.is_in_attribute() {
            self.kept.add(content);
            self.kept.end_item(kind == Some(Kind::Nil));
        }
    }

    /// Whether the parser is inside an attribute, which describes a value and is not part of the reply.
    fn is_in_attribute(&self) -> bool {
        self.open.iter().any(|frame| frame.is_attribute)
    }

    fn begin_bulk(&mut self, left: u64, is_error: bool) {
        let is_first = is_error && !self.has_error && !self.is_in_attribute();
        if is_first {
            self.has_error = true;
            self.error.clear();
        }
        self.state = match left {
            0 => State::BulkEnd { arrived: 0 },
            left => State::Bulk { left, is_error: is_first },
        };
    }

    #[inline]
    fn take_bulk(&mut self, bytes: &[u8], left: u64, is_error: bool, keeps: bool) -> usize {
        let used = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        if is_error {
            let room = ERROR_BYTES_MAX.saturating_sub(self.error.len());
            self.error.extend_from_slice(&bytes[..used.min(room)]);
        }
        if keeps && !self.is_in_attribute() {
            self.kept.add(&bytes[..used]);
        }
        let left = left - used as u64;
        self.state = if left == 0 { State::BulkEnd { arrived: 0 } } else { State::Bulk { left, is_error } };
        used
    }

    /// Processes a byte after a bulk string. Returns whether a value ended with it.
    #[inline]
    fn end_bulk(&mut self, byte: u8, arrived: u8, keeps: bool) -> Result<bool, PeerFault> {
        match (arrived, byte) {
            (0, b'\r') => {
                self.state = State::BulkEnd { arrived: 1 };
                Ok(false)
            }
            (1, b'\n') => {
                self.state = State::Line;
                if keeps && !self.is_in_attribute() {
                    self.kept.end_item(false);
                }
                Ok(true)
            }
            _ => Err(fault(LINE_END)),
        }
    }

    /// Ends a value, and the aggregates that end with it. Returns whether the reply is complete.
    #[inline]
    fn end_value(&mut self) -> bool {
        while let Some(frame) = self.open.last_mut() {
            frame.left -= 1;
            if frame.left > 0 {
                return false;
            }
            let is_attribute = frame.is_attribute;
            self.open.pop();
            if is_attribute {
                // The value of the attribute follows.
                return false;
            }
        }
        true
    }
}

/// Reads a reply of a common type that lies whole in `bytes`: type, content, and length. `None`: the general parser decides, also about
/// what is wrong.
#[inline]
fn common_reply(bytes: &[u8]) -> Option<(Kind, &[u8], usize)> {
    let (first, rest) = bytes.split_first()?;
    let line = &rest[..rest.len().min(COMMON_LINE_BYTES_MAX)];
    let end = line.iter().position(|byte| matches!(byte, b'\r' | b'\n'))?;
    let (content, after) = (&rest[..end], rest[end..].strip_prefix(b"\r\n")?);
    let line_bytes = 1 + end + 2;
    match first {
        b'+' => Some((Kind::String, content, line_bytes)),
        b':' if is_integer(content) => Some((Kind::Integer, content, line_bytes)),
        b'$' if content == b"-1" => Some((Kind::Nil, content, line_bytes)),
        b'$' => {
            let length = length(content).ok()?.and_then(|length| usize::try_from(length).ok())?;
            let (value, end) = after.split_at_checked(length)?;
            end.starts_with(b"\r\n").then_some((Kind::String, value, line_bytes + length + 2))
        }
        _ => None,
    }
}

/// Parses the type byte and the content of a line. The type is `None` for an attribute.
#[inline]
fn meaning(first: u8, content: &[u8]) -> Result<(Option<Kind>, Line), PeerFault> {
    let bulk = |kind, is_error| {
        let length = length(content)?;
        Ok(length.map_or((Some(Kind::Nil), Line::Value), |left| (Some(kind), Line::Bulk { left, is_error })))
    };
    let aggregate = |kind, width: u64| {
        let items = length(content)?;
        let of = |items: u64| (Some(kind), Line::Aggregate { left: items * width, is_attribute: false });
        Ok(items.map_or((Some(Kind::Nil), Line::Value), of))
    };
    let value = |kind, is_sound, sentence| match is_sound {
        true => Ok((Some(kind), Line::Value)),
        false => Err(fault(sentence).with_first_bytes(content)),
    };
    match first {
        b'+' => Ok((Some(Kind::String), Line::Value)),
        b'$' | b'=' => bulk(Kind::String, false),
        b':' => value(Kind::Integer, is_integer(content), NUMBER),
        b'-' => Ok((Some(Kind::Error), Line::Value)),
        b'!' => bulk(Kind::Error, true),
        b'*' => aggregate(Kind::Array, 1),
        b'~' => aggregate(Kind::Set, 1),
        b'>' => aggregate(Kind::Push, 1),
        b'%' => aggregate(Kind::Map, 2),
        b'|' => {
            let items = length(content)?.ok_or_else(|| fault(LENGTH).with_first_bytes(content))?;
            Ok((None, Line::Aggregate { left: items * 2, is_attribute: true }))
        }
        b'_' => value(Kind::Nil, content.is_empty(), NULL),
        b'#' => value(Kind::Boolean, matches!(content, b"t" | b"f"), BOOLEAN),
        b',' => value(Kind::Double, is_double(content), NUMBER),
        b'(' => value(Kind::BigNumber, is_integer(content), NUMBER),
        other => check_type(other).map(|()| (None, Line::Value)),
    }
}

/// Checks that a line may begin with this byte.
#[cold]
fn check_type(first: u8) -> Result<(), PeerFault> {
    match first {
        b'+' | b'$' | b'=' | b':' | b'-' | b'!' | b'*' | b'~' | b'>' | b'%' | b'|' | b'_' | b'#' | b','
        | b'(' => Ok(()),
        b';' | b'.' => Err(fault(STREAMED)),
        _ => Err(fault(NOT_RESP)),
    }
}

/// Parses a length. `None` for −1, the null of RESP2.
#[inline]
fn length(content: &[u8]) -> Result<Option<u64>, PeerFault> {
    if content == b"-1" {
        return Ok(None);
    }
    if content == b"?" {
        return Err(fault(STREAMED));
    }
    // A number of 13 digits cannot overflow.
    let is_number = (1..=13).contains(&content.len()) && content.iter().all(u8::is_ascii_digit);
    let number = content.iter().take(13).fold(0, |sum, digit| sum * 10 + u64::from(digit & 0xf));
    match is_number && number <= LENGTH_MAX {
        true => Ok(Some(number)),
        false => Err(fault(LENGTH).with_first_bytes(content)),
    }
}

fn is_integer(content: &[u8]) -> bool {
    let digits = content.strip_prefix(b"-").or_else(|| content.strip_prefix(b"+")).unwrap_or(content);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

fn is_double(content: &[u8]) -> bool {
    let text = str::from_utf8(content).unwrap_or_default();
    matches!(text, "inf" | "-inf" | "nan" | "-nan") || text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Error for a line that does not end with CR LF, or has no valid type.
#[cold]
fn malformed_line(line: &[u8]) -> PeerFault {
    match line.first().map_or(Ok(()), |first| check_type(*first)) {
        Err(fault) => fault.with_first_bytes(line),
        Ok(()) => fault(LINE_END),
    }
}

#[cold]
fn fault(sentence: &'static str) -> PeerFault {
    PeerFault::new(ErrorClass::ProtocolError, 0, sentence)
}
