//! List of all figures with key, unit, direction, and definition. Documents, tables, and JSON derive from this list.

/// Unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// 10⁹ bytes per second.
    GigabytesPerSecond,
    /// 10⁶ bytes per second.
    MegabytesPerSecond,
    /// Microseconds.
    Microseconds,
    /// Events per second.
    PerSecond,
    /// Percent.
    Percent,
}

impl Unit {
    /// Returns the symbol in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::GigabytesPerSecond => "GB/s",
            Self::MegabytesPerSecond => "MB/s",
            Self::Microseconds => "µs",
            Self::PerSecond => "/s",
            Self::Percent => "%",
        }
    }
}

/// Definition of a figure.
#[derive(Debug)]
pub struct Definition {
    /// Key in JSON and in the store. Figures with several sizes or kinds append these after a dot.
    pub key: &'static str,
    /// Title in tables.
    pub title: &'static str,
    /// Unit of the values.
    pub unit: Unit,
    /// True if higher values are better.
    pub is_higher_better: bool,
    /// Measurement method, in one or two sentences.
    pub definition: &'static str,
}

const fn figure(
    key: &'static str,
    title: &'static str,
    unit: Unit,
    is_higher_better: bool,
    definition: &'static str,
) -> Definition {
    Definition { key, title, unit, is_higher_better, definition }
}

/// All figures, in the order of tables.
pub const FIGURES: &[Definition] = &[
    figure(
        "shift",
        "shift by one element",
        Unit::GigabytesPerSecond,
        true,
        "Bytes of an array that move by one element within it, per second. `loop` moves one element at a time, `vector` 16 elements, \
         and `memmove` is the C library's. `forward` fills each place from the one above it, `reverse` from the one below it.",
    ),
    figure(
        "memory_write",
        "write words",
        Unit::GigabytesPerSecond,
        true,
        "Words of 8 bytes written one after another, by one thread. Comparable with `sysbench memory --memory-oper=write`.",
    ),
    figure(
        "memory_read",
        "read words",
        Unit::GigabytesPerSecond,
        true,
        "Words of 8 bytes read one after another, by one thread. Comparable with `sysbench memory --memory-oper=read`.",
    ),
    figure(
        "disk_write",
        "sequential write",
        Unit::MegabytesPerSecond,
        true,
        "A file is overwritten in blocks of 1 MiB through the page cache, and fsync is called once at the end, within the time. Comparable \
         with one pass of `fio --rw=write --bs=1M --overwrite=1 --end_fsync=1`.",
    ),
    figure(
        "disk_read_cached",
        "sequential read, cached",
        Unit::MegabytesPerSecond,
        true,
        "The same file, read in blocks of 1 MiB from the page cache. Comparable with \
         `fio --rw=read --bs=1M --invalidate=0 --iomem_align=4k --scramble_buffers=0`, whose buffers begin at a page then and are not changed, and \
         `hdparm -T`.",
    ),
    figure(
        "disk_read_direct",
        "sequential read, direct",
        Unit::MegabytesPerSecond,
        true,
        "The same file, read in blocks of 1 MiB past the page cache (O_DIRECT). Comparable with `fio --rw=read --bs=1M --direct=1` and \
         `hdparm -t --direct`.",
    ),
    figure(
        "disk_fsync_p50",
        "fsync p50",
        Unit::Microseconds,
        false,
        "A block of 4 KiB is overwritten and fsync is called: the median time of fsync alone. Comparable with \
         `fio --rw=write --bs=4k --overwrite=1 --fsync=1`.",
    ),
    figure(
        "disk_fsync_p99",
        "fsync p99",
        Unit::Microseconds,
        false,
        "The 99th percentile of the same times. It needs 1,000 calls, so slow disks have one value from all trials, or none.",
    ),
    figure(
        "disk_random_1",
        "random reads, 1 at a time",
        Unit::PerSecond,
        true,
        "Blocks of 4 KiB at random places of the same file, past the page cache, by one thread. Comparable with \
         `fio --rw=randread --bs=4k --direct=1`.",
    ),
    figure(
        "disk_random_32",
        "random reads, 32 at a time",
        Unit::PerSecond,
        true,
        "The same by 32 threads, each with one read under way. Comparable with `fio --numjobs=32 --group_reporting`. Much more than one \
         at a time shows that the disk reorders or overlaps requests.",
    ),
    figure(
        "timer_late_p50",
        "timer late p50",
        Unit::Microseconds,
        false,
        "How much later than asked for a wait of 1 ms ends, as the generator waits (epoll_pwait2 with a timer slack of 1 ns): the median.",
    ),
    figure(
        "timer_late_p99",
        "timer late p99",
        Unit::Microseconds,
        false,
        "The 99th percentile of the same, from all trials together.",
    ),
    figure(
        "sleep_late_p50",
        "sleep late p50",
        Unit::Microseconds,
        false,
        "How much later than asked for a plain sleep of 1 ms ends, with the usual timer slack of 50 µs: the median.",
    ),
    figure(
        "switch_same_core",
        "context switch, same core",
        Unit::Microseconds,
        false,
        "Two threads on one core pass a byte back and forth through two pipes: half a round trip, which is a write, a read, and one switch. \
         Comparable with half of what `taskset -c 0 perf bench sched pipe -T` prints as µs per operation.",
    ),
    figure(
        "switch_other_core",
        "wake-up, other core",
        Unit::Microseconds,
        false,
        "The same with each thread on a core of its own: half a round trip, which is a write, a wake-up of the other core, and a read.",
    ),
    figure(
        "loopback_bytes",
        "loopback, bulk",
        Unit::GigabytesPerSecond,
        true,
        "Bytes per second over one TCP connection to 127.0.0.1, written and read 128 KiB at a time. Comparable with `iperf3`.",
    ),
    figure(
        "loopback_round_trips",
        "loopback, round trips",
        Unit::PerSecond,
        true,
        "Round trips of one byte over one TCP connection to 127.0.0.1, one at a time, between two blocking threads.",
    ),
    figure(
        "null_server",
        "null-server ceiling",
        Unit::PerSecond,
        true,
        "Requests per second that this generator reaches against the built-in target, which answers at once: 64 connections, one thread of \
         the generator, replies without a body.",
    ),
    figure(
        "steal",
        "steal",
        Unit::Percent,
        false,
        "The share of the cores' time that the hypervisor gave to others while the trials ran (/proc/stat). One value for all trials.",
    ),
];

/// Returns the definition for a key, which may have a suffix after a dot.
pub(crate) fn definition(key: &str) -> Option<&'static Definition> {
    FIGURES.iter().find(|figure| {
        key.strip_prefix(figure.key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// Measured values of one figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Key, such as `shift.loop.forward.int32.2900000`. For figures with several sizes, the last part is the size in bytes.
    pub key: String,
    /// One value per trial, ascending, in the unit of its definition. At least one.
    pub samples: Vec<f64>,
}

impl Figure {
    /// Creates a figure from its finite samples. `None` without any.
    pub fn new(key: impl Into<String>, samples: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut samples: Vec<f64> = samples.into_iter().filter(|sample| sample.is_finite()).collect();
        samples.sort_unstable_by(f64::total_cmp);
        (!samples.is_empty()).then(|| Self { key: key.into(), samples })
    }

    /// Returns the definition of the figure. `None` if the key is unknown.
    pub fn definition(&self) -> Option<&'static Definition> {
        definition(&self.key)
    }

    /// Returns the median of the samples.
    pub fn median(&self) -> f64 {
        let count = self.samples.len();
        let at = |place: usize| self.samples.get(place).copied().unwrap_or(f64::NAN);
        if count % 2 == 1 { at(count / 2) } else { (at(count / 2 - 1) + at(count / 2)) / 2.0 }
    }

    /// Returns minimum and maximum of the samples.
    pub fn range(&self) -> (f64, f64) {
        let at = |sample: Option<&f64>| sample.copied().unwrap_or(f64::NAN);
        (at(self.samples.first()), at(self.samples.last()))
    }
}

/// A figure that could not be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Key of the figure.
    pub key: String,
    /// Human-readable reason.
    pub why: String,
}

/// Results of all trials.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Measured figures, in the order of [`FIGURES`].
    pub figures: Vec<Figure>,
    /// Figures that could not be measured.
    pub missing: Vec<Missing>,
    /// Duration of all trials, in seconds.
    pub took_s: f64,
    /// True if the trials were stopped before the end.
    pub is_partial: bool,
    /// File system of the disk trials, such as `ext4`. `None` if there were no disk trials.
    pub file_system: Option<String>,
    /// File size of the disk trials, in bytes. `None` if there were none.
    pub file_bytes: Option<u64>,
}

impl Findings {
    /// Returns the figure with this key. `None` if it was not measured.
    pub fn figure(&self, key: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.key == key)
    }

    /// Adds samples in the figure's unit, or the reason why there are none.
    pub(crate) fn note(&mut self, key: impl Into<String>, samples: Result<Vec<f64>, String>) {
        let key = key.into();
        match samples {
            Ok(samples) => self.figures.extend(Figure::new(key, samples)),
            Err(why) => self.missing.push(Missing { key, why }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_has_median_and_range_of_its_trials() {
        let odd = Figure::new("steal", [3.0, 1.0, f64::NAN, 2.0]).unwrap();
        assert_eq!((odd.median(), odd.range()), (2.0, (1.0, 3.0)));
        assert_eq!(Figure::new("steal", [1.0, 4.0]).unwrap().median(), 2.5);
        assert_eq!(Figure::new("steal", [f64::INFINITY]), None);
    }

    #[test]
    fn definitions_are_found_by_the_whole_first_part_of_a_key() {
        assert_eq!(definition("shift.loop.forward").map(|found| found.key), Some("shift"));
        assert_eq!(definition("disk_random_32").map(|found| found.key), Some("disk_random_32"));
        assert!(definition("shifted").is_none());
        for (place, figure) in FIGURES.iter().enumerate() {
            assert_eq!(definition(figure.key).map(|found| found.key), FIGURES.get(place).map(|one| one.key));
        }
    }
}
