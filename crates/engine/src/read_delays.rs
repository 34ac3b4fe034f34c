//! Sample of the times that replies waited in the kernel before they were read.

use record::Histogram;

/// Number of samples at which every second one is dropped.
const READS_MAX: u32 = 4_096;
/// Max sampling interval, in reads. A load of any length samples at least one in this many reads.
const INTERVAL_MAX: u32 = 32;

/// Even sample of the reads of a load: every read at first, and every second, fourth, and so on, as their number grows. Short and slow
/// loads get enough samples, and fast loads have little overhead.
pub(crate) struct ReadDelays {
    /// Sampling interval: one in this many reads is sampled.
    interval: u32,
    /// Number of reads since the last sampled one.
    passed: u32,
    /// Number of reads sampled at the current interval, with or without a timestamp.
    sampled: u32,
    kept_ns: Vec<u64>,
    /// Samples taken at the max interval, and those kept before it was reached.
    recorded: Histogram,
}

impl ReadDelays {
    pub(crate) fn new() -> Self {
        Self { interval: 1, passed: 0, sampled: 0, kept_ns: Vec::new(), recorded: Histogram::new() }
    }

    /// Counts a read. Returns whether to measure it.
    #[inline]
    pub(crate) fn count_read(&mut self) -> bool {
        self.passed += 1;
        if self.passed < self.interval {
            return false;
        }
        self.passed = 0;
        if self.interval < INTERVAL_MAX {
            self.sampled += 1;
            if self.sampled == READS_MAX {
                self.double_interval();
            }
        }
        true
    }

    #[cold]
    fn double_interval(&mut self) {
        let mut is_kept = false;
        self.kept_ns.retain(|_| {
            is_kept = !is_kept;
            is_kept
        });
        self.sampled /= 2;
        self.interval *= 2;
        if self.interval == INTERVAL_MAX {
            self.record_kept();
        }
    }

    fn record_kept(&mut self) {
        let kept_ns = std::mem::take(&mut self.kept_ns);
        kept_ns.into_iter().for_each(|delay_ns| self.recorded.record(delay_ns));
    }

    /// Records the delay of a sampled read in nanoseconds.
    pub(crate) fn record(&mut self, delay_ns: u64) {
        if self.interval == INTERVAL_MAX {
            self.recorded.record(delay_ns);
        } else {
            self.kept_ns.push(delay_ns);
        }
    }

    /// Returns all samples.
    pub(crate) fn into_histogram(mut self) -> Histogram {
        self.record_kept();
        self.recorded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(reads: u64) -> Histogram {
        let mut delays = ReadDelays::new();
        for read in 0..reads {
            if delays.count_read() {
                delays.record(read);
            }
        }
        delays.into_histogram()
    }

    #[test]
    fn few_reads_are_all_sampled_and_many_evenly() {
        assert_eq!(sampled(4_095).count(), 4_095);
        for reads in [5_000_u64, 20_000, 100_000, 1_000_000] {
            let delays = sampled(reads);
            let count = delays.count();
            assert!((2_047..=reads.div_ceil(32).max(4_096) + 1).contains(&count), "{reads}: {count}");
            // Reads are numbered: an even sample has half of their number as its mean.
            let mean = delays.mean_ns().expect("samples");
            assert!((mean / (reads as f64 / 2.0) - 1.0).abs() < 0.01, "{reads}: {mean}");
        }
    }

    #[test]
    fn reads_without_timestamps_are_measured_less_and_less() {
        let mut delays = ReadDelays::new();
        let measured = (0..1_000_000).filter(|_| delays.count_read()).count();
        assert!(measured < 50_000, "{measured}");
    }
}
