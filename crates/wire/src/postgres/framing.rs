//! Framing: splits a stream of bytes into messages, and keeps only the needed part of each.

use alloc::vec::Vec;

use super::fault::Fault;
use super::rows::RowCheck;
use crate::blame::PeerFault;

/// Length of a message's tag and length field.
pub(super) const HEAD_BYTES: usize = 5;
/// Size of the length field, which the length includes.
const LENGTH_BYTES: i32 = 4;
/// Max capacity of the buffer between messages.
const PARTIAL_CAPACITY_MAX: usize = 64 * 1024;

/// A message from the server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message<'a> {
    pub(super) tag: u8,
    /// Length of the whole content.
    pub(super) length: usize,
    /// Needed part of the content.
    pub(super) content: &'a [u8],
    /// Remaining content.
    pub(super) skipped: Skipped<'a>,
}

/// Content of a message that is not needed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Skipped<'a> {
    Here(&'a [u8]),
    /// Content that is no longer in memory. `RowCheck` has checked its fields if the message is a row.
    Checked(RowCheck),
}

impl Skipped<'_> {
    /// Whether the fields of a row end exactly at its end, if everything after their count was skipped.
    #[inline]
    pub(super) fn is_valid_row(self, fields: u16) -> bool {
        match self {
            Self::Here(bytes) => {
                let mut row_check = RowCheck::begin(fields);
                row_check.advance(bytes);
                row_check.is_complete()
            }
            Self::Checked(row_check) => row_check.is_complete(),
        }
    }
}

/// Tag and length of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) tag: u8,
    /// Length of the content; negative if the server sent an invalid length.
    pub(super) length: i32,
}

impl Head {
    #[inline]
    fn read(bytes: &[u8; HEAD_BYTES]) -> Self {
        let [tag, length @ ..] = *bytes;
        Self { tag, length: i32::from_be_bytes(length).saturating_sub(LENGTH_BYTES) }
    }
}

/// Buffer for a message that did not arrive whole.
#[derive(Debug, Default)]
pub(super) struct Framing {
    partial: Vec<u8>,
    /// Whether the message in `partial` was returned, so that its bytes can be dropped.
    is_spent: bool,
    /// Number of unneeded bytes of a message that are still to arrive.
    skip_left: usize,
    /// Check of the unneeded bytes, if they belong to a row.
    row_check: RowCheck,
}

impl Framing {
    /// Returns the next message if all of it is in `bytes`, without consuming it. `needed` returns the number of bytes of a message's
    /// content to keep, up to its length.
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
        let needed_bytes = needed(head).map_err(|fault| fault.with_first_bytes(&bytes[..1]))?;
        let length = head.length as usize;
        if length > rest.len() {
            return Ok(None);
        }
        let (content, skipped) = rest[..length].split_at(needed_bytes);
        Ok(Some(Message { tag: head.tag, length, content, skipped: Skipped::Here(skipped) }))
    }

    /// Returns the next message if its end has arrived, and the number of bytes used. If it returns no message, and bytes are left, call it
    /// again.
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
            let needed_bytes = needed(head).map_err(|fault| fault.with_first_bytes(&self.partial[..1]))?;
            used += self.fill(HEAD_BYTES + needed_bytes, &bytes[used..]);
            if self.partial.len() < HEAD_BYTES + needed_bytes {
                return Ok((used, None));
            }
            self.skip_left = head.length as usize - needed_bytes;
            let fields =
                self.partial[HEAD_BYTES..].first_chunk().map_or(0, |count| u16::from_be_bytes(*count));
            self.row_check = RowCheck::begin(fields);
        }
        // A message is returned only when it has arrived completely, so that its result does not depend on how the bytes were split.
        let skipped = self.skip_left.min(bytes.len() - used);
        self.skip_left -= skipped;
        if self.partial.first() == Some(&b'D') {
            self.row_check.advance(&bytes[used..used + skipped]);
        }
        used += skipped;
        Ok((used, if self.skip_left == 0 { self.take_partial() } else { None }))
    }

    fn take_partial(&mut self) -> Option<Message<'_>> {
        self.is_spent = true;
        let (head, content) = self.partial.split_first_chunk()?;
        let Head { tag, length } = Head::read(head);
        Some(Message { tag, length: length as usize, content, skipped: Skipped::Checked(self.row_check) })
    }

    /// Whether a message is incomplete.
    #[inline]
    pub(super) fn is_within_message(&self) -> bool {
        self.skip_left > 0 || !(self.partial.is_empty() || self.is_spent)
    }

    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Fills `partial` up to a size. Returns the number of bytes taken.
    fn fill(&mut self, size: usize, bytes: &[u8]) -> usize {
        let here = size.saturating_sub(self.partial.len()).min(bytes.len());
        self.partial.extend_from_slice(&bytes[..here]);
        here
    }
}
