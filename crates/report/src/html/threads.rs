//! States of a system's threads over time. Each process has a stacked chart.

use std::collections::{BTreeMap, BTreeSet};

use evidence::{Run, StoredReading};
use judge::words::percent;

use super::thin::{Bins, Means, Points};
use crate::text::sanitize;
use crate::units::decimal;

/// Prefix of the keys of these charts. With a state it is the prefix of their tracks: `threads/futex/app`.
pub(super) const PREFIX: &str = "threads/";
/// Maximum number of characters of a process name, and of the address of a dependency.
const NAME_CHARACTERS_MAX: usize = 60;
/// Max number of dependencies per process that get a separate area.
const PEERS_MAX: usize = 3;

/// States from bottom to top: key, label, and readings that are added. They count threads that can carry requests.
const STATES: [(&str, &str, &[&str]); 12] = [
    ("on_cpu", "on CPU", &["threads_on_cpu"]),
    ("runnable", "ready to run", &["threads_runnable"]),
    ("disk", "disk", &["threads_disk"]),
    ("futex", "futex (lock or queue)", &["threads_futex"]),
    // The label ends with the address of the dependency.
    ("peer", "reply from ", &[]),
    ("socket_read", "socket: read", &["threads_socket_read"]),
    ("socket_write", "socket: write, connect", &["threads_socket_write", "threads_connect"]),
    ("pipe", "pipe", &["threads_pipe_read", "threads_pipe_write"]),
    ("timer", "timer", &["threads_timer"]),
    ("accept", "accept, poll", &["threads_accept", "threads_poll"]),
    ("stopped", "stopped", &["threads_stopped"]),
    ("other", "other sleep", &["threads_other", "threads_file_lock"]),
];
const PEER: usize = 4;
const SOCKET_READ: usize = 5;
/// Other roles, above the states of workers. All states of a role form one area.
const ROLES: [(&str, &str); 2] = [("listener", "listeners"), ("runtime", "garbage collector, compiler")];
const WORKER: &str = "worker";
const IDLE: &str = "idle";

/// Area of a chart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ThreadTrack {
    /// Name of the process, cut to fit.
    pub(crate) process: String,
    /// Position from the bottom.
    place: usize,
    pub(crate) key: String,
    pub(crate) label: String,
}

/// The charts of one run.
#[derive(Default)]
pub(super) struct ThreadStates {
    pub(super) points: Vec<(String, Points)>,
    pub(super) tracks: Vec<ThreadTrack>,
    /// Notes on charts, by key of the chart.
    pub(super) notes: BTreeMap<String, String>,
}

/// Key of the chart of a process.
pub(super) fn chart_key(process: &str) -> String {
    format!("{PREFIX}{process}")
}

/// States of the threads of every process that was sampled.
pub(super) fn of(run: &Run, bins: Bins, whole_seconds: u64) -> ThreadStates {
    let peers = peers(run);
    let mut all: BTreeMap<&str, Process<'_>> = BTreeMap::new();
    for StoredReading { second, subject, metric, label, value } in run.readings() {
        if !(metric.starts_with("threads_") || metric.starts_with("thread_")) || !value.is_finite() {
            continue;
        }
        let process = all.entry(subject).or_insert_with(|| Process::new(bins, whole_seconds));
        if second != process.second {
            process.end_second();
            process.second = second;
        }
        match metric {
            "thread_samples" => process.samples = Some(value),
            "thread_coverage_share" => process.coverage = value,
            "threads_dependency_read" => {
                let has_own_area = peers.get(subject).is_some_and(|told| told.contains(label));
                *process.peers.entry(if has_own_area { label } else { "" }).or_default() += value;
            }
            metric => process.take(metric, label, value),
        }
    }
    let mut states = ThreadStates::default();
    for (name, mut process) in all {
        process.end_second();
        process.finish(&sanitize(name, NAME_CHARACTERS_MAX), &mut states);
    }
    states
}

/// Dependencies that the threads of each process waited for most.
fn peers(run: &Run) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut sums: BTreeMap<&str, BTreeMap<&str, f64>> = BTreeMap::new();
    for reading in run.readings().filter(|reading| reading.metric == "threads_dependency_read") {
        *sums.entry(reading.subject).or_default().entry(reading.label).or_default() += reading.value;
    }
    let mut peers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (process, sums) in sums {
        let mut ranked: Vec<(&str, f64)> = sums.into_iter().collect();
        ranked.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        peers.insert(process, ranked.into_iter().take(PEERS_MAX).map(|(peer, _)| peer).collect());
    }
    peers
}

/// Threads of one process of the plan, second by second.
struct Process<'a> {
    bins: Bins,
    whole_seconds: u64,
    /// The second that is being read, and its readings.
    second: u64,
    samples: Option<f64>,
    coverage: f64,
    now: [f64; STATES.len() + ROLES.len()],
    peers: BTreeMap<&'a str, f64>,
    idle: f64,
    /// Means by position of the area, and by address of a dependency.
    means: BTreeMap<(usize, &'a str), Means>,
    sums: Sums,
}

/// Sums over the seconds of the load.
#[derive(Default)]
struct Sums {
    seconds: f64,
    samples: f64,
    coverage: f64,
    idle: f64,
}

impl<'a> Process<'a> {
    fn new(bins: Bins, whole_seconds: u64) -> Self {
        Self {
            bins,
            whole_seconds,
            second: 0,
            samples: None,
            coverage: 0.0,
            now: [0.0; STATES.len() + ROLES.len()],
            peers: BTreeMap::new(),
            idle: 0.0,
            means: BTreeMap::new(),
            sums: Sums::default(),
        }
    }

    fn take(&mut self, metric: &str, role: &str, value: f64) {
        let is_state = |(_, _, metrics): &&(&str, &str, &[&str])| metrics.contains(&metric);
        let Some(state) = STATES.iter().position(|state| is_state(&state)) else { return };
        match role {
            WORKER => self.now[state] += value,
            IDLE => self.idle += value,
            role => {
                if let Some(at) = ROLES.iter().position(|(known, _)| *known == role) {
                    self.now[STATES.len() + at] += value;
                }
            }
        }
    }

    /// Ends a second. If the second has samples, states without a reading had no thread.
    fn end_second(&mut self) {
        let mut now = std::mem::replace(&mut self.now, [0.0; STATES.len() + ROLES.len()]);
        let peers = std::mem::take(&mut self.peers);
        let (idle, coverage) = (std::mem::take(&mut self.idle), std::mem::take(&mut self.coverage));
        let Some(samples) = self.samples.take() else { return };
        now[SOCKET_READ] = (now[SOCKET_READ] - peers.values().sum::<f64>()).max(0.0);
        let (bins, second) = (self.bins, self.second);
        let mut add = |place: usize, peer: &'a str, threads: f64| {
            self.means.entry((place, peer)).or_insert_with(|| Means::new(bins)).add(second, threads, 1.0);
        };
        let states = now.iter().enumerate().filter(|(place, _)| *place != PEER);
        states.for_each(|(place, threads)| add(place, "", *threads));
        peers.into_iter().for_each(|(peer, threads)| add(PEER, peer, threads));
        if second < self.whole_seconds {
            self.sums.seconds += 1.0;
            self.sums.samples += samples;
            self.sums.coverage += coverage;
            self.sums.idle += idle;
        }
    }

    fn finish(self, name: &str, states: &mut ThreadStates) {
        for ((place, peer), means) in self.means {
            let (state, label) = match STATES.get(place) {
                Some((state, label, _)) => (*state, *label),
                None => ROLES[place - STATES.len()],
            };
            let (key, label) = match (place, sanitize(peer, NAME_CHARACTERS_MAX)) {
                (PEER, peer) if peer.is_empty() => ("peers".to_owned(), "other replies".to_owned()),
                (PEER, peer) => (format!("peer {peer}"), format!("{label}{peer}")),
                _ => (state.to_owned(), label.to_owned()),
            };
            let key = format!("{PREFIX}{key}/{name}");
            states.tracks.push(ThreadTrack { process: name.to_owned(), place, key: key.clone(), label });
            states.points.push((key, means.points()));
        }
        if let Some(note) = self.sums.note() {
            states.notes.insert(chart_key(name), note);
        }
    }
}

impl Sums {
    fn note(&self) -> Option<String> {
        let mean = |sum: f64| Some(sum / self.seconds).filter(|mean| mean.is_finite());
        let (samples, coverage, idle) = (mean(self.samples)?, mean(self.coverage)?, mean(self.idle)?);
        let read = format!(
            "{} of the threads were read in each second, {} times",
            percent(coverage, 0),
            decimal(samples, 0)
        );
        let others = if coverage < 0.995 { "; the others are not drawn" } else { "" };
        let idle = match decimal(idle, 1).as_str() {
            "0.0" => String::new(),
            idle => format!("; not drawn: {idle} threads that had not run lately"),
        };
        Some(format!("{read}{others}{idle}."))
    }
}

#[cfg(test)]
mod tests {
    use evidence::Reading;
    use fixtures::{OwnStore, ending, new_run, reading};

    use super::*;

    fn states(seconds: &[Vec<Reading>]) -> ThreadStates {
        let seconds: Vec<(u64, Vec<Reading>)> = (0..).zip(seconds.iter().cloned()).collect();
        let run = OwnStore::new().kept(&new_run(), &[], &seconds, &ending());
        of(&run, Bins::fitting(seconds.len() as u64, 100), seconds.len() as u64)
    }

    fn mids(states: &ThreadStates, key: &str) -> Vec<Option<f64>> {
        let points = states.points.iter().find(|(known, _)| known == key);
        points.map_or_else(Vec::new, |(_, points)| points.mid.iter().map(|figure| figure.get()).collect())
    }

    fn sampled(coverage: f64) -> Vec<Reading> {
        vec![
            reading("app", "thread_samples", "", 20.0),
            reading("app", "thread_coverage_share", "", coverage),
            reading("app", "threads", "", 99.0),
        ]
    }

    #[test]
    fn stacks_states_of_workers_below_other_roles() {
        let mut first = sampled(1.0);
        first.extend([
            reading("app", "threads_on_cpu", "worker", 0.5),
            reading("app", "threads_pipe_read", "worker", 1.0),
            reading("app", "threads_pipe_write", "worker", 1.0),
            reading("app", "threads_futex", "runtime", 2.0),
            reading("app", "threads_on_cpu", "runtime", 1.0),
            reading("app", "threads_futex", "idle", 40.0),
            reading("app", "threads_futex_same", "worker", 9.0),
        ]);
        let states = states(&[first, sampled(1.0), vec![]]);
        assert_eq!(mids(&states, "threads/on_cpu/app"), [Some(0.5), Some(0.0), None]);
        assert_eq!(mids(&states, "threads/pipe/app"), [Some(2.0), Some(0.0), None]);
        assert_eq!(mids(&states, "threads/runtime/app"), [Some(3.0), Some(0.0), None]);
        assert_eq!(mids(&states, "threads/futex/app"), [Some(0.0), Some(0.0), None]);
        let note = "100 % of the threads were read in each second, 20 times; not drawn: 20.0 threads that had not run lately.";
        assert_eq!(states.notes["threads/app"], note);
        let mut sorted = states.tracks.clone();
        sorted.sort();
        assert_eq!(sorted, states.tracks, "from the ground up");
    }

    #[test]
    fn reads_from_dependencies_are_separate_areas_by_address() {
        let mut second = sampled(0.25);
        second.push(reading("app", "threads_socket_read", "worker", 8.0));
        for (peer, threads) in [("10.0.0.1:1", 4.0), ("10.0.0.2:1", 0.5), ("b", 1.0), ("c", 2.0), ("d", 0.25)]
        {
            second.push(reading("app", "threads_dependency_read", peer, threads));
        }
        let states = states(&[second]);
        assert_eq!(mids(&states, "threads/peer 10.0.0.1:1/app"), [Some(4.0)]);
        assert_eq!(mids(&states, "threads/peers/app"), [Some(0.75)], "two of five");
        assert_eq!(mids(&states, "threads/socket_read/app"), [Some(0.25)]);
        let note = "25 % of the threads were read in each second, 20 times; the others are not drawn.";
        assert_eq!(states.notes["threads/app"], note);
    }

    #[test]
    fn process_without_samples_has_no_chart() {
        let states = states(&[vec![reading("app", "threads", "", 4.0)]]);
        assert!(states.points.is_empty() && states.notes.is_empty());
    }
}
