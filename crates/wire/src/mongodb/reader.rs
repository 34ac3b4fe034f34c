//! Parser of replies: an OP_MSG message with one document, split at any byte.
//!
//! ```text
//!   Head ──► Length ──► Kind ──► Name ──► Fixed, Text, Binary, Words ──► [value ends] ──► Kind
//!              ▲                   └────► Length of a document within ──► Kind, or Skip
//!              └─ Kind 0 ends the innermost document; the outermost one ends the reply
//! ```
//!
//! Lengths are counted, never allocated. Documents of a batch are counted, and skipped unless a check or a saved value needs the
//! first of them.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::bson;
use super::reply::Reply;
use crate::ErrorClass;
use crate::blame::PeerFault;

/// Length of a message's header, its flags, and the kind of its first section.
const HEAD_BYTES: usize = 21;
/// Operation code of OP_MSG.
pub(super) const OP_MSG: u32 = 2013;
/// Max bytes of a message, as servers announce it.
pub(super) const MESSAGE_BYTES_MAX: u32 = 48_000_000;
/// Max nesting of documents and arrays, the limit of servers.
pub(super) const DEPTH_MAX: usize = 100;
/// Max bytes of a name, and of the path of names that leads to a value.
pub(super) const NAME_BYTES_MAX: usize = 1024;
/// Max bytes of a value that are kept.
pub(super) const KEPT_BYTES_MAX: usize = 64 * 1024;

pub(super) const NOT_MESSAGE: &str = "the reply is no OP_MSG message";
pub(super) const LENGTH: &str = "the length of the reply is not from 26 to 48000000 bytes";
pub(super) const OTHER_REPLY: &str = "the reply answers another request";
pub(super) const FLAGS: &str = "the reply has flags that were not asked for";
pub(super) const SECTION: &str = "the reply does not begin with a document";
pub(super) const DOCUMENT: &str = "a document in the reply is longer or shorter than its length says";
pub(super) const KIND: &str = "a value in the reply has an unknown type";
pub(super) const NAME: &str = "a name in the reply is longer than 1 KiB";
pub(super) const TEXT: &str = "a text in the reply does not end where its length says";
pub(super) const DEEP: &str = "the reply has more than 100 documents within each other";

/// Documents at the top of a reply that are read in any case.
const READ: [&[u8]; 3] = [b"cursor", b"writeErrors", b"writeConcernError"];

/// State of the parser.
#[derive(Debug, Default)]
pub(super) struct ReplyParser {
    state: State,
    /// Received bytes of an incomplete part, or of the value under way.
    part: Vec<u8>,
    /// Open documents, outermost first.
    open: Vec<Frame>,
    /// Names that lead to the value under way, separated by dots.
    path: Vec<u8>,
    /// Type of the value under way.
    kind: u8,
    received_bytes: u64,
    has_ended: bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// Header of the message.
    #[default]
    Head,
    /// Length of the outermost document.
    Root,
    /// Length of a document within another one.
    Length,
    /// Before the type of a value.
    Kind,
    /// Name of a value.
    Name,
    /// Value with this many bytes.
    Fixed(usize),
    /// Length of a text or of binary data.
    TextLength,
    /// Text or binary data, with `left` bytes to come.
    Text { left: u32 },
    /// After a text, before its zero byte.
    TextEnd,
    /// Texts that end with a zero byte, this many: those of a regular expression.
    Words(u8),
    /// Part that is not read, with `left` bytes to come.
    Skip { left: u32 },
}

/// An open document or array.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Number of bytes still to come, including its end.
    left: u32,
    /// Length of the path that leads to it.
    path_bytes: usize,
}

impl ReplyParser {
    /// Processes bytes up to the end of one message, and returns how many were used. `None` if it is incomplete; all bytes were used.
    /// `request` is the number of the request that the message must answer.
    pub(super) fn take(
        &mut self,
        bytes: &[u8],
        request: u32,
        wanted: &[Box<[u8]>],
        reply: &mut Reply,
    ) -> Result<Option<usize>, PeerFault> {
        if self.has_ended {
            self.reset();
        }
        let mut at = 0;
        while at < bytes.len() {
            at += self.step(&bytes[at..], request, wanted, reply)?;
            if self.has_ended {
                self.received_bytes += at as u64;
                return Ok(Some(at));
            }
        }
        self.received_bytes += bytes.len() as u64;
        Ok(None)
    }

    /// Resets the state for the next message.
    pub(super) fn reset(&mut self) {
        self.state = State::Head;
        self.part.clear();
        self.open.clear();
        self.path.clear();
        self.received_bytes = 0;
        self.has_ended = false;
    }

    /// Bytes of the message so far.
    pub(super) fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    /// Processes bytes in the current state, at least one. Returns the number of bytes used.
    fn step(
        &mut self,
        bytes: &[u8],
        request: u32,
        wanted: &[Box<[u8]>],
        reply: &mut Reply,
    ) -> Result<usize, PeerFault> {
        match self.state {
            State::Head => {
                let used = self.fill(bytes, HEAD_BYTES);
                self.head(request)?;
                Ok(used)
            }
            State::Root | State::Length => {
                let used = self.fill(bytes, 4);
                if let Some(length) = self.number() {
                    self.open_document(length, wanted, reply)?;
                }
                Ok(used)
            }
            State::Kind => {
                self.count(1)?;
                self.kind(bytes[0])?;
                Ok(1)
            }
            State::Name => self.name(bytes),
            State::Fixed(length) => {
                let used = self.fill(bytes, length);
                if self.part.len() == length {
                    self.end_value(wanted, reply);
                }
                Ok(used)
            }
            State::TextLength => {
                let used = self.fill(bytes, self.text_head_bytes());
                self.begin_text(wanted, reply)?;
                Ok(used)
            }
            State::Text { left } => Ok(self.text(bytes, left, wanted, reply)),
            State::TextEnd => self.end_text(bytes[0], wanted, reply),
            State::Words(left) => self.words(bytes, left, wanted, reply),
            State::Skip { left } => {
                let used = bytes.len().min(left as usize);
                self.state = State::Skip { left: left - used as u32 };
                if used == left as usize {
                    self.end_value(wanted, reply);
                }
                Ok(used)
            }
        }
    }

    /// Adds bytes to the part until it has `length`. Returns the number of bytes used.
    fn fill(&mut self, bytes: &[u8], length: usize) -> usize {
        let used = bytes.len().min(length - self.part.len());
        self.part.extend_from_slice(&bytes[..used]);
        used
    }

    /// Takes bytes off the innermost document.
    fn count(&mut self, used: usize) -> Result<(), PeerFault> {
        let Some(frame) = self.open.last_mut() else { return Ok(()) };
        frame.left = u32::try_from(used)
            .ok()
            .and_then(|used| frame.left.checked_sub(used))
            .ok_or_else(|| fault(DOCUMENT))?;
        Ok(())
    }

    /// Number in the first four bytes of the part. `None` if they have not arrived.
    fn number(&self) -> Option<u32> {
        self.part.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
    }

    /// Checks the bytes of the header that have arrived.
    fn head(&mut self, request: u32) -> Result<(), PeerFault> {
        let number = |at: usize| {
            let bytes = self.part.get(at..at + 4)?;
            Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        };
        // The operation code identifies a peer of another protocol, regardless of the length that its first bytes form.
        match number(12) {
            None => return Ok(()),
            Some(OP_MSG) => {}
            Some(_) => return Err(fault(NOT_MESSAGE).with_first_bytes(&self.part[..16])),
        }
        if number(0).is_none_or(|length| !(HEAD_BYTES as u32 + 5..=MESSAGE_BYTES_MAX).contains(&length)) {
            return Err(fault(LENGTH));
        }
        if number(8) != Some(request) {
            return Err(fault(OTHER_REPLY));
        }
        if number(16).is_some_and(|flags| flags != 0) {
            return Err(fault(FLAGS));
        }
        if let Some(section) = self.part.get(HEAD_BYTES - 1) {
            if *section != 0 {
                return Err(fault(SECTION));
            }
            let length = number(0).unwrap_or_default() - HEAD_BYTES as u32;
            self.part.clear();
            self.open.push(Frame { left: length, path_bytes: 0 });
            self.state = State::Root;
        }
        Ok(())
    }

    /// Opens a document of this length, or skips it.
    fn open_document(
        &mut self,
        length: u32,
        wanted: &[Box<[u8]>],
        reply: &mut Reply,
    ) -> Result<(), PeerFault> {
        self.part.clear();
        let around = self.open.last_mut().ok_or_else(|| fault(DOCUMENT))?;
        let is_root = matches!(self.state, State::Root);
        if length < 5 || length > around.left || (is_root && length != around.left) {
            return Err(fault(DOCUMENT));
        }
        self.state = State::Kind;
        if is_root {
            around.left -= 4;
            return Ok(());
        }
        around.left -= length;
        let left = length - 4;
        if self.kind == bson::SCOPED_CODE || !self.is_read(wanted, reply) {
            self.state = State::Skip { left };
        } else if self.open.len() == DEPTH_MAX {
            return Err(fault(DEEP));
        } else {
            self.open.push(Frame { left, path_bytes: self.path.len() });
        }
        Ok(())
    }

    /// Whether the document at the path is read. Counts it if it belongs to a batch.
    fn is_read(&self, wanted: &[Box<[u8]>], reply: &mut Reply) -> bool {
        if Reply::is_in_batch(&self.path) {
            reply.documents += 1;
            return !wanted.is_empty() && reply.documents == 1;
        }
        !wanted.is_empty() || self.open.len() > 1 || READ.contains(&self.path.as_slice())
    }

    /// Takes the type of a value, or the end of a document.
    fn kind(&mut self, kind: u8) -> Result<(), PeerFault> {
        let Some(frame) = self.open.last() else { return Err(fault(DOCUMENT)) };
        if kind == 0 {
            if frame.left != 0 {
                return Err(fault(DOCUMENT));
            }
            self.open.pop();
            self.has_ended = self.open.is_empty();
            self.leave_name();
            return Ok(());
        }
        let is_known =
            (bson::DOUBLE..=bson::DECIMAL).contains(&kind) || [bson::MIN_KEY, bson::MAX_KEY].contains(&kind);
        if !is_known {
            return Err(fault(KIND).with_first_bytes(&[kind]));
        }
        self.kind = kind;
        if !self.path.is_empty() {
            self.path.push(b'.');
        }
        self.state = State::Name;
        Ok(())
    }

    fn name(&mut self, bytes: &[u8]) -> Result<usize, PeerFault> {
        let end = memchr::memchr(0, bytes);
        let name = &bytes[..end.unwrap_or(bytes.len())];
        if self.path.len() + name.len() > NAME_BYTES_MAX {
            return Err(fault(NAME));
        }
        self.path.extend_from_slice(name);
        let used = name.len() + usize::from(end.is_some());
        self.count(used)?;
        if end.is_some() {
            self.part.clear();
            self.begin_value()?;
        }
        Ok(used)
    }

    /// Starts a value. Subtracts a known size from its document at once, so that a document that is too short is an error before the bytes
    /// arrive.
    fn begin_value(&mut self) -> Result<(), PeerFault> {
        let (bytes, state) = match self.kind {
            bson::DOUBLE | bson::DATE | bson::TIMESTAMP | bson::INT64 => (8, State::Fixed(8)),
            bson::INT32 => (4, State::Fixed(4)),
            bson::BOOLEAN => (1, State::Fixed(1)),
            bson::OBJECT_ID => (12, State::Fixed(12)),
            bson::DECIMAL => (16, State::Fixed(16)),
            bson::STRING | bson::BINARY | bson::CODE | bson::SYMBOL | bson::POINTER => {
                (self.text_head_bytes(), State::TextLength)
            }
            // The length of a document includes its own four bytes. Code with variables also starts with its total length.
            bson::DOCUMENT | bson::ARRAY | bson::SCOPED_CODE => (0, State::Length),
            bson::REGEX => (0, State::Words(2)),
            // Null, undefined, and the smallest and largest key have no bytes.
            _ => (0, State::Skip { left: 0 }),
        };
        self.state = state;
        self.count(bytes)
    }

    /// Bytes before a text or binary data: its length, and the subtype of binary data.
    fn text_head_bytes(&self) -> usize {
        if self.kind == bson::BINARY { 5 } else { 4 }
    }

    fn begin_text(&mut self, wanted: &[Box<[u8]>], reply: &mut Reply) -> Result<(), PeerFault> {
        let is_binary = self.kind == bson::BINARY;
        if self.part.len() < self.text_head_bytes() {
            return Ok(());
        }
        let length = self.number().unwrap_or_default();
        self.part.clear();
        if !is_binary && length == 0 {
            return Err(fault(TEXT));
        }
        self.count(usize::try_from(length).unwrap_or(usize::MAX))?;
        let left = if is_binary { length } else { length - 1 };
        match (left, is_binary) {
            (0, true) => self.end_value(wanted, reply),
            (0, false) => self.state = State::TextEnd,
            (left, _) => self.state = State::Text { left },
        }
        Ok(())
    }

    fn text(&mut self, bytes: &[u8], left: u32, wanted: &[Box<[u8]>], reply: &mut Reply) -> usize {
        let used = bytes.len().min(left as usize);
        let room = KEPT_BYTES_MAX + 1 - self.part.len();
        self.part.extend_from_slice(&bytes[..used.min(room)]);
        let left = left - used as u32;
        match (left, self.kind) {
            (0, bson::BINARY) => self.end_value(wanted, reply),
            (0, _) => self.state = State::TextEnd,
            _ => self.state = State::Text { left },
        }
        used
    }

    /// Takes the zero byte after a text.
    fn end_text(&mut self, byte: u8, wanted: &[Box<[u8]>], reply: &mut Reply) -> Result<usize, PeerFault> {
        if byte != 0 {
            return Err(fault(TEXT));
        }
        if self.kind == bson::POINTER {
            // The object id of a pointer follows its text.
            self.part.clear();
            self.count(12)?;
            self.state = State::Fixed(12);
        } else {
            self.end_value(wanted, reply);
        }
        Ok(1)
    }

    /// Consumes texts that end with a zero byte, `left` of them.
    fn words(
        &mut self,
        bytes: &[u8],
        left: u8,
        wanted: &[Box<[u8]>],
        reply: &mut Reply,
    ) -> Result<usize, PeerFault> {
        let end = memchr::memchr(0, bytes);
        let used = end.map_or(bytes.len(), |end| end + 1);
        self.count(used)?;
        match (end, left) {
            (None, _) => {}
            (Some(_), 1) => self.end_value(wanted, reply),
            (Some(_), left) => self.state = State::Words(left - 1),
        }
        Ok(used)
    }

    /// Ends a value: passes it on, and continues after it.
    fn end_value(&mut self, wanted: &[Box<[u8]>], reply: &mut Reply) {
        let is_value =
            !matches!(self.state, State::Skip { .. }) || [bson::NULL, bson::UNDEFINED].contains(&self.kind);
        if is_value {
            if Reply::is_in_batch(&self.path) {
                reply.documents += 1;
            }
            reply.note(&self.path, self.kind, &self.part, wanted);
        }
        self.part.clear();
        self.leave_name();
    }

    /// Removes the last name from the path.
    fn leave_name(&mut self) {
        self.path.truncate(self.open.last().map_or(0, |frame| frame.path_bytes));
        self.state = State::Kind;
    }
}

#[cold]
fn fault(sentence: &'static str) -> PeerFault {
    PeerFault::new(ErrorClass::ProtocolError, 0, sentence)
}
