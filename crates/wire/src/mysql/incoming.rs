//! Packets as they come in: read where they lie if they are whole, gathered if not, and dropped if nobody reads them.

use alloc::vec::Vec;

use super::fault::Fault;
use super::outgoing::{HEADER_BYTES, PAYLOAD_BYTES_MAX};
use crate::blame::PeerFault;

/// Memory of gathered packets is given back above this size: one long row must not stay with every connection.
const GATHERED_CAPACITY_MAX: usize = 64 * 1024;
/// The first byte of a packet that reports an error.
pub(super) const ERROR: u8 = 0xff;

/// The packets of one connection, as far as they have come.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    /// The number that the next packet must have.
    sequence: u8,
    /// The beginning of a packet that has not come whole.
    gathered: Vec<u8>,
    /// What was gathered has been handed out.
    is_spent: bool,
    /// Bytes of a packet that are still to be let go by.
    skipped_left: usize,
    /// The next packet carries on the one that was let go by.
    is_carried_on: bool,
}

/// The beginning of a packet: enough to say whether anybody reads it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) payload_bytes: usize,
    sequence: u8,
    /// The first byte of its content, if it has any.
    pub(super) first: Option<u8>,
}

/// Whether anybody reads the content of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// Yes, all of it at once.
    Whole,
    /// No.
    Nothing,
}

/// What the bytes so far amount to.
#[derive(Debug)]
pub(super) enum Packet<'a> {
    /// No packet yet; all bytes were taken.
    NeedMore,
    /// A piece of a packet was let go by, and more must be asked for.
    GoOn,
    /// A packet was let go by.
    Skipped,
    /// The content of a packet.
    Whole(&'a [u8]),
}

impl Head {
    /// From the first bytes of a packet, if there are enough of them.
    #[inline]
    fn of(bytes: &[u8]) -> Option<Self> {
        let [a, b, c, sequence, rest @ ..] = bytes else { return None };
        let payload_bytes = u32::from_le_bytes([*a, *b, *c, 0]) as usize;
        let first = if payload_bytes > 0 { Some(*rest.first()?) } else { None };
        Some(Self { payload_bytes, sequence: *sequence, first })
    }

    fn packet_bytes(&self) -> usize {
        HEADER_BYTES + self.payload_bytes
    }
}

impl Incoming {
    /// The next packet has this number.
    pub(super) fn expect(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// The number that the next packet must have.
    pub(super) fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Whether a packet has begun and not ended.
    pub(super) fn is_within_packet(&self) -> bool {
        self.skipped_left > 0 || self.is_carried_on || !(self.gathered.is_empty() || self.is_spent)
    }

    /// Takes bytes as far as the end of one packet; says how many. `judge` says from the head of a packet whether it is wanted.
    #[inline]
    pub(super) fn take<'a>(
        &'a mut self,
        bytes: &'a [u8],
        judge: impl FnOnce(Head) -> Result<Wish, Fault>,
    ) -> Result<(usize, Packet<'a>), PeerFault> {
        if self.is_spent {
            self.drop_spent();
        }
        if self.skipped_left > 0 {
            return Ok(self.skip(bytes));
        }
        if !self.gathered.is_empty() {
            return self.take_rest(bytes, judge);
        }
        let Some(head) = Head::of(bytes) else { return Ok(self.gather(bytes)) };
        match self.admit(head, judge).map_err(|fault| fault.showing(bytes))? {
            Wish::Nothing => {
                self.begin_to_skip(head, 0);
                Ok(self.skip(bytes))
            }
            Wish::Whole => match bytes.get(HEADER_BYTES..head.packet_bytes()) {
                Some(payload) => {
                    self.sequence = self.sequence.wrapping_add(1);
                    Ok((head.packet_bytes(), Packet::Whole(payload)))
                }
                None => Ok(self.gather(bytes)),
            },
        }
    }

    fn drop_spent(&mut self) {
        self.gathered.clear();
        self.gathered.shrink_to(GATHERED_CAPACITY_MAX);
        self.is_spent = false;
    }

    #[inline]
    fn admit(&self, head: Head, judge: impl FnOnce(Head) -> Result<Wish, Fault>) -> Result<Wish, Fault> {
        // A server that gives up says so without having read a statement, and numbers from the start.
        let is_last_word = head.sequence == 0 && head.first == Some(ERROR);
        if head.sequence != self.sequence && !is_last_word {
            return Err(Fault::Sequence);
        }
        if self.is_carried_on { Ok(Wish::Nothing) } else { judge(head) }
    }

    fn gather<'a>(&mut self, bytes: &[u8]) -> (usize, Packet<'a>) {
        self.gathered.extend_from_slice(bytes);
        (bytes.len(), Packet::NeedMore)
    }

    /// Goes on with a packet whose beginning was gathered.
    #[cold]
    fn take_rest<'a>(
        &'a mut self,
        bytes: &[u8],
        judge: impl FnOnce(Head) -> Result<Wish, Fault>,
    ) -> Result<(usize, Packet<'a>), PeerFault> {
        let mut used = self.gather_up_to(HEADER_BYTES, bytes);
        if Head::of(&self.gathered).is_none() {
            used += self.gather_up_to(HEADER_BYTES + 1, &bytes[used..]);
        }
        let Some(head) = Head::of(&self.gathered) else { return Ok((used, Packet::NeedMore)) };
        match self.admit(head, judge).map_err(|fault| fault.showing(&self.gathered))? {
            Wish::Nothing => {
                self.begin_to_skip(head, self.gathered.len());
                self.gathered.clear();
                let (more, packet) = self.skip(&bytes[used..]);
                Ok((used + more, packet))
            }
            Wish::Whole => {
                used += self.gather_up_to(head.packet_bytes(), &bytes[used..]);
                if self.gathered.len() < head.packet_bytes() {
                    return Ok((used, Packet::NeedMore));
                }
                self.sequence = self.sequence.wrapping_add(1);
                self.is_spent = true;
                Ok((used, Packet::Whole(&self.gathered[HEADER_BYTES..])))
            }
        }
    }

    /// Gathers until there are so many bytes; says how many were taken.
    fn gather_up_to(&mut self, count: usize, bytes: &[u8]) -> usize {
        let taken = count.saturating_sub(self.gathered.len()).min(bytes.len());
        self.gathered.extend_from_slice(&bytes[..taken]);
        taken
    }

    #[inline]
    fn begin_to_skip(&mut self, head: Head, come: usize) {
        self.sequence = self.sequence.wrapping_add(1);
        self.skipped_left = head.packet_bytes() - come;
        self.is_carried_on = head.payload_bytes == PAYLOAD_BYTES_MAX;
    }

    #[inline]
    fn skip<'a>(&mut self, bytes: &[u8]) -> (usize, Packet<'a>) {
        let here = self.skipped_left.min(bytes.len());
        self.skipped_left -= here;
        let packet = match (self.skipped_left, self.is_carried_on) {
            (0, false) => Packet::Skipped,
            (0, true) => Packet::GoOn,
            _ => Packet::NeedMore,
        };
        (here, packet)
    }
}
