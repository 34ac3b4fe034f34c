//! Framing of incoming packets: whole packets are read in place, partial ones are gathered, and unneeded ones are skipped.

use alloc::vec::Vec;

use super::fault::Fault;
use super::outgoing::{HEADER_BYTES, PAYLOAD_BYTES_MAX};
use crate::blame::PeerFault;

/// Max capacity of the buffer between packets, so that one long row does not stay in memory with every connection.
const GATHERED_CAPACITY_MAX: usize = 64 * 1024;
/// First byte of an error packet.
pub(super) const ERROR: u8 = 0xff;

/// Framing state of one connection.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    /// Expected sequence number of the next packet.
    sequence: u8,
    /// Beginning of a packet that did not arrive whole.
    gathered: Vec<u8>,
    /// Whether the packet in `gathered` was returned, and its bytes can be dropped.
    is_spent: bool,
    /// Number of bytes of a packet that are still to be skipped.
    skipped_left: usize,
    /// Whether the next packet continues the skipped packet.
    is_carried_on: bool,
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
    GoOn,
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

impl Incoming {
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
        self.skipped_left > 0 || self.is_carried_on || !(self.gathered.is_empty() || self.is_spent)
    }

    /// Processes bytes up to the end of one packet, and returns how many were used. `judge` decides from the head of a packet
    /// whether its content is needed.
    #[inline]
    pub(super) fn take<'a>(
        &'a mut self,
        bytes: &'a [u8],
        judge: impl FnOnce(Head) -> Result<PacketInterest, Fault>,
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
            PacketInterest::Nothing => {
                self.begin_to_skip(head, 0);
                Ok(self.skip(bytes))
            }
            PacketInterest::Whole => match bytes.get(HEADER_BYTES..head.packet_bytes()) {
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
    fn admit(
        &self,
        head: Head,
        judge: impl FnOnce(Head) -> Result<PacketInterest, Fault>,
    ) -> Result<PacketInterest, Fault> {
        // A server that closes the connection sends an error without having read a statement, with sequence number 0.
        let is_last_word = head.sequence == 0 && head.first == Some(ERROR);
        if head.sequence != self.sequence && !is_last_word {
            return Err(Fault::Sequence);
        }
        if self.is_carried_on { Ok(PacketInterest::Nothing) } else { judge(head) }
    }

    fn gather<'a>(&mut self, bytes: &[u8]) -> (usize, Packet<'a>) {
        self.gathered.extend_from_slice(bytes);
        (bytes.len(), Packet::NeedMore)
    }

    /// Continues a packet whose beginning was gathered.
    #[cold]
    fn take_rest<'a>(
        &'a mut self,
        bytes: &[u8],
        judge: impl FnOnce(Head) -> Result<PacketInterest, Fault>,
    ) -> Result<(usize, Packet<'a>), PeerFault> {
        let mut used = self.gather_up_to(HEADER_BYTES, bytes);
        if Head::of(&self.gathered).is_none() {
            used += self.gather_up_to(HEADER_BYTES + 1, &bytes[used..]);
        }
        let Some(head) = Head::of(&self.gathered) else { return Ok((used, Packet::NeedMore)) };
        match self.admit(head, judge).map_err(|fault| fault.showing(&self.gathered))? {
            PacketInterest::Nothing => {
                self.begin_to_skip(head, self.gathered.len());
                self.gathered.clear();
                let (more, packet) = self.skip(&bytes[used..]);
                Ok((used + more, packet))
            }
            PacketInterest::Whole => {
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

    /// Gathers bytes until `count` are there. Returns the number of bytes taken.
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
