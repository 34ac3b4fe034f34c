//! One direction of a connection: bytes wait in a delay line, then for bandwidth. Pure arithmetic: the caller passes the time.
//!
//! A piece of data that is read at `t` with delay `d` may leave at `t + d`, but never before earlier data. With a bandwidth, a
//! slice of `n` bytes has left when the link has carried it: `n / bandwidth` after it is due and the previous slice has left.

use std::collections::VecDeque;

/// Bookkeeping overhead of one piece, which counts toward the limit, so that many small pieces cannot exceed it.
const PIECE_BYTES: usize = size_of::<Piece>();
/// Maximum backlog of unused bandwidth, in time, that a late proxy may catch up on. Bounds the burst to a peer that did not read
/// for a while.
const CATCH_UP_NS: u64 = 5_000_000;
/// Number of slices per second: a slice is what the link carries in a millisecond, within the bounds below.
const SLICES_PER_S: u64 = 1000;
const SLICE_BYTES_MIN: u64 = 64;
const SLICE_BYTES_MAX: u64 = 64 * 1024;
/// Memory that an idle line keeps, in bytes. Capacity above it is freed after a period of little data.
const IDLE_BYTES_MAX: usize = 16 * 1024;

/// End of a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The sender closed its sending side.
    Fin,
    /// The sender reset the connection.
    Reset,
}

/// Length and due time of bytes that were read in one call.
#[derive(Clone, Copy, Debug)]
struct Piece {
    len: usize,
    due_ns: u64,
}

/// Data in transit in one direction.
#[derive(Debug, Default)]
pub(crate) struct DelayLine {
    bytes: VecDeque<u8>,
    pieces: VecDeque<Piece>,
    last_due_ns: u64,
    /// Time at which the link has carried all data that left.
    free_at_ns: u64,
    end: Option<(u64, End)>,
    /// Maximum number of buffered bytes since the line was last empty.
    peak_bytes: usize,
}

impl DelayLine {
    /// Returns the number of bytes that may be read if the line may hold `limit` bytes. 0 until a quarter is free, so that each
    /// read is worth a system call.
    pub(crate) fn room(&self, limit: usize) -> usize {
        let held = self.bytes.len() + self.pieces.len() * PIECE_BYTES;
        let free = limit.saturating_sub(held);
        if free >= limit.div_ceil(4) { free } else { 0 }
    }

    /// Adds data that was read at `now_ns` and is delayed by `delay_ns`.
    pub(crate) fn push(&mut self, now_ns: u64, delay_ns: u64, bytes: &[u8]) {
        if bytes.is_empty() || self.end.is_some() {
            return;
        }
        let due_ns = self.due(now_ns, delay_ns);
        self.bytes.extend(bytes);
        self.peak_bytes = self.peak_bytes.max(self.bytes.len());
        match self.pieces.back_mut().filter(|last| last.due_ns == due_ns) {
            Some(last) => last.len += bytes.len(),
            None => self.pieces.push_back(Piece { len: bytes.len(), due_ns }),
        }
    }

    /// Ends the line. The end leaves after all data, and is delayed like data.
    pub(crate) fn finish(&mut self, now_ns: u64, delay_ns: u64, end: End) {
        // A reset may follow a FIN.
        if self.end.is_none_or(|(_, before)| before == End::Fin && end == End::Reset) {
            self.end = Some((self.due(now_ns, delay_ns), end));
        }
    }

    /// Returns true if no more data can be added.
    pub(crate) fn is_finished(&self) -> bool {
        self.end.is_some()
    }

    fn due(&mut self, now_ns: u64, delay_ns: u64) -> u64 {
        self.last_due_ns = self.last_due_ns.max(now_ns.saturating_add(delay_ns));
        self.last_due_ns
    }

    /// Returns the time at which the next bytes, or the end, may leave. `None` if the line is empty and open.
    pub(crate) fn next_at_ns(&self, bytes_per_s: Option<u64>) -> Option<u64> {
        let Some(head) = self.pieces.front() else { return self.end.map(|(due_ns, _)| due_ns) };
        let Some(bytes_per_s) = bytes_per_s else { return Some(head.due_ns) };
        let slice = slice_bytes(bytes_per_s).min(head.len as u64);
        Some(head.due_ns.max(self.free_at_ns).saturating_add(transmission_ns(slice, bytes_per_s)))
    }

    /// Returns contiguous bytes that may leave now. May be empty although data waits.
    pub(crate) fn ready(&self, now_ns: u64, bytes_per_s: Option<u64>) -> &[u8] {
        if self.next_at_ns(bytes_per_s).is_none_or(|at_ns| at_ns > now_ns) {
            return &[];
        }
        let count = match (bytes_per_s, self.pieces.front()) {
            (Some(bytes_per_s), Some(head)) => head.len.min(slice_bytes(bytes_per_s) as usize),
            _ => self.pieces.iter().take_while(|piece| piece.due_ns <= now_ns).map(|piece| piece.len).sum(),
        };
        let (first, _) = self.bytes.as_slices();
        &first[..count.min(first.len())]
    }

    /// Records that `count` of the ready bytes have left.
    pub(crate) fn sent(&mut self, now_ns: u64, bytes_per_s: Option<u64>, count: usize) {
        if let (Some(bytes_per_s), Some(head)) = (bytes_per_s, self.pieces.front()) {
            let carried_ns =
                head.due_ns.max(self.free_at_ns).saturating_add(transmission_ns(count as u64, bytes_per_s));
            self.free_at_ns = carried_ns.max(now_ns.saturating_sub(CATCH_UP_NS));
        }
        self.bytes.drain(..count);
        let mut left = count;
        while let Some(head) = self.pieces.front_mut().filter(|_| left > 0) {
            let part = head.len.min(left);
            left -= part;
            head.len -= part;
            if head.len == 0 {
                self.pieces.pop_front();
            }
        }
        if self.bytes.is_empty() {
            self.release_memory();
        }
    }

    fn release_memory(&mut self) {
        if self.bytes.capacity() > IDLE_BYTES_MAX && self.peak_bytes < self.bytes.capacity() / 4 {
            self.bytes.shrink_to(self.peak_bytes);
        }
        // A piece has at least one byte.
        if self.pieces.capacity() > IDLE_BYTES_MAX / PIECE_BYTES
            && self.peak_bytes < self.pieces.capacity() / 4
        {
            self.pieces.shrink_to(self.peak_bytes);
        }
        self.peak_bytes = 0;
    }

    /// Returns the end of the direction if it is due and all data before it has left.
    pub(crate) fn end(&self, now_ns: u64) -> Option<End> {
        let (due_ns, end) = self.end?;
        (self.bytes.is_empty() && due_ns <= now_ns).then_some(end)
    }

    /// Returns the time at which a reset may overtake bytes that the receiver does not read. `None` if there is no reset.
    pub(crate) fn reset_at_ns(&self) -> Option<u64> {
        self.end.filter(|(_, end)| *end == End::Reset).map(|(due_ns, _)| due_ns)
    }

    /// Discards all data, because the receiver has disconnected.
    pub(crate) fn discard(&mut self) {
        (self.bytes, self.pieces) = (VecDeque::new(), VecDeque::new());
    }

    /// Returns the memory of data and pieces, in bytes.
    #[cfg(test)]
    fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + self.pieces.capacity() * PIECE_BYTES
    }
}

fn slice_bytes(bytes_per_s: u64) -> u64 {
    (bytes_per_s / SLICES_PER_S).clamp(SLICE_BYTES_MIN, SLICE_BYTES_MAX)
}

/// Returns the time that the link takes to carry `bytes`, rounded up. Slices are small enough that the product does not overflow.
fn transmission_ns(bytes: u64, bytes_per_s: u64) -> u64 {
    bytes.saturating_mul(1_000_000_000).div_ceil(bytes_per_s.max(1))
}

#[cfg(test)]
mod tests;
