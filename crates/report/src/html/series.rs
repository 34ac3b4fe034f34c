//! A run over time: its seconds and readings, put into as many bins as there is room for.

use std::collections::BTreeMap;

use record::Counts;
use serde::Serialize;
use store::{Model, Run, State, StoreError, Verdict};

use super::charts::{self, Strip};
use super::readings::Readings;
use super::thin::{Bins, Means, Points, Times};

/// Figures of one run over time, from the start of the load, warm-up included.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Series {
    /// Seconds in each bin; the first bin begins at 0.
    pub(crate) bin_s: u64,
    pub(crate) bins: usize,
    /// By the keys of [`charts`]. Most are left out where they are zero all the time.
    pub(crate) tracks: BTreeMap<String, Points>,
    /// Which cores have a strip among the tracks.
    #[serde(skip)]
    pub(crate) strips: Vec<Strip>,
}

/// Of a run that was loaded by itself, with at most `points_max` points a track; `None` if no second was kept of it.
///
/// Rates are told for whole seconds of load: not for the second in which the load ends, if it ends within one, and not for
/// what comes after it, when nothing is sent any more. Errors are told to the end, each in the second in which it was seen.
pub(crate) fn of(run: &Run, points_max: usize) -> Result<Option<Series>, StoreError> {
    let seconds = run.counts().map(|(second, ..)| second).chain(run.readings().map(|reading| reading.second));
    let Some(last) = seconds.max() else { return Ok(None) };
    let bins = Bins::fitting(last.saturating_add(1), points_max);
    let mut load = OfLoad::new(bins, whole_seconds(run));
    for interval in run.seconds() {
        let (_, interval) = interval?;
        let (second, tally) = (interval.second, &interval.tally);
        load.take(second, &Counted::of(&tally.counts, tally.received_bytes, tally.sent_bytes));
        for split in [&tally.response.ok, &tally.response.refused, &tally.response.other] {
            load.response.add(second, split);
        }
        for split in [&tally.lateness.ok, &tally.lateness.refused, &tally.lateness.other] {
            load.lateness.add(second, split);
        }
    }
    let mut tracks = load.tracks(run.new.model);
    let (of_readings, strips) = Readings::of(run, bins, points_max).tracks();
    tracks.extend(of_readings);
    let says_something = |key: &str, points: &Points| {
        !points.is_empty() && (!points.is_zero() || charts::shows_zero(key) || key.starts_with("core_"))
    };
    let tracks =
        tracks.into_iter().filter(|(key, points)| says_something(key, points)).collect::<BTreeMap<_, _>>();
    Ok(Some(Series { bin_s: bins.bin_s, bins: bins.count, tracks, strips }))
}

/// How many seconds had load from their start to their end.
fn whole_seconds(run: &Run) -> u64 {
    let planned_ns =
        run.new.planned_duration_ns.map(|planned_ns| planned_ns.saturating_add(run.new.warm_up_ns));
    let lasted_ns = run.ending.as_ref().map(|ending| {
        let lasted_ms = ending.ended_at_unix_ms.saturating_sub(run.new.started_at_unix_ms);
        u64::try_from(lasted_ms).unwrap_or(0).saturating_add(1).saturating_mul(1_000_000)
    });
    let came_to_its_end =
        matches!(run.state, State::Ended(Verdict::Complete | Verdict::Degraded | Verdict::Invalid));
    match (planned_ns, lasted_ns) {
        (Some(planned_ns), Some(lasted_ns)) if came_to_its_end && planned_ns <= lasted_ns => {
            planned_ns / 1_000_000_000
        }
        // Requests, a signal or a fault ended the load at some instant of the last second in which anything was sent.
        _ => {
            let sending = run.counts().filter(|(.., counts)| counts.sent > 0);
            sending.map(|(second, ..)| second).max().unwrap_or(0)
        }
    }
}

/// Tracks of counts, by their keys.
const COUNTED: [&str; 8] = [
    "ok_per_s",
    "planned_per_s",
    "load_received",
    "load_sent",
    "refused_per_s",
    "failed_per_s",
    "timed_out_per_s",
    "not_sent_per_s",
];
const PLANNED: usize = 1;
/// The first so many are rates, which need whole seconds.
const RATES: usize = 4;

/// What a second has of each of [`COUNTED`].
#[derive(Clone, Copy, Default)]
struct Counted([u64; COUNTED.len()]);

impl Counted {
    fn of(counts: &Counts, received_bytes: u64, sent_bytes: u64) -> Self {
        let Counts { planned, not_sent, ok, refused, failed, timed_out, .. } = *counts;
        Self([ok, planned, received_bytes, sent_bytes, refused, failed, timed_out, not_sent])
    }
}

struct OfLoad {
    /// Seconds from here on have no rates.
    whole_seconds: u64,
    means: [Means; COUNTED.len()],
    last: u64,
    of_last: Counted,
    response: Times,
    lateness: Times,
}

impl OfLoad {
    fn new(bins: Bins, whole_seconds: u64) -> Self {
        Self {
            whole_seconds,
            means: std::array::from_fn(|_| Means::new(bins)),
            last: 0,
            of_last: Counted::default(),
            response: Times::new(bins),
            lateness: Times::new(bins),
        }
    }

    /// Seconds must come in order; several threads and steps share one.
    fn take(&mut self, second: u64, counted: &Counted) {
        if self.last != second {
            self.turn();
            self.last = second;
        }
        for (sum, more) in self.of_last.0.iter_mut().zip(counted.0) {
            *sum = sum.saturating_add(more);
        }
    }

    fn turn(&mut self) {
        let Counted(amounts) = std::mem::take(&mut self.of_last);
        for (place, (means, amount)) in self.means.iter_mut().zip(amounts).enumerate() {
            if place >= RATES || self.last < self.whole_seconds {
                means.add(self.last, amount as f64, 1.0);
            }
        }
    }

    fn tracks(mut self, model: Model) -> Vec<(String, Points)> {
        self.turn();
        let (end, whole_seconds) = (self.last.saturating_add(1), self.whole_seconds);
        let mut tracks = Vec::new();
        for (place, (key, means)) in COUNTED.into_iter().zip(&mut self.means).enumerate() {
            means.silent_before(if place < RATES { end.min(whole_seconds) } else { end });
            if place != PLANNED || model == Model::Open {
                tracks.push((key.to_owned(), means.points()));
            }
        }
        let keys = |kind: &str| ["p50", "p99", "max"].map(|name| format!("{kind}_{name}"));
        tracks.extend(keys("response").into_iter().zip(self.response.points()));
        tracks.extend(keys("lateness").into_iter().zip(self.lateness.points()));
        tracks
    }
}
