//! Stores the output of one process in bounded memory: its beginning and its end.

/// Bytes stored from the beginning.
pub(crate) const HEAD_BYTES: usize = 64 << 10;
/// Bytes stored from the end.
pub(crate) const TAIL_BYTES: usize = 192 << 10;
/// Max length of a partial line next to the gap that is removed.
const LINE_BYTES_MAX: usize = 4096;

/// Head and tail of a stream of bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Capture {
    head: Vec<u8>,
    tail: Vec<u8>,
    dropped_bytes: u64,
    /// Bytes received in total, including dropped ones.
    seen_bytes: u64,
}

impl Capture {
    /// Appends `bytes`. `dropped_bytes` were lost before them on the way.
    pub(crate) fn push(&mut self, dropped_bytes: u64, bytes: &[u8]) {
        self.seen_bytes += dropped_bytes + bytes.len() as u64;
        let head_left = if dropped_bytes == 0 && self.tail.is_empty() && self.dropped_bytes == 0 {
            (HEAD_BYTES - self.head.len()).min(bytes.len())
        } else {
            0
        };
        let (head, rest) = bytes.split_at(head_left);
        self.head.extend_from_slice(head);
        if dropped_bytes > 0 {
            self.dropped_bytes += dropped_bytes + self.tail.len() as u64;
            self.tail.clear();
        }
        self.tail.extend_from_slice(rest);
        if self.tail.len() > 2 * TAIL_BYTES {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        let excess = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..excess);
        self.dropped_bytes += excess as u64;
    }

    /// Total bytes received. If unchanged, there is no new output.
    pub(crate) fn seen_bytes(&self) -> u64 {
        self.seen_bytes
    }

    /// Whether the stored part of the output after the first `from` bytes contains the text. A match cannot span the gap.
    pub(crate) fn contains_since(&self, text: &[u8], from: u64) -> bool {
        let (head, tail) = self.since(from);
        if self.dropped_bytes == 0 {
            return has_text(&[head, tail].concat(), text);
        }
        has_text(head, text) || has_text(tail, text)
    }

    /// Returns the stored part of the output after the first `from` bytes, and the number of bytes in it that were dropped.
    pub(crate) fn text_since(mut self, from: u64) -> (Vec<u8>, u64) {
        self.drop_oldest();
        let (head, tail) = self.since(from);
        let text = [head, tail].concat();
        let dropped_bytes = self.seen_bytes.saturating_sub(from).saturating_sub(text.len() as u64);
        (text, dropped_bytes)
    }

    /// Stored output after the first `from` bytes: the part before the gap and the part after it.
    fn since(&self, from: u64) -> (&[u8], &[u8]) {
        let skip = |bytes, first: u64| {
            let count = usize::try_from(from.saturating_sub(first)).unwrap_or(usize::MAX);
            let bytes: &[u8] = bytes;
            &bytes[count.min(bytes.len())..]
        };
        let tail_from = self.seen_bytes - self.tail.len() as u64;
        (skip(&self.head, 0), skip(&self.tail, tail_from))
    }

    /// Returns the stored output and the number of dropped bytes. Removes partial lines next to the gap, so that a search by line,
    /// for a secret for instance, finds it whole or not at all.
    pub(crate) fn text(mut self) -> (Vec<u8>, u64) {
        self.drop_oldest();
        if self.dropped_bytes > 0 {
            let ends = self.head[self.head.len().saturating_sub(LINE_BYTES_MAX)..].iter().rev();
            let head_cut = ends.take_while(|byte| **byte != b'\n').count();
            self.head.truncate(self.head.len() - head_cut);
            let starts = self.tail.iter().take(LINE_BYTES_MAX);
            let tail_cut = starts.take_while(|byte| **byte != b'\n').count();
            self.tail.drain(..tail_cut);
            self.dropped_bytes += (head_cut + tail_cut) as u64;
        }
        self.head.append(&mut self.tail);
        (self.head, self.dropped_bytes)
    }
}

fn has_text(all: &[u8], text: &[u8]) -> bool {
    text.is_empty() || all.windows(text.len()).any(|window| window == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_output_is_stored_whole() {
        let mut capture = Capture::default();
        capture.push(0, b"rea");
        capture.push(0, b"dy\n");
        assert!(capture.contains_since(b"ready", 0) && !capture.contains_since(b"steady", 0));
        assert_eq!(capture.text(), (b"ready\n".to_vec(), 0));
    }

    #[test]
    fn long_output_keeps_head_and_tail() {
        let mut capture = Capture::default();
        capture.push(0, b"first ");
        for _ in 0..100 {
            capture.push(0, &[b'x'; 10_000]);
        }
        capture.push(0, b" last");
        assert!(capture.contains_since(b"first", 0) && capture.contains_since(b"last", 0));
        let (text, dropped) = capture.text();
        assert_eq!(text.len(), HEAD_BYTES + TAIL_BYTES - 2 * LINE_BYTES_MAX);
        assert_eq!(dropped as usize + text.len(), 1_000_011);
        assert!(text.starts_with(b"first ") && text.ends_with(b" last"));
    }

    #[test]
    fn search_skips_output_before_the_offset() {
        let mut capture = Capture::default();
        capture.push(0, b"ready one ");
        let from = capture.seen_bytes();
        assert!(!capture.contains_since(b"ready", from));
        capture.push(0, b"ready two");
        assert!(capture.contains_since(b"ready", from) && !capture.contains_since(b"one", from));
        for _ in 0..100 {
            capture.push(0, &[b'x'; 10_000]);
        }
        assert!(!capture.contains_since(b"ready", capture.seen_bytes() - 5));
        assert!(!capture.contains_since(b"x", u64::MAX));
        let (text, dropped) = capture.clone().text_since(from);
        assert_eq!(dropped as usize + text.len(), 1_000_009, "none of what came before");
        assert_eq!(capture.text_since(u64::MAX), (Vec::new(), 0));
    }

    #[test]
    fn bytes_lost_in_transit_are_counted_without_a_second_gap() {
        let mut capture = Capture::default();
        capture.push(0, &[b'a'; HEAD_BYTES + 10]);
        capture.push(1000, b"b");
        capture.push(0, b"\nc");
        let (text, dropped) = capture.text();
        assert_eq!((text.len(), dropped), (HEAD_BYTES - LINE_BYTES_MAX + 2, 1011 + LINE_BYTES_MAX as u64));
        assert!(text.ends_with(b"a\nc"));
    }

    #[test]
    fn lines_next_to_the_gap_are_whole() {
        let mut capture = Capture::default();
        let line = b"password=s3cr3t-value\n";
        let lines = 2 * (HEAD_BYTES + 2 * TAIL_BYTES) / line.len();
        (0..lines).for_each(|_| capture.push(0, line));
        let (text, dropped) = capture.text();
        assert!(text.len() > HEAD_BYTES + TAIL_BYTES - 2 * LINE_BYTES_MAX);
        assert_eq!(text.len() + dropped as usize, lines * line.len());
        assert!(
            text.split(|byte| *byte == b'\n').all(|kept| kept.is_empty() || kept == &line[..line.len() - 1])
        );
    }
}
