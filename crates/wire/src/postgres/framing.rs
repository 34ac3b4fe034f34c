//! Cuts a stream of bytes into messages, of which it keeps no more than is needed.

use alloc::vec::Vec;

use super::fault::Fault;
use super::rows::FieldWalk;
use crate::blame::PeerFault;

/// A tag and a length.
pub(super) const HEAD_BYTES: usize = 5;
/// The length counts itself.
const LENGTH_BYTES: i32 = 4;
/// Memory for the beginnings of messages is given back above this size.
const PARTIAL_CAPACITY_MAX: usize = 64 * 1024;

/// A message of the server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message<'a> {
    pub(super) tag: u8,
    /// Bytes of its whole content.
    pub(super) length: usize,
    /// As much of its content as is needed.
    pub(super) content: &'a [u8],
    /// The rest of it.
    pub(super) skipped: Skipped<'a>,
}

/// The content of a message that is not needed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Skipped<'a> {
    Here(&'a [u8]),
    /// Gone already; if the message was a row, its fields were walked through.
    Walked(FieldWalk),
}

impl Skipped<'_> {
    /// Whether the fields of a row fill it, when all after their number was skipped.
    #[inline]
    pub(super) fn is_sound_row(self, fields: u16) -> bool {
        match self {
            Self::Here(bytes) => {
                let mut walk = FieldWalk::begin(fields);
                walk.pass(bytes);
                walk.is_over()
            }
            Self::Walked(walk) => walk.is_over(),
        }
    }
}

/// The head of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) tag: u8,
    /// Bytes of its content; negative if the server said so.
    pub(super) length: i32,
}

impl Head {
    #[inline]
    fn read(bytes: &[u8; HEAD_BYTES]) -> Self {
        let [tag, length @ ..] = *bytes;
        Self { tag, length: i32::from_be_bytes(length).saturating_sub(LENGTH_BYTES) }
    }
}

/// What is there of a message that did not come whole.
#[derive(Debug, Default)]
pub(super) struct Framing {
    partial: Vec<u8>,
    /// The message in `partial` was handed out.
    is_spent: bool,
    /// Bytes of a message that nobody needs and that are still to come.
    skip_left: usize,
    /// How far they have been looked at, if they are a row's.
    walk: FieldWalk,
}

impl Framing {
    /// The next message, if it lies here from its head to its end; none of it is taken yet. `needed` says how much of a
    /// message's content is needed, at most its length.
    #[inline(always)]
    pub(super) fn whole<'a>(
        &self,
        bytes: &'a [u8],
        needed: impl Fn(Head) -> Result<usize, Fault>,
    ) -> Result<Option<Message<'a>>, PeerFault> {
        if self.is_within_message() {
            return Ok(None);
        }
        let Some((head, rest)) = bytes.split_first_chunk() else { return Ok(None) };
        let head = Head::read(head);
        let needed_bytes = needed(head).map_err(|fault| fault.showing(&bytes[..1]))?;
        let length = head.length as usize;
        if length > rest.len() {
            return Ok(None);
        }
        let (content, skipped) = rest[..length].split_at(needed_bytes);
        Ok(Some(Message { tag: head.tag, length, content, skipped: Skipped::Here(skipped) }))
    }

    /// The next message, if its end is there, and how many bytes were taken. Without a message, and with bytes left, it is to
    /// be asked again.
    pub(super) fn next<'a>(
        &'a mut self,
        bytes: &'a [u8],
        needed: impl Fn(Head) -> Result<usize, Fault>,
    ) -> Result<(usize, Option<Message<'a>>), PeerFault> {
        if self.is_spent {
            self.partial.clear();
            self.partial.shrink_to(PARTIAL_CAPACITY_MAX);
            self.is_spent = false;
        }
        let mut used = 0;
        if self.skip_left == 0 {
            used = self.fill(HEAD_BYTES, bytes);
            let Some(head) = self.partial.first_chunk() else { return Ok((used, None)) };
            let head = Head::read(head);
            let needed_bytes = needed(head).map_err(|fault| fault.showing(&self.partial[..1]))?;
            used += self.fill(HEAD_BYTES + needed_bytes, &bytes[used..]);
            if self.partial.len() < HEAD_BYTES + needed_bytes {
                return Ok((used, None));
            }
            self.skip_left = head.length as usize - needed_bytes;
            let fields =
                self.partial[HEAD_BYTES..].first_chunk().map_or(0, |count| u16::from_be_bytes(*count));
            self.walk = FieldWalk::begin(fields);
        }
        // Nothing is handed out before all of it has come: what it amounts to must not hang on how it was cut.
        let skipped = self.skip_left.min(bytes.len() - used);
        self.skip_left -= skipped;
        if self.partial.first() == Some(&b'D') {
            self.walk.pass(&bytes[used..used + skipped]);
        }
        used += skipped;
        Ok((used, if self.skip_left == 0 { self.hand_out() } else { None }))
    }

    fn hand_out(&mut self) -> Option<Message<'_>> {
        self.is_spent = true;
        let (head, content) = self.partial.split_first_chunk()?;
        let Head { tag, length } = Head::read(head);
        Some(Message { tag, length: length as usize, content, skipped: Skipped::Walked(self.walk) })
    }

    /// Whether a message has come in part.
    #[inline]
    pub(super) fn is_within_message(&self) -> bool {
        self.skip_left > 0 || !(self.partial.is_empty() || self.is_spent)
    }

    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Fills `partial` up to a size; returns how many bytes that took.
    fn fill(&mut self, size: usize, bytes: &[u8]) -> usize {
        let here = size.saturating_sub(self.partial.len()).min(bytes.len());
        self.partial.extend_from_slice(&bytes[..here]);
        here
    }
}
