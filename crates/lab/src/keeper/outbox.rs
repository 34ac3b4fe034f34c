//! Buffers output between a process and Tenbin. If the buffer is full, bytes are dropped instead of blocking the process.

use std::time::Duration;

use crate::capture::HEAD_BYTES;
use crate::deadline::Deadline;

/// Max bytes that are buffered at a time, except the head.
const PENDING_BYTES_MAX: usize = 256 << 10;
/// Time to collect output before it is sent.
const PAUSE: Duration = Duration::from_millis(20);

/// Buffer of bytes to send.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    seen_bytes: usize,
    /// Unsent part of the first bytes of the output, which are never dropped.
    head: Vec<u8>,
    pending: Vec<u8>,
    dropped_bytes: u64,
    not_before: Option<Deadline>,
}

impl Outbox {
    /// Appends bytes that were read.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let head_left = HEAD_BYTES.saturating_sub(self.seen_bytes).min(bytes.len());
        let (head, rest) = bytes.split_at(head_left);
        self.seen_bytes = self.seen_bytes.saturating_add(bytes.len());
        self.head.extend_from_slice(head);
        self.pending.extend_from_slice(rest);
        // Trims only at twice the size, so that bytes are seldom moved.
        if self.pending.len() > 2 * PENDING_BYTES_MAX {
            self.drop_oldest();
        }
        if self.not_before.is_none() {
            self.not_before = Some(Deadline::after(PAUSE));
        }
    }

    fn drop_oldest(&mut self) {
        let excess = self.pending.len().saturating_sub(PENDING_BYTES_MAX);
        self.pending.drain(..excess);
        self.dropped_bytes += excess as u64;
    }

    /// Time at which buffered output is sent. `None` if the buffer is empty.
    pub(crate) fn due(&self) -> Option<Deadline> {
        self.not_before
    }

    /// Takes the next bytes to send, and the number of bytes before them that were dropped.
    pub(crate) fn take(&mut self) -> Option<(u64, Vec<u8>)> {
        if !self.head.is_empty() {
            let piece = (0, std::mem::take(&mut self.head));
            self.not_before = (!self.pending.is_empty()).then(|| Deadline::after(PAUSE));
            return Some(piece);
        }
        self.not_before = None;
        if self.pending.is_empty() {
            return None;
        }
        self.drop_oldest();
        Some((std::mem::take(&mut self.dropped_bytes), std::mem::take(&mut self.pending)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_and_tail_survive_overflow() {
        let mut outbox = Outbox::default();
        outbox.push(b"first");
        for _ in 0..40 {
            outbox.push(&[b'x'; 64 << 10]);
        }
        outbox.push(b"last");
        let (dropped, head) = outbox.take().expect("the head");
        assert_eq!((dropped, head.len(), &head[..5]), (0, HEAD_BYTES, &b"first"[..]));
        let (dropped, rest) = outbox.take().expect("the rest");
        assert!(rest.ends_with(b"last") && rest.len() == PENDING_BYTES_MAX);
        assert_eq!(dropped as usize + head.len() + rest.len(), 40 * (64 << 10) + 9);
        assert_eq!((outbox.take(), outbox.due()), (None, None));
    }
}
