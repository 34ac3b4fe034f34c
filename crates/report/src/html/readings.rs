//! What system, generator and machine did over time, from the readings of each second.

use std::collections::{BTreeMap, HashMap};

use evidence::{Run, StoredReading};
use judge::{CoreTime, DATABASE};

use super::charts::Strip;
use super::thin::{Bins, Means, Points};

/// A track that follows from readings.
struct Source {
    key: &'static str,
    subject: &'static str,
    metric: &'static str,
    kind: TrackKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TrackKind {
    /// By how much something grew: several are summed up, and told per second.
    Growth,
    /// How large something is: of several it is the largest.
    Level,
    /// How many there are: several are summed up.
    Number,
}

const fn growth(key: &'static str, subject: &'static str, metric: &'static str) -> Source {
    Source { key, subject, metric, kind: TrackKind::Growth }
}

const fn level(key: &'static str, subject: &'static str, metric: &'static str) -> Source {
    Source { key, subject, metric, kind: TrackKind::Level }
}

/// Active sessions of the database in waits of this class.
const fn waits(key: &'static str, class: &'static str) -> Source {
    Source { key, subject: DATABASE, metric: class, kind: TrackKind::Number }
}

/// Whatever is not in a class of [`SOURCES`].
const OTHER_WAITS: &str = "other";

/// A track may be the sum of neighbouring sources.
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

/// The interface on which a machine talks to itself, which tells nothing of others.
const LOOPBACK: &str = "lo";

/// What is read of each thread. Those of the generator end with the load, and what they did since the last look is lost.
const OF_THREADS: [&str; 3] = ["switches_voluntary", "switches_involuntary", "run_queue_wait_s"];

/// Cores beyond this number are not told apart: no machine has them.
const CORES_MAX: u32 = 1 << 13;
/// Strips that a picture has room for.
const STRIPS_MAX: u32 = 32;

/// Everything read of a run, bin by bin.
pub(crate) struct Readings<'a> {
    /// Places in `tracks`.
    known: HashMap<(&'a str, &'a str), usize>,
    tracks: Vec<Track>,
    /// By number: what was read of them in this second.
    cores: Vec<Core>,
    /// One more than the highest number of a core.
    cores_end: u32,
    cores_per_strip: u32,
    strips: BTreeMap<u32, Means>,
    bins: Bins,
    /// Seconds that had load from their start to their end.
    whole_seconds: u64,
}

struct Track {
    key: &'static str,
    kind: TrackKind,
    /// Of the second that is being read.
    now: Option<f64>,
    means: Means,
}

/// Time that a core went through in the second that is being read.
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
                second.into_iter().for_each(|second| readings.turn(second));
            }
            second = Some(reading.second);
            readings.take(&reading);
        }
        second.into_iter().for_each(|second| readings.turn(second));
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
        if has_ended && OF_THREADS.contains(&metric) {
            return;
        }
        let source = match metric {
            "db_samples" => return self.sessions_were_sampled(),
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

    /// What no session waited for in this second is zero.
    fn sessions_were_sampled(&mut self) {
        let of_database = self.known.iter().filter(|((subject, _), _)| *subject == DATABASE);
        for (_, place) in of_database {
            self.tracks[*place].now.get_or_insert(0.0);
        }
    }

    /// Ends a second.
    fn turn(&mut self, second: u64) {
        let cores = (0..).zip(&self.cores).filter(|(_, core)| core.is_read);
        // The time that a core went through is how long it was between two looks: the last one comes early.
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

    /// Figures by key, and which cores have a strip among them. On a machine with many cores neighbours share a strip,
    /// which shows the busiest of them in each second.
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

/// Of cores that are shown one by one.
fn core(reading: &StoredReading<'_>) -> Option<CoreTime> {
    CoreTime::of(reading).filter(|core| core.number < CORES_MAX)
}

/// Of every track but the strips.
#[cfg(test)]
pub(super) fn keys() -> Vec<&'static str> {
    SOURCES.iter().map(|source| source.key).collect()
}
