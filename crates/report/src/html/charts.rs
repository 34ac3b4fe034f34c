//! The list of charts over time, in reading order.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use evidence::Unit;
use serde::Serialize;

use super::series::Series;
use super::threads::{self, ThreadTrack};

/// Chart over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct TimeChart {
    pub(crate) key: Cow<'static, str>,
    pub(crate) title: Cow<'static, str>,
    pub(crate) unit: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) tracks: Vec<TimeTrack>,
}

/// Line or strip of a chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct TimeTrack {
    pub(crate) key: String,
    pub(crate) label: String,
    pub(crate) subject: &'static str,
}

/// Neighboring cores that share a strip: the first and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Strip(pub(crate) u32, pub(crate) u32);

/// Builds charts for which at least one series has figures, with the tracks of these series.
pub(crate) fn of<'a>(series: impl Iterator<Item = &'a Series>, unit: Unit) -> Vec<TimeChart> {
    let (mut keys, mut strips, mut threads) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for one in series {
        keys.extend(one.tracks.keys().map(String::as_str));
        strips.extend(one.strips.iter().copied());
        threads.extend(one.threads.iter().filter(|track| one.tracks.contains_key(&track.key)));
    }
    let track = |track: &Track| {
        let Track { key, label, subject, .. } = *track;
        let label = if label.is_empty() { key.rsplit('_').next().unwrap_or_default() } else { label };
        TimeTrack { key: key.to_owned(), label: words_for_unit(label, unit).to_owned(), subject }
    };
    let of_chart = |chart: &Chart| {
        let tracks: Vec<TimeTrack> = match chart.kind {
            HEAT => strips.iter().map(Strip::track).collect(),
            _ => chart.tracks.iter().filter(|track| keys.contains(track.key)).map(track).collect(),
        };
        let Chart { key, title, unit: of_figures, kind, .. } = *chart;
        let (key, title, unit) = (key.into(), words_for_unit(title, unit).into(), of_figures);
        (!tracks.is_empty()).then_some(TimeChart { key, title, unit, kind, tracks })
    };
    let (of_load, of_resources) = CHARTS.split_at(LOAD_CHARTS);
    let mut charts: Vec<TimeChart> = of_load.iter().filter_map(of_chart).collect();
    charts.extend(of_threads(threads));
    charts.extend(of_resources.iter().filter_map(of_chart));
    charts
}

/// Builds one chart per process.
fn of_threads<'a>(threads: impl IntoIterator<Item = &'a ThreadTrack>) -> impl Iterator<Item = TimeChart> {
    let mut by_process: BTreeMap<&str, Vec<TimeTrack>> = BTreeMap::new();
    for ThreadTrack { process, key, label, .. } in threads {
        let (key, label) = (key.clone(), label.clone());
        by_process.entry(process).or_default().push(TimeTrack { key, label, subject: "system" });
    }
    by_process.into_iter().map(|(process, tracks)| TimeChart {
        key: threads::chart_key(process).into(),
        title: format!("Threads of {process}").into(),
        unit: "count",
        kind: STACK,
        tracks,
    })
}

/// Replaces words of the list below by those for transactions.
fn words_for_unit(words: &'static str, unit: Unit) -> &'static str {
    match (words, unit) {
        (ANSWERS_PER_SECOND, Unit::Transactions) => "Transactions per second",
        (PLANNED_REQUESTS, Unit::Transactions) => "planned transactions",
        _ => words,
    }
}

impl Strip {
    /// Key of its figures.
    pub(crate) fn key(&self) -> String {
        match *self {
            Self(first, last) if first == last => format!("core_{first}"),
            Self(first, last) => format!("core_{first}_{last}"),
        }
    }

    fn track(&self) -> TimeTrack {
        let label = match *self {
            Self(first, last) if first == last => format!("core {first}"),
            Self(first, last) => format!("busiest of cores {first}–{last}"),
        };
        TimeTrack { key: self.key(), label, subject: "machine" }
    }
}

/// Rule for storing a track.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrackRule {
    /// Maximum number of decimals that are meaningful: ticks of CPU time are hundredths of a second.
    pub(crate) decimals: u8,
    /// Whether the track is shown even if it is always zero.
    pub(crate) shows_zero: bool,
}

/// Rule of the track with this key.
pub(crate) fn kept(key: &str) -> TrackRule {
    let of_chart = |chart: &Chart| {
        let Chart { decimals, shows_zero, .. } = *chart;
        chart.tracks.iter().any(|track| track.key == key).then_some(TrackRule { decimals, shows_zero })
    };
    // Strips and tracks of threads are in no list.
    let other = TrackRule { decimals: 2, shows_zero: !key.starts_with(threads::PREFIX) };
    CHARTS.iter().find_map(of_chart).unwrap_or(other)
}

struct Chart {
    key: &'static str,
    title: &'static str,
    unit: &'static str,
    kind: &'static str,
    decimals: u8,
    shows_zero: bool,
    /// Tracks. Strips of a machine's cores are looked up in the series instead.
    tracks: &'static [Track],
}

struct Track {
    key: &'static str,
    label: &'static str,
    subject: &'static str,
}

const LINES: &str = "lines";
const TIMES: &str = "times";
const HEAT: &str = "heat";
const STACK: &str = "stack";

const fn load(key: &'static str, label: &'static str) -> Track {
    Track { key, label, subject: "load" }
}

/// A percentile of a duration. The end of its key is its label.
const fn percentile(key: &'static str) -> Track {
    load(key, "")
}

const fn system(key: &'static str, label: &'static str) -> Track {
    Track { key, label, subject: "system" }
}

const fn generator(key: &'static str, label: &'static str) -> Track {
    Track { key, label, subject: "generator" }
}

const fn machine(key: &'static str, label: &'static str) -> Track {
    Track { key, label, subject: "machine" }
}

/// Sessions of the database.
const fn database(key: &'static str, label: &'static str) -> Track {
    Track { key, label, subject: "database" }
}

const fn lines(
    key: &'static str,
    title: &'static str,
    unit: &'static str,
    tracks: &'static [Track],
) -> Chart {
    Chart { key, title, unit, kind: LINES, decimals: 2, shows_zero: false, tracks }
}

/// A chart of durations, to a tenth of a microsecond.
const fn times(key: &'static str, title: &'static str, tracks: &'static [Track]) -> Chart {
    Chart { key, title, unit: "ms", kind: TIMES, decimals: 4, shows_zero: false, tracks }
}

const ANSWERS_PER_SECOND: &str = "Answers per second";
const PLANNED_REQUESTS: &str = "planned requests";

/// Number of leading charts about the load and its results. Charts of threads follow them.
const LOAD_CHARTS: usize = 5;

const CHARTS: &[Chart] = &[
    Chart {
        shows_zero: true,
        ..lines(
            "rate",
            ANSWERS_PER_SECOND,
            "per_s",
            &[load("ok_per_s", "ok"), load("planned_per_s", PLANNED_REQUESTS)],
        )
    },
    times(
        "response",
        "Response time",
        &[
            percentile("response_p50"),
            percentile("response_p90"),
            percentile("response_p95"),
            percentile("response_p99"),
            percentile("response_max"),
        ],
    ),
    times(
        "lateness",
        "Send delay",
        &[
            percentile("lateness_p50"),
            percentile("lateness_p90"),
            percentile("lateness_p95"),
            percentile("lateness_p99"),
            percentile("lateness_max"),
        ],
    ),
    lines(
        "errors",
        "Errors per second",
        "per_s",
        &[
            load("rejected_per_s", "rejected"),
            load("failed_per_s", "failed"),
            load("timed_out_per_s", "timed out"),
            load("not_sent_per_s", "not sent"),
        ],
    ),
    Chart {
        kind: STACK,
        ..lines(
            "database",
            "Active sessions of the database",
            "count",
            &[
                database("db_cpu", "on CPU"),
                database("db_executing", "executing"),
                database("db_io", "I/O"),
                database("db_commit", "commit"),
                database("db_lwlock", "internal lock"),
                database("db_lock", "lock"),
                database("db_client", "client"),
                database("db_other", "other"),
            ],
        )
    },
    lines(
        "queue",
        "Connections waiting to be accepted",
        "count",
        &[system("listen_queue", "longest queue of the system")],
    ),
    Chart {
        shows_zero: true,
        ..lines(
            "cpu",
            "CPU",
            "cores",
            &[system("system_cores", "system"), generator("generator_cores", "generator")],
        )
    },
    lines(
        "machine_cpu",
        "CPU of the whole machine",
        "cores",
        &[
            machine("busy_cores", "busy"),
            machine("iowait_cores", "waiting for disks"),
            machine("stolen_cores", "taken by other virtual machines"),
        ],
    ),
    Chart {
        key: "cores",
        title: "Busy cores",
        unit: "share",
        kind: HEAT,
        decimals: 2,
        shows_zero: true,
        tracks: &[],
    },
    lines(
        "memory",
        "Resident memory",
        "bytes",
        &[system("system_rss", "system"), generator("generator_rss", "generator")],
    ),
    lines(
        "swap",
        "Memory swapped out",
        "bytes",
        &[
            system("system_swap", "system"),
            generator("generator_swap", "generator"),
            machine("machine_swap", "whole machine"),
        ],
    ),
    lines(
        "switches",
        "Context switches per second",
        "per_s",
        &[
            system("system_voluntary", "system, voluntary"),
            system("system_involuntary", "system, involuntary"),
            generator("generator_voluntary", "generator, voluntary"),
            generator("generator_involuntary", "generator, involuntary"),
        ],
    ),
    lines(
        "run_queue",
        "Threads ready to run that waited for a core",
        "count",
        &[system("system_run_queue", "system"), generator("generator_run_queue", "generator")],
    ),
    lines(
        "disk",
        "Disk",
        "bytes_per_s",
        &[
            system("system_disk_read", "read by the system"),
            system("system_disk_written", "written by the system"),
            machine("machine_disk_read", "read by the whole machine"),
            machine("machine_disk_written", "written by the whole machine"),
        ],
    ),
    lines(
        "network",
        "Network",
        "bytes_per_s",
        &[
            load("load_received", "received by the load"),
            load("load_sent", "sent by the load"),
            machine("machine_received", "received by the machine from others"),
            machine("machine_sent", "sent by the machine to others"),
        ],
    ),
    lines(
        "pressure",
        "Time in which some task waited",
        "share",
        &[
            machine("pressure_cpu", "for a core"),
            machine("pressure_memory", "for memory"),
            machine("pressure_io", "for disks"),
        ],
    ),
];

/// Keys of all tracks except strips.
#[cfg(test)]
pub(super) fn keys() -> Vec<&'static str> {
    CHARTS.iter().flat_map(|chart| chart.tracks).map(|track| track.key).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn series(keys: &[&str], strips: &[Strip]) -> Series {
        let points = || super::super::thin::Points { mid: Vec::new(), low: None, high: None };
        let tracks: BTreeMap<String, _> = keys.iter().map(|key| ((*key).to_owned(), points())).collect();
        Series { bin_s: 1, tracks, strips: strips.to_vec(), ..Series::default() }
    }

    #[test]
    fn chart_exists_if_any_run_has_figures() {
        let with_errors = series(&["ok_per_s", "failed_per_s"], &[]);
        let on_cores = series(&["ok_per_s", "core_0", "core_10"], &[Strip(0, 0), Strip(10, 10)]);
        let on_many = series(&["core_2_3"], &[Strip(2, 3)]);
        let charts = of([&with_errors, &on_cores, &on_many].into_iter(), Unit::Requests);
        let keys: Vec<&str> = charts.iter().map(|chart| chart.key.as_ref()).collect();
        assert_eq!(keys, ["rate", "errors", "cores"]);
        let labels: Vec<&str> = charts[2].tracks.iter().map(|track| track.label.as_str()).collect();
        assert_eq!(labels, ["core 0", "busiest of cores 2–3", "core 10"]);
        let keys: Vec<&str> = charts[2].tracks.iter().map(|track| track.key.as_str()).collect();
        assert_eq!(keys, ["core_0", "core_2_3", "core_10"]);
        assert_eq!(of(std::iter::empty(), Unit::Requests), []);
    }

    #[test]
    fn keys_of_tracks_are_unique() {
        let mut keys = keys();
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }
}
