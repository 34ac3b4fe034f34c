//! Readings of system, load generator, and machine over time.

use std::collections::{BTreeMap, HashMap};

use evidence::{Run, StoredReading};
use judge::{CoreTime, DATABASE};

use super::charts::Strip;
use super::thin::{Bins, Means, Points};

/// Source of a track in the readings.
struct Source {
    key: &'static str,
    subject: &'static str,
    metric: &'static str,
    kind: TrackKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TrackKind {
    /// Growth of a counter. Several sources are added, and shown per second.
    Growth,
    /// Level. Several sources are combined to their maximum.
    Level,
    /// Number. Several sources are added.
    Number,
}

const fn growth(key: &'static str, subject: &'static str, metric: &'static str) -> Source {
    Source { key, subject, metric, kind: TrackKind::Growth }
}

const fn level(key: &'static str, subject: &'static str, metric: &'static str) -> Source {
    Source { key, subject, metric, kind: TrackKind::Level }
}

/// Active sessions of the database that wait in this class.
const fn waits(key: &'static str, class: &'static str) -> Source {
    Source { key, subject: DATABASE, metric: class, kind: TrackKind::Number }
}

/// Track for waits in classes that are not in [`SOURCES`].
const OTHER_WAITS: &str = "other";

/// All sources. Values of adjacent sources with equal keys are added.
const SOURCES: &[Source] = &[
    level("listen_queue", "system", "listen_queue"),
    growth("system_cores", "system", "cpu_user_s"),
    growth("system_cores", "system", "cpu_sys_s"),
    growth("generator_cores", "generator", "cpu_user_s"),
    growth("generator_cores", "generator", "cpu_sys_s"),
    growth("busy_cores", "machine", "cpu_user_s"),
    growth("busy_cores", "machine", "cpu_sys_s"),
    growth("iowait_cores", "machine", "iowait_s"),
    growth("stolen_cores", "machine", "steal_s"),
    level("system_rss", "system", "rss_bytes"),
    level("generator_rss", "generator", "rss_bytes"),
    level("system_swap", "system", "swap_bytes"),
    level("generator_swap", "generator", "swap_bytes"),
    level("machine_swap", "machine", "swap_bytes"),
    growth("system_voluntary", "system", "switches_voluntary"),
    growth("system_involuntary", "system", "switches_involuntary"),
    growth("generator_voluntary", "generator", "switches_voluntary"),
    growth("generator_involuntary", "generator", "switches_involuntary"),
    growth("system_run_queue", "system", "run_queue_wait_s"),
    growth("generator_run_queue", "generator", "run_queue_wait_s"),
    growth("system_disk_read", "system", "disk_read_bytes"),
    growth("system_disk_written", "system", "disk_written_bytes"),
    growth("machine_disk_read", "machine", "disk_read_bytes"),
    growth("machine_disk_written", "machine", "disk_written_bytes"),
    growth("machine_received", "machine", "net_received_bytes"),
    growth("machine_sent", "machine", "net_sent_bytes"),
    level("pressure_cpu", "machine", "pressure_cpu_some_share"),
    level("pressure_memory", "machine", "pressure_memory_some_share"),
    level("pressure_io", "machine", "pressure_io_some_share"),
    waits("db_cpu", judge::ON_CPU),
    waits("db_executing", "Executing"),
    waits("db_lock", "Lock"),
    waits("db_lwlock", "LWLock"),
    waits("db_io", "IO"),
    waits("db_commit", "Commit"),
    waits("db_client", "Client"),
    waits("db_other", OTHER_WAITS),
];

/// Loopback interface. Its traffic stays on the machine.
const LOOPBACK: &str = "lo";

/// Readings of single threads. Threads of the generator end with the load, so their usage since the last sample is lost.
const THREAD_READINGS: [&str; 3] = ["switches_voluntary", "switches_involuntary", "run_queue_wait_s"];

/// Upper bound of core numbers, which no machine reaches.
const CORES_MAX: u32 = 1 << 13;
/// Maximum number of strips in a chart.
const STRIPS_MAX: u32 = 32;

/// Readings of a run by bin.
pub(crate) struct Readings<'a> {
    /// Indexes in `tracks`, by subject and metric.
    known: HashMap<(&'a str, &'a str), usize>,
    tracks: Vec<Track>,
    /// Readings of the current second, by core number.
    cores: Vec<Core>,
    /// Highest core number plus one.
    cores_end: u32,
    cores_per_strip: u32,
    strips: BTreeMap<u32, Means>,
    bins: Bins,
    /// Number of seconds that had load from start to end.
    whole_seconds: u64,
}

struct Track {
    key: &'static str,
    kind: TrackKind,
    /// Value in the current second.
    now: Option<f64>,
    means: Means,
}

/// Time of a core in the current second.
#[derive(Clone, Copy, Default)]
struct Core {
    is_read: bool,
    busy_s: f64,
    all_s: f64,
}

impl<'a> Readings<'a> {
    pub(crate) fn of(run: &'a Run, bins: Bins, whole_seconds: u64) -> Self {
        let cores_end = run
            .readings()
            .filter_map(|reading| core(&reading))
            .map(|core| core.number)
            .max()
            .map_or(0, |last| last + 1);
        let mut readings = Self {
            known: HashMap::new(),
            tracks: Vec::new(),
            cores: vec![Core::default(); cores_end as usize],
            cores_end,
            cores_per_strip: cores_end.div_ceil(STRIPS_MAX).max(1),
            strips: BTreeMap::new(),
            bins,
            whole_seconds,
        };
        for source in SOURCES {
            let Source { key, subject, metric, kind } = *source;
            if readings.tracks.last().is_none_or(|track| track.key != key) {
                readings.tracks.push(Track { key, kind, now: None, means: Means::new(bins) });
            }
            readings.known.insert((subject, metric), readings.tracks.len() - 1);
        }
        let mut second = None;
        for reading in run.readings() {
            if second.is_some_and(|second| second != reading.second) {
                second.into_iter().for_each(|second| readings.end_second(second));
            }
            second = Some(reading.second);
            readings.take(&reading);
        }
        second.into_iter().for_each(|second| readings.end_second(second));
        readings
    }

    fn take(&mut self, reading: &StoredReading<'a>) {
        let StoredReading { subject, metric, label, value, .. } = *reading;
        if let Some(CoreTime { number, busy_s, all_s }) = core(reading)
            && let Some(of_core) = self.cores.get_mut(number as usize)
        {
            of_core.is_read = true;
            of_core.all_s += all_s;
            of_core.busy_s += busy_s;
        }
        let has_ended = subject == "generator" && reading.second >= self.whole_seconds;
        if has_ended && THREAD_READINGS.contains(&metric) {
            return;
        }
        let source = match metric {
            "db_samples" => return self.zero_absent_waits(),
            "db_waits" => {
                let class = judge::class_of(label);
                let is_known = self.known.contains_key(&(DATABASE, class));
                (DATABASE, if is_known { class } else { OTHER_WAITS })
            }
            metric => (subject, metric),
        };
        let Some(place) = self.known.get(&source) else { return };
        if label == LOOPBACK {
            return;
        }
        let Track { kind, now, .. } = &mut self.tracks[*place];
        *now = Some(match (*now, kind) {
            (None, _) => value,
            (Some(sum), TrackKind::Growth | TrackKind::Number) => sum + value,
            (Some(most), TrackKind::Level) => most.max(value),
        });
    }

    /// Sets waits that no session had in this second to zero.
    fn zero_absent_waits(&mut self) {
        let of_database = self.known.iter().filter(|((subject, _), _)| *subject == DATABASE);
        for (_, place) in of_database {
            self.tracks[*place].now.get_or_insert(0.0);
        }
    }

    /// Ends a second.
    fn end_second(&mut self, second: u64) {
        let cores = (0..).zip(&self.cores).filter(|(_, core)| core.is_read);
        // The time of a core is the time between two samples. The last interval is shorter than a second.
        let all_s: f64 = cores.clone().map(|(_, core)| core.all_s).sum();
        let over_s = Some(all_s / cores.clone().count() as f64).filter(|over_s| *over_s > 0.0).unwrap_or(1.0);
        for Track { kind, now, means, .. } in &mut self.tracks {
            if let Some(amount) = now.take() {
                means.add(second, amount, if *kind == TrackKind::Growth { over_s } else { 1.0 });
            }
        }
        let mut busiest: BTreeMap<u32, f64> = BTreeMap::new();
        for (number, Core { busy_s, all_s, .. }) in cores {
            let share = if *all_s > 0.0 { (busy_s / all_s).clamp(0.0, 1.0) } else { continue };
            let most = busiest.entry(number / self.cores_per_strip).or_default();
            *most = most.max(share);
        }
        self.cores.fill(Core::default());
        for (strip, share) in busiest {
            self.strips.entry(strip).or_insert_with(|| Means::new(self.bins)).add(second, share, 1.0);
        }
    }

    /// Figures by key, and the cores that have a strip. If there are many cores, neighbors share a strip, which shows the busiest
    /// of them in each second.
    pub(crate) fn tracks(self) -> (Vec<(String, Points)>, Vec<Strip>) {
        let mut tracks: Vec<(String, Points)> =
            self.tracks.iter().map(|track| (track.key.to_owned(), track.means.points())).collect();
        let per_strip = self.cores_per_strip;
        let mut strips = Vec::new();
        for (number, means) in self.strips {
            let first = number * per_strip;
            let strip = Strip(first, (first + per_strip).min(self.cores_end) - 1);
            tracks.push((strip.key(), means.points()));
            strips.push(strip);
        }
        (tracks, strips)
    }
}

/// Times of a core below [`CORES_MAX`].
fn core(reading: &StoredReading<'_>) -> Option<CoreTime> {
    CoreTime::of(reading).filter(|core| core.number < CORES_MAX)
}

/// Keys of all tracks except strips.
#[cfg(test)]
pub(super) fn keys() -> Vec<&'static str> {
    SOURCES.iter().map(|source| source.key).collect()
}
