//! Formats of the protocol, and the parser of replies in either.

use super::command::{Command, Encoding};
use super::content::Content;
use super::{binary, reader};
use crate::blame::PeerFault;

/// Format of requests and replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Format {
    #[default]
    Text,
    /// Binary format. Keys are distributed over `vbuckets`, at least 1.
    Binary { vbuckets: u32 },
}

/// Parser of replies in the format of a load.
#[derive(Debug)]
pub(super) enum Parser {
    Text(reader::ReplyParser),
    Binary(binary::ReplyParser),
}

impl Parser {
    pub(super) fn new(format: Format) -> Self {
        match format {
            Format::Text => Self::Text(reader::ReplyParser::default()),
            Format::Binary { .. } => Self::Binary(binary::ReplyParser::default()),
        }
    }

    /// Awaits the reply to a command.
    #[inline]
    pub(super) fn expect(&mut self, command: &Command) {
        if let (Self::Binary(reader), Encoding::Binary(request)) = (self, &command.encoding) {
            reader.expect(request.operation);
        }
    }

    /// Awaits the reply to a message of the log-in.
    pub(super) fn expect_greeting(&mut self, operation: Option<&'static binary::Operation>) {
        if let (Self::Binary(reader), Some(operation)) = (self, operation) {
            reader.expect(operation);
        }
    }

    /// Processes bytes up to the end of one reply, and returns how many were used. `None` if the reply is incomplete; all bytes
    /// were used. Keeps values if `keeps`.
    #[inline]
    pub(super) fn take(&mut self, bytes: &[u8], keeps: bool) -> Result<Option<usize>, PeerFault> {
        match self {
            Self::Text(reader) => reader.take(bytes, keeps),
            Self::Binary(reader) => reader.take(bytes, keeps),
        }
    }

    /// Resets the state for the next reply.
    pub(super) fn reset(&mut self) {
        match self {
            Self::Text(reader) => reader.reset(),
            Self::Binary(reader) => reader.reset(),
        }
    }

    /// Whether no byte of the next reply has arrived.
    pub(super) fn is_idle(&self) -> bool {
        match self {
            Self::Text(reader) => reader.is_idle(),
            Self::Binary(reader) => reader.is_idle(),
        }
    }

    /// Bytes of the reply so far.
    pub(super) fn received_bytes(&self) -> u64 {
        match self {
            Self::Text(reader) => reader.received_bytes(),
            Self::Binary(reader) => reader.received_bytes(),
        }
    }

    /// Content of the reply. Call it after the end of the reply.
    #[inline]
    pub(super) fn content(&self) -> &Content {
        match self {
            Self::Text(reader) => reader.content(),
            Self::Binary(reader) => reader.content(),
        }
    }
}
