//! Memory trials: writes and reads words of 8 bytes.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::figure::Findings;
use crate::shift::{SMALL_BYTES, large_bytes};
use crate::site::Site;
use crate::stopwatch::per_s;

/// Number of bytes moved between two clock reads.
const BATCH_BYTES: usize = 1 << 20;

/// Measures arrays within the smallest cache, and beyond all caches.
pub(crate) fn measure(site: &Site<'_>, findings: &mut Findings) {
    for (key, work) in [("memory_write", write as fn(&[AtomicU64])), ("memory_read", read)] {
        for bytes in [SMALL_BYTES, large_bytes()] {
            let words: Vec<AtomicU64> = (0..bytes as u64 / 8).map(AtomicU64::new).collect();
            let batch = (BATCH_BYTES / bytes).max(1) as u32;
            let samples = site.repeat(|| {
                Ok(per_s(site.effort.slice / 2, batch, || work(black_box(&words))) * bytes as f64 / 1e9)
            });
            findings.note(format!("{key}.{bytes}"), samples);
        }
    }
}

/// Writes words. They are atomic, so that the compiler neither merges them nor calls memset.
#[inline(never)]
fn write(words: &[AtomicU64]) {
    let value = black_box(7);
    words.iter().for_each(|word| word.store(value, Ordering::Relaxed));
}

/// Reads words. They are atomic, so that the compiler does not merge them. Two alternating sums let two reads proceed
/// independently, as in the loop of sysbench.
#[inline(never)]
fn read(words: &[AtomicU64]) {
    let mut sums = [0_u64; 2];
    for pair in words.chunks_exact(sums.len()) {
        for (sum, word) in sums.iter_mut().zip(pair) {
            *sum ^= word.load(Ordering::Relaxed);
        }
    }
    black_box(sums);
}
