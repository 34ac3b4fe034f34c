//! What was usual before an event, and what is worse than that.

use evidence::LevelBefore;
use record::{Gaps, Moment, Percentile, Responses};
use stats::median;

use super::losses::Usual;
use super::number;

/// Windows that may be looked at together.
const BIN_SIZES: [usize; 4] = [1, 2, 5, 10];
/// So many answers a stretch has, if the longest allows it.
const ANSWERS_IN_BIN: f64 = 100.0;
/// The highest of these that a stretch supports is looked at.
const PERCENTILES: [Percentile; 5] =
    [Percentile::P99_9, Percentile::P99, Percentile::P95, Percentile::P90, Percentile::P50];
/// Back is what is within this share of what was usual,
const WITHIN: f64 = 0.1;
/// or within so many times what nine tenths of the stretches before were away from it, to the worse side.
const SPREADS: f64 = 3.5;
const SPREAD_SHARE: f64 = 0.9;
/// However far they were away: hardly any answers are not usual.
const OK_AWAY_MAX: f64 = 0.9;
/// With fewer stretches before, their spread is hardly known,
const BINS_FEW: usize = 20;
/// and is taken for no less than so many standard deviations of a random number of answers.
const SIGMAS: f64 = 3.0;
/// The generator's own delay may meet a request twice: as it is sent, and as its answer is read.
const DELAYS: f64 = 2.0;
/// Multiple of the longest gap before the event, or of the least gap that counts, above which a time without ok answers ends the trouble.
const SILENT_GAPS: u64 = 2;
const SILENT_MIN_NS: u64 = 5_000_000;
/// A single stretch is worse than chance makes it if it is worse by so many margins.
const MARGINS_ALONE: f64 = 2.0;

/// What was usual.
#[derive(Clone)]
pub(super) struct Level {
    from_ns: u64,
    /// Windows in a stretch.
    pub(super) bin: usize,
    pub(super) ok_per_s: f64,
    pub(super) response_mean_ns: f64,
    pub(super) longest_gap_ns: u64,
    percentile: Option<(Percentile, f64)>,
    /// Answers of a stretch: usual ones, and those that are no fewer than usual.
    ok_usual: f64,
    ok_least: f64,
    /// A percentile that is no longer than usual.
    percentile_most_ns: f64,
    /// Answers of a window that take no longer than that.
    fast_per_window: f64,
    pub(super) losses: Usual,
}

impl Level {
    /// Of the windows before an event, at least one with an answer.
    pub(super) fn of(before: &[Moment], span_ns: (u64, u64)) -> Self {
        let answers: u64 = before.iter().map(|window| window.ok).sum();
        let per_window = answers as f64 / before.len() as f64;
        let enough = |bin: &usize| *bin as f64 * per_window >= ANSWERS_IN_BIN;
        let bin = BIN_SIZES.into_iter().find(|bin| enough(bin)).unwrap_or(10).min(before.len());
        let in_bin = (bin as f64 * per_window) as u64;
        let percentile = PERCENTILES.into_iter().find(|percentile| percentile.is_printable(in_bin));
        let bins: Vec<Bin> = before.rchunks_exact(bin).map(|windows| Bin::of(windows, percentile)).collect();
        let is_few = bins.len() < BINS_FEW;
        let chance = if is_few { SIGMAS / (in_bin.max(1) as f64).sqrt() } else { 0.0 };
        let ok_usual = median(bins.iter().map(|bin| bin.ok as f64)).unwrap_or(0.0);
        let ok_away = spread(bins.iter().map(|bin| ok_usual - bin.ok as f64));
        let times = || bins.iter().filter_map(|bin| bin.percentile_ns);
        let usual_ns = median(times()).unwrap_or(0.0);
        // Of times that have a long tail, twice as long is as rare as half as long.
        let away = spread(times().map(|ns| (ns / usual_ns.max(1.0)).ln()));
        let response_ns: f64 = before.iter().map(|window| window.ok_response_sum_ns as f64).sum();
        let gaps = Gaps::of_moments(before, span_ns, 1);
        let percentile_most_ns = usual_ns * (1.0 + WITHIN.max(chance)).max((SPREADS * away).exp());
        let fast = before.iter().map(|window| fast(window, percentile_most_ns));
        Self {
            from_ns: span_ns.0,
            bin,
            ok_per_s: per_window * 1e9 / Moment::WINDOW_NS as f64,
            response_mean_ns: response_ns / answers.max(1) as f64,
            longest_gap_ns: gaps.iter().map(|gap| gap.lasting_ns).max().unwrap_or(0),
            percentile: percentile.map(|percentile| (percentile, usual_ns)),
            ok_usual,
            ok_least: ok_usual
                - (WITHIN.max(chance) * ok_usual).max(SPREADS * ok_away).min(OK_AWAY_MAX * ok_usual),
            percentile_most_ns,
            fast_per_window: fast.sum::<f64>() / before.len() as f64,
            losses: Usual::of(before),
        }
    }

    pub(super) fn stored(&self) -> LevelBefore {
        LevelBefore {
            from_ns: self.from_ns,
            ok_per_s: self.ok_per_s,
            response_mean_ns: self.response_mean_ns,
            percentile_ppm: self.percentile.map(|(percentile, _)| percentile.ppm()),
            percentile_ns: self.percentile.map(|(_, ns)| ns),
            bin_ns: self.bin as u64 * Moment::WINDOW_NS,
            longest_gap_ns: self.longest_gap_ns,
        }
    }

    /// What a stretch is, in which the generator was late by so much.
    pub(super) fn look_at(&self, windows: &[Moment], late_ns: u64) -> Seen {
        let bin = Bin::of(windows, self.percentile.map(|(percentile, _)| percentile));
        let own_ns = DELAYS * late_ns as f64;
        let own_ok = own_ns * self.ok_per_s / 1e9;
        // A load of few answers may have none for a while.
        let is_within = |own_ok: f64, own_ns: f64| {
            let is_fast = bin.percentile_ns.is_none_or(|ns| ns - own_ns <= self.percentile_most_ns);
            bin.ok as f64 + own_ok >= self.ok_least && is_fast
        };
        if is_within(0.0, 0.0) {
            return Seen::Usual;
        }
        let is_far = self.margins(&bin) >= MARGINS_ALONE;
        if is_within(own_ok, own_ns) { Seen::Unclear { is_far } } else { Seen::Worse { is_far } }
    }

    /// By how many margins a stretch is worse than usual.
    fn margins(&self, bin: &Bin) -> f64 {
        let usual_ns = self.percentile.map_or(0.0, |(_, ns)| ns);
        let longer = bin
            .percentile_ns
            .map_or(0.0, |ns| (ns / usual_ns).ln() / (self.percentile_most_ns / usual_ns).ln());
        let fewer = (self.ok_usual - bin.ok as f64) / (self.ok_usual - self.ok_least);
        // Where next to no answers are usual, nothing is far from it.
        [longer, fewer].into_iter().filter(|margins| margins.is_finite()).fold(0.0, f64::max)
    }

    /// For how long after a delay of the generator answers may be later for it.
    pub(super) fn response_ns(&self) -> u64 {
        self.percentile.map_or(self.response_mean_ns, |(_, ns)| ns) as u64
    }

    /// When the system was back, if the window `back` is the first that is not worse: within the one before it. That has as many of
    /// the usual answers as its rest has room for.
    pub(super) fn back_ns(&self, windows: &[Moment], back: usize, begun_ns: u64) -> u64 {
        let Some(worse) = (number(begun_ns)..back).next_back() else { return begun_ns };
        let first_ok_ns = windows[back..].iter().find_map(|window| window.presence.first_ok_ns);
        let worse = &windows[worse];
        // A window that begins without answers may have enough of them to be usual.
        let silent_from_ns = worse.presence.last_ok_ns.unwrap_or(worse.at_ns());
        let usual_gap_ns = SILENT_GAPS * self.longest_gap_ns.max(SILENT_MIN_NS);
        if let Some(ns) = first_ok_ns.filter(|ns| ns.saturating_sub(silent_from_ns) > usual_gap_ns) {
            return ns.max(begun_ns);
        }
        let had = fast(worse, self.percentile_most_ns) / self.fast_per_window;
        // Some time was worse, even if as many answers came.
        let missing = (1.0 - had).clamp(1.0 / Moment::PARTS as f64, 1.0);
        let to_ns = worse.at_ns() + Moment::WINDOW_NS;
        (worse.at_ns().max(begun_ns) + (missing * Moment::WINDOW_NS as f64) as u64).min(to_ns)
    }
}

/// How a stretch compares with what was usual. `is_far`: by so much that a single one is no chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Usual,
    /// Worse, and no more so than the generator was late itself.
    Unclear {
        is_far: bool,
    },
    Worse {
        is_far: bool,
    },
}

/// Answers of a window that took no longer than this.
fn fast(window: &Moment, most_ns: f64) -> f64 {
    // Of a load with few answers no percentile is known.
    if most_ns > 0.0 { window.responses.count_within(most_ns) } else { window.ok as f64 }
}

/// A stretch of a load.
struct Bin {
    ok: u64,
    percentile_ns: Option<f64>,
}

impl Bin {
    fn of(windows: &[Moment], percentile: Option<Percentile>) -> Self {
        let mut responses = Responses::default();
        windows.iter().for_each(|window| responses.merge(&window.responses));
        let percentile_ns = percentile.and_then(|percentile| responses.value_at(percentile));
        Self { ok: responses.count(), percentile_ns }
    }
}

/// What nine tenths of these are below, and no less than 0.
fn spread(away: impl Iterator<Item = f64>) -> f64 {
    let mut away: Vec<f64> = away.collect();
    away.sort_unstable_by(f64::total_cmp);
    let rank = (SPREAD_SHARE * away.len() as f64).ceil() as usize;
    away.get(rank.saturating_sub(1)).map_or(0.0, |away| away.max(0.0))
}
