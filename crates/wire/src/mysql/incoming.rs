//! Framing of incoming packets: whole packets are read in place, partial ones are gathered, and unneeded ones are skipped.

use alloc::vec::Vec;

use super::fault::Fault;
use super::outgoing::{HEADER_BYTES, PAYLOAD_BYTES_MAX};
use crate::blame::PeerFault;

/// Max capacity of the buffer between packets, so that one long row does not stay in memory with every connection.
const PARTIAL_CAPACITY_MAX: usize = 64 * 1024;
/// First byte of an error packet.
pub(super) const ERROR: u8 = 0xff;

/// Framing state of one connection.
#[derive(Debug, Default)]
pub(super) struct PacketReader {
    /// Expected sequence number of the next packet.
    sequence: u8,
    /// Beginning of a packet that did not arrive whole.
    partial: Vec<u8>,
    /// Whether the packet in `partial` was returned, and its bytes can be dropped.
    is_spent: bool,
    /// Number of bytes of a packet that are still to be skipped.
    skip_left: usize,
    /// Whether the next packet continues the skipped packet.
    is_continued: bool,
}

/// Header and first byte of a packet: enough to decide whether it is needed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) payload_bytes: usize,
    sequence: u8,
    /// First byte of the content. `None` if the packet is empty.
    pub(super) first: Option<u8>,
}

/// Amount of a packet's content that the caller needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PacketInterest {
    /// All of the content, in one piece.
    Whole,
    /// Drops the packet.
    Nothing,
}

/// Result of the bytes received so far.
#[derive(Debug)]
pub(super) enum Packet<'a> {
    /// The packet is incomplete; all bytes were used.
    NeedMore,
    /// Part of a packet was skipped; call again with the remaining bytes.
    Continue,
    /// A packet was skipped to its end.
    Skipped,
    /// Content of a complete packet.
    Whole(&'a [u8]),
}

impl Head {
    /// Parses the first bytes of a packet. `None` if there are too few.
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

impl PacketReader {
    /// Sets the expected sequence number of the next packet.
    pub(super) fn expect(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// Expected sequence number of the next packet.
    pub(super) fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Whether a packet is incomplete.
    pub(super) fn is_within_packet(&self) -> bool {
        self.skip_left > 0 || self.is_continued || !(self.partial.is_empty() || self.is_spent)
    }

    /// Processes bytes up to the end of one packet, and returns how many were used. `packet_interest` decides from the head of a packet
    /// whether its content is needed.
    #[inline]
    pub(super) fn take<'a>(
        &'a mut self,
        bytes: &'a [u8],
        packet_interest: impl FnOnce(Head) -> Result<PacketInterest, Fault>,
    ) -> Result<(usize, Packet<'a>), PeerFault> {
        if self.is_spent {
            self.drop_spent();
        }
        if self.skip_left > 0 {
            return Ok(self.skip(bytes));
        }
        if !self.partial.is_empty() {
            return self.take_rest(bytes, packet_interest);
        }
        let Some(head) = Head::of(bytes) else { return Ok(self.buffer_packet(bytes)) };
        match self.check_head(head, packet_interest).map_err(|fault| fault.with_first_bytes(bytes))? {
            PacketInterest::Nothing => {
                self.start_skipping(head, 0);
                Ok(self.skip(bytes))
            }
            PacketInterest::Whole => match bytes.get(HEADER_BYTES..head.packet_bytes()) {
                Some(payload) => {
                    self.sequence = self.sequence.wrapping_add(1);
                    Ok((head.packet_bytes(), Packet::Whole(payload)))
                }
                None => Ok(self.buffer_packet(bytes)),
            },
        }
    }

    fn drop_spent(&mut self) {
        self.partial.clear();
        self.partial.shrink_to(PARTIAL_CAPACITY_MAX);
        self.is_spent = false;
    }

    #[inline]
    fn check_head(
        &self,
        head: Head,
        packet_interest: impl FnOnce(Head) -> Result<PacketInterest, Fault>,
    ) -> Result<PacketInterest, Fault> {
        // A server that closes the connection sends an error without having read a statement, with sequence number 0.
        let is_last_word = head.sequence == 0 && head.first == Some(ERROR);
        if head.sequence != self.sequence && !is_last_word {
            return Err(Fault::Sequence);
        }
        if self.is_continued { Ok(PacketInterest::Nothing) } else { packet_interest(head) }
    }

    fn buffer_packet<'a>(&mut self, bytes: &[u8]) -> (usize, Packet<'a>) {
        self.partial.extend_from_slice(bytes);
        (bytes.len(), Packet::NeedMore)
    }

    /// Continues a packet whose beginning was gathered.
    #[cold]
    fn take_rest<'a>(
        &'a mut self,
        bytes: &[u8],
        packet_interest: impl FnOnce(Head) -> Result<PacketInterest, Fault>,
    ) -> Result<(usize, Packet<'a>), PeerFault> {
        let mut used = self.fill_partial(HEADER_BYTES, bytes);
        if Head::of(&self.partial).is_none() {
            used += self.fill_partial(HEADER_BYTES + 1, &bytes[used..]);
        }
        let Some(head) = Head::of(&self.partial) else { return Ok((used, Packet::NeedMore)) };
        match self.check_head(head, packet_interest).map_err(|fault| fault.with_first_bytes(&self.partial))? {
            PacketInterest::Nothing => {
                self.start_skipping(head, self.partial.len());
                self.partial.clear();
                let (more, packet) = self.skip(&bytes[used..]);
                Ok((used + more, packet))
            }
            PacketInterest::Whole => {
                used += self.fill_partial(head.packet_bytes(), &bytes[used..]);
                if self.partial.len() < head.packet_bytes() {
                    return Ok((used, Packet::NeedMore));
                }
                self.sequence = self.sequence.wrapping_add(1);
                self.is_spent = true;
                Ok((used, Packet::Whole(&self.partial[HEADER_BYTES..])))
            }
        }
    }

    /// Gathers bytes until `count` are there. Returns the number of bytes taken.
    fn fill_partial(&mut self, count: usize, bytes: &[u8]) -> usize {
        let taken = count.saturating_sub(self.partial.len()).min(bytes.len());
        self.partial.extend_from_slice(&bytes[..taken]);
        taken
    }

    #[inline]
    fn start_skipping(&mut self, head: Head, arrived: usize) {
        self.sequence = self.sequence.wrapping_add(1);
        self.skip_left = head.packet_bytes() - arrived;
        self.is_continued = head.payload_bytes == PAYLOAD_BYTES_MAX;
    }

    #[inline]
    fn skip<'a>(&mut self, bytes: &[u8]) -> (usize, Packet<'a>) {
        let here = self.skip_left.min(bytes.len());
        self.skip_left -= here;
        let packet = match (self.skip_left, self.is_continued) {
            (0, false) => Packet::Skipped,
            (0, true) => Packet::Continue,
            _ => Packet::NeedMore,
        };
        (here, packet)
    }
}
