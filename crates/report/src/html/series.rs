//! A run over time: its seconds and readings, combined into as many bins as there is room for.

use std::collections::BTreeMap;

use evidence::{EvidenceError, Model, PackedSecond, Run, RunState, Verdict};
use record::{Counts, Percentile};
use serde::Serialize;

use super::charts::{self, Strip};
use super::readings::Readings;
use super::thin::{Bins, Means, Points, Times};
use super::threads::{self, ThreadStates, ThreadTrack};
use crate::durations::{key, name};

/// Time series of one run, from the start of the load, warm-up included.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Series {
    /// Length of a bin in seconds. The first bin begins at 0.
    pub(crate) bin_s: u64,
    pub(crate) bins: usize,
    /// Tracks by the keys of [`charts`]. Most are omitted if they are always zero.
    pub(crate) tracks: BTreeMap<String, Points>,
    /// Notes on charts, by key of the chart.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) notes: BTreeMap<String, String>,
    /// Cores that have a strip in the tracks.
    #[serde(skip)]
    pub(crate) strips: Vec<Strip>,
    /// Tracks of threads.
    #[serde(skip)]
    pub(crate) threads: Vec<ThreadTrack>,
}

/// Time series of a run that was loaded with its per-second data, with at most `points_max` points per track. `None` if no second
/// was stored.
///
/// Rates exist only for whole seconds of load. The second in which the load ends, and later seconds, in which nothing is sent, have none.
/// Durations of requests that ended later are counted in the last whole second, so that none is lost and lines end with the load. They are
/// too few to fill a second. Errors are shown until the end, each in the second in which it occurred.
pub(crate) fn of(run: &Run, points_max: usize) -> Result<Option<Series>, EvidenceError> {
    let seconds = run.packed_seconds()?.map(|packed| packed.second());
    let Some(last) = seconds.chain(run.readings().map(|reading| reading.second)).max() else {
        return Ok(None);
    };
    let bins = Bins::fitting(last.saturating_add(1), points_max);
    let whole_seconds = whole_seconds(run)?;
    let last_whole = whole_seconds.saturating_sub(1);
    let upper = upper(run, bins, last_whole)?;
    let mut load = LoadTracks::new(bins, whole_seconds, upper);
    for packed in run.packed_seconds()? {
        load.take(packed.second(), &SecondCounts::of(&packed));
        let second = packed.second().min(last_whole);
        let [response, lateness] = [&mut load.response, &mut load.lateness].map(|times| times.at(second));
        for (response, lateness) in response.into_iter().zip(lateness) {
            packed.add_to([response, lateness])?;
        }
    }
    let mut tracks = load.tracks(run.new.model);
    let (of_readings, strips) = Readings::of(run, bins, whole_seconds).tracks();
    tracks.extend(of_readings);
    let ThreadStates { points, tracks: threads, notes } = threads::of(run, bins, whole_seconds);
    tracks.extend(points);
    let finish = |(key, points): (String, Points)| {
        let kept = charts::kept(&key);
        let points = points.to_decimals(kept.decimals);
        let is_informative = !points.is_empty() && (kept.shows_zero || !points.is_zero());
        is_informative.then_some((key, points))
    };
    let tracks = tracks.into_iter().filter_map(finish).collect();
    Ok(Some(Series { bin_s: bins.bin_s, bins: bins.count, tracks, notes, strips, threads }))
}

/// Number of seconds that had load from start to end.
fn whole_seconds(run: &Run) -> Result<u64, EvidenceError> {
    let planned_ns =
        run.new.planned_duration_ns.map(|planned_ns| planned_ns.saturating_add(run.new.warm_up_ns));
    let lasted_ns = run.ending.as_ref().map(|ending| {
        let lasted_ms = ending.ended_at_unix_ms.saturating_sub(run.new.started_at_unix_ms);
        u64::try_from(lasted_ms).unwrap_or(0).saturating_add(1).saturating_mul(1_000_000)
    });
    let has_reached_end =
        matches!(run.state, RunState::Ended(Verdict::Complete | Verdict::Degraded | Verdict::Invalid));
    match (planned_ns, lasted_ns) {
        (Some(planned_ns), Some(lasted_ns)) if has_reached_end && planned_ns <= lasted_ns => {
            Ok(planned_ns / 1_000_000_000)
        }
        // A request limit, a signal, or a failure ended the load within the last second with sent requests.
        _ => {
            let sending = run.packed_seconds()?.filter(|packed| packed.counts().sent > 0);
            Ok(sending.map(|packed| packed.second()).max().unwrap_or(0))
        }
    }
}

/// Percentiles for the line next to the median, in order of preference.
const UPPER_PERCENTILES: [Percentile; 3] = [Percentile::P99, Percentile::P95, Percentile::P90];

/// Highest percentile of [`UPPER_PERCENTILES`] that has enough samples in nine of ten bins of the load, so that its line has few gaps. If there
/// is none, only bins count in which the lowest percentile has enough samples.
fn upper(run: &Run, bins: Bins, last_whole: u64) -> Result<Percentile, EvidenceError> {
    let mut ended = vec![0u64; bins.place(last_whole).min(bins.count.saturating_sub(1)) + 1];
    for packed in run.packed_seconds()? {
        let Counts { ok, rejected, failed, timed_out, .. } = *packed.counts();
        if let Some(of_bin) = ended.get_mut(bins.place(packed.second().min(last_whole))) {
            *of_bin = [ok, rejected, failed, timed_out].into_iter().fold(*of_bin, u64::saturating_add);
        }
    }
    let told =
        |percentile: &Percentile| ended.iter().filter(|count| percentile.is_printable(**count)).count();
    let [.., lowest] = UPPER_PERCENTILES;
    let is_enough = |told: usize, of: usize| told * 10 >= of * 9;
    let of = if is_enough(told(&lowest), ended.len()) { ended.len() } else { told(&lowest) };
    Ok(UPPER_PERCENTILES.into_iter().find(|one| is_enough(told(one), of)).unwrap_or(lowest))
}

/// Keys of tracks of counts.
const COUNT_TRACKS: [&str; 8] = [
    "ok_per_s",
    "planned_per_s",
    "load_received",
    "load_sent",
    "rejected_per_s",
    "failed_per_s",
    "timed_out_per_s",
    "not_sent_per_s",
];
const PLANNED_TRACK: usize = 1;
/// Number of leading tracks in [`COUNT_TRACKS`] that are rates, which need whole seconds.
const RATE_TRACKS: usize = 4;

/// Counts of a second for each track of [`COUNT_TRACKS`].
#[derive(Clone, Copy, Default)]
struct SecondCounts([u64; COUNT_TRACKS.len()]);

impl SecondCounts {
    fn of(packed: &PackedSecond<'_>) -> Self {
        let Counts { planned, not_sent, ok, rejected, failed, timed_out, .. } = *packed.counts();
        let [received_bytes, sent_bytes] = packed.received_and_sent_bytes();
        Self([ok, planned, received_bytes, sent_bytes, rejected, failed, timed_out, not_sent])
    }
}

struct LoadTracks {
    /// Number of seconds with rates. Later ones have none.
    whole_seconds: u64,
    means: [Means; COUNT_TRACKS.len()],
    last: u64,
    of_last: SecondCounts,
    upper: Percentile,
    response: Times,
    lateness: Times,
}

impl LoadTracks {
    fn new(bins: Bins, whole_seconds: u64, upper: Percentile) -> Self {
        Self {
            whole_seconds,
            means: std::array::from_fn(|_| Means::new(bins)),
            last: 0,
            of_last: SecondCounts::default(),
            upper,
            response: Times::new(bins, upper),
            lateness: Times::new(bins, upper),
        }
    }

    /// Adds counts. Seconds must come in order; several threads and steps share one.
    fn take(&mut self, second: u64, counted: &SecondCounts) {
        if self.last != second {
            self.end_second();
            self.last = second;
        }
        for (sum, more) in self.of_last.0.iter_mut().zip(counted.0) {
            *sum = sum.saturating_add(more);
        }
    }

    fn end_second(&mut self) {
        let SecondCounts(amounts) = std::mem::take(&mut self.of_last);
        for (place, (means, amount)) in self.means.iter_mut().zip(amounts).enumerate() {
            if place >= RATE_TRACKS || self.last < self.whole_seconds {
                means.add(self.last, amount as f64, 1.0);
            }
        }
    }

    fn tracks(mut self, model: Model) -> Vec<(String, Points)> {
        self.end_second();
        let (end, whole_seconds) = (self.last.saturating_add(1), self.whole_seconds);
        let mut tracks = Vec::new();
        for (place, (key, means)) in COUNT_TRACKS.into_iter().zip(&mut self.means).enumerate() {
            means.fill_zeros_before(if place < RATE_TRACKS { end.min(whole_seconds) } else { end });
            if place != PLANNED_TRACK || model == Model::Open {
                tracks.push((key.to_owned(), means.points()));
            }
        }
        let [median, upper] = [Percentile::P50, self.upper].map(|one| key(&name(one)));
        let keys = |kind: &str| [&median, &upper, "max"].map(|figure| format!("{kind}_{figure}"));
        tracks.extend(keys("response").into_iter().zip(self.response.points()));
        tracks.extend(keys("lateness").into_iter().zip(self.lateness.points()));
        tracks
    }
}

#[cfg(test)]
mod tests {
    use evidence::{Ending, NewRun, Reading};
    use fixtures::{OwnStore, reading};
    use record::{Histogram, Interval, Phase, Tally};

    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    /// Seconds with ok answers of 1 ms each: pairs of second and count.
    fn answers(seconds: &[(u64, u64)]) -> Vec<Interval> {
        let interval = |(second, ok): &(u64, u64)| {
            let mut tally = Tally::default();
            let counts = &mut tally.counts;
            (counts.planned, counts.sent, counts.ok) = (*ok, *ok, *ok);
            tally.response.ok.record_many(1_000_000, *ok);
            tally.last_finished_ns = second.checked_mul(SECOND_NS);
            let phase = if *second == 0 { Phase::WarmUp } else { Phase::Measured };
            Interval { second: *second, phase, tally, sampled: Vec::new() }
        };
        seconds.iter().map(interval).collect()
    }

    fn new_run(model: Model, planned_duration_ns: Option<u64>) -> NewRun {
        NewRun { model, warm_up_ns: SECOND_NS, planned_duration_ns, ..fixtures::new_run() }
    }

    fn ending(verdict: Verdict, ended_at_unix_ms: i64) -> Ending {
        Ending { verdict, ended_at_unix_ms, ..fixtures::ending() }
    }

    fn stored(new: &NewRun, seconds: &[Interval], readings: &[(u64, Vec<Reading>)], ending: &Ending) -> Run {
        OwnStore::new().kept(new, seconds, readings, ending)
    }

    fn mids(series: &Series, key: &str) -> Vec<Option<f64>> {
        series.tracks[key].mid.iter().map(|figure| figure.get()).collect()
    }

    #[test]
    fn run_without_seconds_has_no_series() {
        let run = stored(&new_run(Model::Closed, None), &[], &[], &ending(Verdict::Aborted, 0));
        assert_eq!(of(&run, 100).unwrap(), None);
    }

    #[test]
    fn merges_threads_and_phases_and_fills_silent_seconds_with_zero() {
        let new = new_run(Model::Closed, Some(3 * SECOND_NS));
        let seconds = answers(&[(0, 5), (1, 30), (1, 12), (3, 7), (4, 2)]);
        let run = stored(&new, &seconds, &[], &ending(Verdict::Complete, 4_200));
        let series = of(&run, 100).unwrap().unwrap();
        assert_eq!((series.bin_s, series.bins), (1, 5));
        let rates = [Some(5.0), Some(42.0), Some(0.0), Some(7.0), None];
        assert_eq!(mids(&series, "ok_per_s"), rates, "nothing was sent in the fifth");
        assert_eq!(mids(&series, "response_max"), [Some(1.0), Some(1.0), None, Some(1.0), None]);
        assert_eq!(mids(&series, "response_p50"), [None, Some(1.0), None, None, None]);
        assert!(!series.tracks.contains_key("planned_per_s"), "of users nothing is planned by the second");
        assert!(!series.tracks.contains_key("failed_per_s"));
    }

    #[test]
    fn partial_second_of_load_has_no_rate() {
        let seconds = answers(&[(0, 50), (1, 50), (2, 20)]);
        let rates = |planned_ns, verdict, ended_at_unix_ms| {
            let new = new_run(Model::Open, planned_ns);
            let series = of(&stored(&new, &seconds, &[], &ending(verdict, ended_at_unix_ms)), 100);
            mids(&series.unwrap().unwrap(), "planned_per_s")
        };
        let without_last = [Some(50.0), Some(50.0), None];
        assert_eq!(rates(Some(3 * SECOND_NS / 2), Verdict::Complete, 2_600), without_last);
        assert_eq!(rates(None, Verdict::Complete, 2_400), without_last, "a number of requests");
        assert_eq!(
            rates(Some(60 * SECOND_NS), Verdict::Complete, 2_400),
            without_last,
            "requests came first"
        );
        assert_eq!(rates(Some(2 * SECOND_NS), Verdict::Partial, 2_400), without_last, "stopped");
        assert_eq!(
            rates(Some(2 * SECOND_NS), Verdict::Degraded, 3_000),
            [Some(50.0), Some(50.0), Some(20.0)]
        );
    }

    #[test]
    fn errors_are_shown_until_the_end() {
        let mut seconds = answers(&[(0, 50), (1, 50)]);
        seconds[1].tally.counts.sent += 4;
        seconds[1].tally.counts.planned += 4;
        let mut late = answers(&[(3, 0)]);
        late[0].tally.counts.timed_out = 4;
        seconds.extend(late);
        let new = new_run(Model::Closed, Some(SECOND_NS));
        let series = of(&stored(&new, &seconds, &[], &ending(Verdict::Complete, 4_000)), 100);
        let series = series.unwrap().unwrap();
        let timed_out = [Some(0.0), Some(0.0), Some(0.0), Some(4.0)];
        assert_eq!(mids(&series, "timed_out_per_s"), timed_out);
        assert_eq!(mids(&series, "ok_per_s"), [Some(50.0), Some(50.0), None, None]);
    }

    #[test]
    fn late_ends_count_in_last_whole_second() {
        let mut seconds = answers(&[(0, 50), (1, 50)]);
        let mut late = answers(&[(2, 1), (5, 1)]);
        late[1].tally.response.ok = Histogram::new();
        late[1].tally.response.ok.record(4_000_000_000);
        seconds.extend(late);
        let new = new_run(Model::Open, Some(SECOND_NS));
        let run = stored(&new, &seconds, &[], &ending(Verdict::Complete, 6_000));
        let series = of(&run, 100).unwrap().unwrap();
        assert_eq!(mids(&series, "response_max"), [Some(1.0), Some(4_000.0), None, None, None, None]);
        assert_eq!(mids(&series, "response_p50"), [Some(1.0), Some(1.0), None, None, None, None]);
        let of_drain_alone = stored(&new, &answers(&[(3, 50)]), &[], &ending(Verdict::Aborted, 6_000));
        let series = of(&of_drain_alone, 100).unwrap().unwrap();
        assert_eq!(mids(&series, "response_max")[2], Some(1.0), "nothing is lost");
    }

    #[test]
    fn draws_percentile_that_most_bins_have() {
        let keys = |counts: &[u64], points_max: usize| {
            let seconds: Vec<(u64, u64)> = (0..).zip(counts.iter().copied()).collect();
            let new = new_run(Model::Closed, Some((counts.len() as u64 - 1) * SECOND_NS));
            let run = stored(&new, &answers(&seconds), &[], &ending(Verdict::Complete, 60_000));
            let series = of(&run, points_max).unwrap().unwrap();
            let is_upper = |key: &&String| key.starts_with("response_p") && !key.ends_with("p50");
            series.tracks.keys().filter(is_upper).cloned().collect::<Vec<String>>()
        };
        assert_eq!(keys(&[1_000; 20], 100), ["response_p99"]);
        let with = |few: usize, count: u64| {
            (0..20).map(|second| if second < few { count } else { 1_000 }).collect::<Vec<u64>>()
        };
        assert_eq!(keys(&with(2, 999), 100), ["response_p99"], "nine of ten are enough");
        assert_eq!(keys(&with(3, 999), 100), ["response_p95"]);
        assert_eq!(keys(&with(3, 999), 10), ["response_p99"], "longer bins have more samples");
        assert_eq!(keys(&with(3, 150), 100), ["response_p90"]);
        assert_eq!(keys(&with(10, 20), 100), ["response_p99"], "half of it stood still");
        assert_eq!(keys(&[20; 20], 100), [""; 0]);
    }

    #[test]
    fn readings_are_rates_over_time_between_two_samples() {
        let look = |busy_s: f64, over_s: f64| {
            let mut readings = vec![
                reading("system", "cpu_user_s", "", busy_s),
                reading("system", "cpu_sys_s", "", busy_s),
                reading("system", "rss_bytes", "", 1e6),
                reading("system", "listen_queue", "80", 1.0),
                reading("system", "listen_queue", "443", 3.0),
                reading("machine", "net_sent_bytes", "lo", 1e9),
                reading("machine", "net_sent_bytes", "eth0", 100.0),
                reading("machine", "net_sent_bytes", "eth1", 20.0),
                reading("app", "rss_bytes", "", 9e9),
            ];
            for core in ["core0", "core1"] {
                let of_core = if core == "core0" { busy_s } else { 0.0 };
                readings.push(reading("machine", "cpu_user_s", core, of_core));
                readings.push(reading("machine", "cpu_idle_s", core, over_s - of_core));
            }
            readings
        };
        let new = new_run(Model::Closed, Some(3 * SECOND_NS));
        let readings = [(0, look(0.5, 1.0)), (1, look(0.25, 0.5)), (3, look(1.0, 2.0))];
        let run = stored(&new, &answers(&[(0, 1)]), &readings, &ending(Verdict::Complete, 4_000));
        let series = of(&run, 100).unwrap().unwrap();
        let every_look = |figure: f64| [Some(figure), Some(figure), None, Some(figure)];
        assert_eq!(mids(&series, "system_cores"), every_look(1.0));
        assert_eq!(mids(&series, "busy_cores"), every_look(0.5));
        assert_eq!(mids(&series, "core_0"), every_look(0.5));
        assert_eq!(mids(&series, "core_1"), every_look(0.0), "an idle core is a figure");
        assert_eq!(mids(&series, "system_rss"), every_look(1e6));
        assert_eq!(mids(&series, "listen_queue"), every_look(3.0));
        assert_eq!(mids(&series, "machine_sent"), [Some(120.0), Some(240.0), None, Some(60.0)]);
        assert_eq!(series.strips, [Strip(0, 0), Strip(1, 1)]);
    }

    #[test]
    fn many_cores_share_strips_that_show_the_busiest() {
        let look = (0..130).flat_map(|core| {
            let busy_s = if core == 4 { 0.876 } else { 0.0 };
            [
                reading("machine", "cpu_user_s", &format!("core{core}"), busy_s),
                reading("machine", "cpu_idle_s", &format!("core{core}"), 1.0 - busy_s),
            ]
        });
        let odd = [
            reading("machine", "cpu_user_s", "core4294967295", 1.0),
            reading("machine", "cpu_user_s", "corex", 1.0),
        ];
        let readings = [(0, look.chain(odd).collect())];
        let new = new_run(Model::Closed, Some(SECOND_NS));
        let run = stored(&new, &[], &readings, &ending(Verdict::Complete, 2_000));
        let series = of(&run, 800).unwrap().unwrap();
        assert_eq!(series.strips.len(), 26);
        assert_eq!(series.strips[25], Strip(125, 129));
        assert_eq!(mids(&series, "core_0_4"), [Some(0.88)]);
    }

    #[test]
    fn huge_second_numbers_need_no_more_bins() {
        let seconds = answers(&[(1, 20), (1 << 61, 20)]);
        let new = new_run(Model::Open, Some(u64::MAX >> 1));
        let run = stored(&new, &seconds, &[], &ending(Verdict::Complete, i64::MAX));
        let series = of(&run, 50).unwrap().unwrap();
        assert!(series.bins <= 50);
        assert_eq!(series.tracks["response_max"].mid.len(), series.bins);
    }

    #[test]
    fn ended_threads_have_no_figures() {
        let new = new_run(Model::Closed, Some(3 * SECOND_NS));
        let look = |second: u64| {
            let all =
                ["switches_voluntary", "cpu_user_s"].map(|metric| reading("generator", metric, "", 1.0));
            (second, all.to_vec())
        };
        let looks: Vec<_> = (0..5).map(look).collect();
        let run = stored(&new, &answers(&[(0, 5), (4, 2)]), &looks, &ending(Verdict::Complete, 4_200));
        let series = of(&run, 100).unwrap().unwrap();
        assert!(mids(&series, "generator_cores")[4].is_some());
        let told = mids(&series, "generator_voluntary");
        assert!(told[0].is_some() && told[4].is_none(), "{told:?}");
    }

    #[test]
    fn every_track_of_a_source_has_a_chart() {
        let drawn = charts::keys();
        let read = super::super::readings::keys();
        for key in read.iter().chain(&COUNT_TRACKS) {
            assert!(drawn.contains(key), "{key}");
        }
    }
}
