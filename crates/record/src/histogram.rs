//! Log-linear histogram of nanoseconds with three significant digits. Its memory depends on the range of its values.
//!
//! The layout is that of HdrHistogram with a lowest value of 1 ns and 2,048 sub-buckets. Below 2,048 ns, every value has its own
//! counter. Above, each power of two is divided into 1,024 equal parts, so no counter is wider than 0.1 % of its value. Counters
//! are allocated per power of two, when the first value falls there. So merging and clearing touch only what was used.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::bytes::{Malformed, Reader, put};
use crate::percentile::Percentile;

/// Number of counters in a chunk: half of the sub-buckets, because the lower half of a bucket repeats the bucket below it.
const CHUNK: usize = 1024;
/// Chunk 0 holds 0..1,024 ns; chunk k holds 2^(9+k)..2^(10+k) ns.
const CHUNKS: usize = 33;

/// Histogram of durations in nanoseconds, accurate to 0.1 % of the value, up to [`Histogram::HIGHEST_NS`].
#[derive(Clone)]
pub struct Histogram {
    chunks: [Option<Box<[u64; CHUNK]>>; CHUNKS],
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Histogram {
    /// Highest distinguishable value: a little over 73 minutes. Longer durations are counted as this one.
    pub const HIGHEST_NS: u64 = (1 << 42) - 1;

    /// Creates an empty histogram, without any counters.
    pub const fn new() -> Self {
        Self { chunks: [const { None }; CHUNKS], count: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }

    /// Counts one duration.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.record_many(value_ns, 1);
    }

    /// Counts a duration `times` times.
    #[inline]
    pub fn record_many(&mut self, value_ns: u64, times: u64) {
        if times == 0 {
            return;
        }
        let value_ns = value_ns.min(Self::HIGHEST_NS);
        let (chunk, index) = place(value_ns);
        let counters = self.chunks[chunk].get_or_insert_with(empty_chunk);
        counters[index] += times;
        self.count += times;
        self.sum_ns += u128::from(value_ns) * u128::from(times);
        self.min_ns = self.min_ns.min(value_ns);
        self.max_ns = self.max_ns.max(value_ns);
    }

    /// Adds all counts of `other`. The result does not depend on the order of merges.
    pub fn merge(&mut self, other: &Self) {
        // The total overflows before any counter does.
        self.count += other.count;
        for (mine, theirs) in self.chunks.iter_mut().zip(&other.chunks) {
            let Some(theirs) = theirs else { continue };
            let mine = mine.get_or_insert_with(empty_chunk);
            for (counter, more) in mine.iter_mut().zip(theirs.iter()) {
                *counter = counter.wrapping_add(*more);
            }
        }
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Clears all counts, but keeps the memory.
    pub fn clear(&mut self) {
        for chunk in self.chunks.iter_mut().flatten() {
            chunk.fill(0);
        }
        (self.count, self.sum_ns, self.min_ns, self.max_ns) = (0, 0, u64::MAX, 0);
    }

    /// Returns the number of counted durations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the smallest duration, exact. `None` if empty.
    pub fn min_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min_ns)
    }

    /// Returns the largest duration, exact. `None` if empty.
    pub fn max_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max_ns)
    }

    /// Returns the arithmetic mean of the exact durations, not of counters. `None` if empty.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// Returns the sum of all durations.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Returns the value at a percentile by nearest rank: the smallest kept value that at least this share of the samples does not exceed.
    /// `None` if empty.
    ///
    /// The value is the upper edge of a counter: at most 0.1 % above the sample, and never above the maximum.
    pub fn value_at(&self, percentile: Percentile) -> Option<u64> {
        self.bounds_at_rank(percentile.rank(self.count)?).map(|(_, highest)| highest)
    }

    /// Returns the lowest and highest duration that the sample of this rank can have, in nanoseconds. They differ by at most 0.1 %. Ranks
    /// count from 1, in ascending order of samples. `None` if there is no such sample.
    pub fn bounds_at_rank(&self, rank: u64) -> Option<(u64, u64)> {
        if rank == 0 {
            return None;
        }
        let mut seen = 0;
        for (chunk, counters) in self.chunks.iter().enumerate() {
            let Some(counters) = counters else { continue };
            // No partial sum exceeds the total count, so it cannot overflow.
            let of_chunk = counters.iter().fold(0, |sum: u64, count| sum.wrapping_add(*count));
            if seen + of_chunk < rank {
                seen += of_chunk;
                continue;
            }
            for (index, count) in counters.iter().enumerate() {
                seen += count;
                if seen >= rank {
                    let edges = [lowest_in(chunk, index), highest_in(chunk, index)];
                    let [lowest, highest] = edges.map(|edge| edge.clamp(self.min_ns, self.max_ns));
                    return Some((lowest, highest));
                }
            }
        }
        None
    }

    /// Like [`Histogram::value_at`], but `None` unless at least ten samples lie above the percentile, which is the rule for
    /// printing.
    pub fn printable_at(&self, percentile: Percentile) -> Option<u64> {
        percentile.is_printable(self.count).then(|| self.value_at(percentile)).flatten()
    }

    /// Returns the highest value and the count of each used counter, in ascending order.
    pub fn counters(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.indexed().map(|(index, count)| (highest_in(index / CHUNK, index % CHUNK), count))
    }

    /// Returns the index in HdrHistogram's array of counts, and the count, of each used counter, in ascending order.
    pub fn indexed(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let chunks = self.chunks.iter().enumerate();
        chunks.filter_map(|(chunk, counters)| Some((chunk, counters.as_ref()?))).flat_map(
            |(chunk, counters)| {
                let counts = counters.iter().enumerate().filter(|(_, count)| **count > 0);
                counts.map(move |(index, count)| (chunk * CHUNK + index, *count))
            },
        )
    }

    /// Appends a compact form: the totals, then index steps and counts as variable-length integers.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put(out, self.count);
        if self.count == 0 {
            return;
        }
        put(out, self.min_ns);
        put(out, self.max_ns);
        put(out, self.sum_ns as u64);
        put(out, (self.sum_ns >> 64) as u64);
        put(out, self.indexed().count() as u64);
        let mut last = 0;
        for (index, count) in self.indexed() {
            let index = index as u64;
            put(out, index - last);
            put(out, count);
            last = index;
        }
    }

    /// Adds a histogram encoded by [`Histogram::encode`]. Rejects any other bytes, of which a part may have been added by then.
    pub(crate) fn add_encoded(&mut self, reader: &mut Reader<'_>) -> Result<(), Malformed> {
        let chunks = &mut self.chunks;
        let encoded = walk(reader, |position, count| {
            let counters = chunks[position / CHUNK].get_or_insert_with(empty_chunk);
            let counter = &mut counters[position % CHUNK];
            *counter = counter.checked_add(count).ok_or(Malformed)?;
            Ok(())
        })?;
        self.count = self.count.checked_add(encoded.count).ok_or(Malformed)?;
        self.sum_ns = self.sum_ns.checked_add(encoded.sum_ns).ok_or(Malformed)?;
        self.min_ns = self.min_ns.min(encoded.min_ns);
        self.max_ns = self.max_ns.max(encoded.max_ns);
        Ok(())
    }

    /// Validates the output of [`Histogram::encode`], and returns the number of durations in it. Rejects the same bytes as
    /// [`Histogram::add_encoded`].
    pub(crate) fn check_encoded(reader: &mut Reader<'_>) -> Result<u64, Malformed> {
        walk(reader, |_, _| Ok(())).map(|encoded| encoded.count)
    }
}

/// Totals of an encoded histogram.
struct Encoded {
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

/// Calls `each` with the index and count of every counter of an encoded histogram, and checks that they match the totals.
fn walk(
    reader: &mut Reader<'_>,
    mut each: impl FnMut(usize, u64) -> Result<(), Malformed>,
) -> Result<Encoded, Malformed> {
    let count = reader.take()?;
    if count == 0 {
        return Ok(Encoded { count, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 });
    }
    let (min_ns, max_ns) = (reader.take()?, reader.take()?);
    let sum_ns = u128::from(reader.take()?) | u128::from(reader.take()?) << 64;
    let entries = reader.take()?;
    let (mut position, mut counted, mut is_taken) = (0u64, 0u64, false);
    for _ in 0..entries {
        let step = reader.take()?;
        position = position.checked_add(step).ok_or(Malformed)?;
        let of_counter = reader.take()?;
        // A duplicate counter would have double weight but a single count.
        if position >= (CHUNK * CHUNKS) as u64 || (step == 0 && is_taken) {
            return Err(Malformed);
        }
        is_taken = of_counter != 0;
        counted = counted.checked_add(of_counter).ok_or(Malformed)?;
        each(position as usize, of_counter)?;
    }
    let in_order = min_ns <= max_ns && max_ns <= Histogram::HIGHEST_NS;
    let bounds_fit =
        u128::from(min_ns) * u128::from(count) <= sum_ns && sum_ns <= u128::from(max_ns) * u128::from(count);
    if counted != count || !in_order || !bounds_fit {
        return Err(Malformed);
    }
    Ok(Encoded { count, sum_ns, min_ns, max_ns })
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count
            && self.sum_ns == other.sum_ns
            && self.min_ns == other.min_ns
            && self.max_ns == other.max_ns
            && self.counters().eq(other.counters())
    }
}

impl core::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count)
            .field("min_ns", &self.min_ns())
            .field("max_ns", &self.max_ns())
            .finish_non_exhaustive()
    }
}

#[cold]
fn empty_chunk() -> Box<[u64; CHUNK]> {
    Box::new([0; CHUNK])
}

/// Returns the chunk of a value, and its counter there.
#[inline]
fn place(value_ns: u64) -> (usize, usize) {
    // Number of low bits that are dropped: none below 2,048.
    let dropped = (u64::BITS - (value_ns | 2047).leading_zeros() - 11) as usize;
    let kept = (value_ns >> dropped) as usize;
    (dropped + (kept >> 10), kept & (CHUNK - 1))
}

/// Returns the lowest value that [`place`] maps to this counter.
fn lowest_in(chunk: usize, index: usize) -> u64 {
    match chunk.checked_sub(1) {
        None => index as u64,
        Some(dropped) => ((CHUNK + index) as u64) << dropped,
    }
}

/// Returns the highest value that [`place`] maps to this counter.
fn highest_in(chunk: usize, index: usize) -> u64 {
    match chunk.checked_sub(1) {
        None => index as u64,
        Some(dropped) => (((CHUNK + index + 1) as u64) << dropped) - 1,
    }
}
