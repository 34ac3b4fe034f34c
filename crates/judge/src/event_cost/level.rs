//! Usual level before an event, and the limits beyond which a later interval counts as worse.

use evidence::LevelBefore;
use record::{Gaps, Moment, Percentile, Responses};
use stats::median;

use super::losses::Usual;
use super::number;

/// Possible numbers of windows in an interval.
const BIN_SIZES: [usize; 4] = [1, 2, 5, 10];
/// Min number of answers in an interval, if the longest interval has as many.
const ANSWERS_IN_BIN: f64 = 100.0;
/// Candidate percentiles of response times. The highest one with enough answers in an interval is used.
const PERCENTILES: [Percentile; 5] =
    [Percentile::P99_9, Percentile::P99, Percentile::P95, Percentile::P90, Percentile::P50];
/// Max relative deviation from the usual value at which an interval always counts as usual.
const TOLERATED_DEVIATION: f64 = 0.1;
/// Multiple of the earlier deviation to the worse side, within which an interval counts as usual.
const SPREADS: f64 = 3.5;
/// Share of earlier intervals that this deviation covers.
const SPREAD_SHARE: f64 = 0.9;
/// Max accepted drop in answers, as a share, for any usual deviation. An interval with hardly any answers is never
/// usual.
const OK_AWAY_MAX: f64 = 0.9;
/// Number of earlier intervals below which their deviation is uncertain.
const BINS_FEW: usize = 20;
/// Min assumed deviation if there are few earlier intervals, in standard deviations of a random count of answers.
const SIGMAS: f64 = 3.0;
/// Factor on the generator's own delay, which can affect a request twice: when it is sent, and when its answer is read.
const DELAY_FACTOR: f64 = 2.0;
/// Multiple of the longest gap before the event, or of `SILENT_MIN_NS`, above which the first answer after a gap marks the
/// recovery.
const SILENT_GAP_FACTOR: u64 = 2;
/// Min gap, in nanoseconds, that `SILENT_GAP_FACTOR` multiplies.
const SILENT_MIN_NS: u64 = 5_000_000;
/// Number of margins by which a single interval must be worse to stand out from noise.
const MARGINS_ALONE: f64 = 2.0;

/// Usual level before an event.
#[derive(Clone)]
pub(super) struct Level {
    from_ns: u64,
    /// Number of windows in an interval.
    pub(super) bin: usize,
    pub(super) ok_per_s: f64,
    pub(super) response_mean_ns: f64,
    pub(super) longest_gap_ns: u64,
    percentile: Option<(Percentile, f64)>,
    /// Median number of answers in an interval.
    ok_usual: f64,
    /// Min number of answers in an interval that counts as usual.
    ok_least: f64,
    /// Max value of the percentile that counts as usual, in nanoseconds.
    percentile_most_ns: f64,
    /// Mean number of answers in a window that take at most `percentile_most_ns`.
    fast_per_window: f64,
    pub(super) losses: Usual,
}

impl Level {
    /// Derives the level from the windows before an event, at least one of which has an answer.
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
        // Response times have a long tail, so deviations are compared as ratios: twice as long is as rare as half as
        // long.
        let away = spread(times().map(|ns| (ns / usual_ns.max(1.0)).ln()));
        let response_ns: f64 = before.iter().map(|window| window.ok_response_sum_ns as f64).sum();
        let gaps = Gaps::find_in(before, span_ns, 1);
        let percentile_most_ns =
            usual_ns * (1.0 + TOLERATED_DEVIATION.max(chance)).max((SPREADS * away).exp());
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
                - (TOLERATED_DEVIATION.max(chance) * ok_usual)
                    .max(SPREADS * ok_away)
                    .min(OK_AWAY_MAX * ok_usual),
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

    /// Compares an interval with the level. `late_ns` is the generator's own delay in the interval.
    pub(super) fn compare(&self, windows: &[Moment], late_ns: u64) -> LevelComparison {
        let bin = Bin::of(windows, self.percentile.map(|(percentile, _)| percentile));
        let own_ns = DELAY_FACTOR * late_ns as f64;
        let own_ok = own_ns * self.ok_per_s / 1e9;
        // An interval without answers has no percentile, which is normal for a load with few answers.
        let is_within = |own_ok: f64, own_ns: f64| {
            let is_fast = bin.percentile_ns.is_none_or(|ns| ns - own_ns <= self.percentile_most_ns);
            bin.ok as f64 + own_ok >= self.ok_least && is_fast
        };
        if is_within(0.0, 0.0) {
            return LevelComparison::Usual;
        }
        let is_far = self.margins(&bin) >= MARGINS_ALONE;
        if is_within(own_ok, own_ns) {
            LevelComparison::Unclear { is_far }
        } else {
            LevelComparison::Worse { is_far }
        }
    }

    /// Returns the number of margins by which an interval is worse than usual.
    fn margins(&self, bin: &Bin) -> f64 {
        let usual_ns = self.percentile.map_or(0.0, |(_, ns)| ns);
        let longer = bin
            .percentile_ns
            .map_or(0.0, |ns| (ns / usual_ns).ln() / (self.percentile_most_ns / usual_ns).ln());
        let fewer = (self.ok_usual - bin.ok as f64) / (self.ok_usual - self.ok_least);
        // If almost no answers are usual, the margins are infinite or undefined, and are ignored.
        [longer, fewer].into_iter().filter(|margins| margins.is_finite()).fold(0.0, f64::max)
    }

    /// Returns the time after a delay of the generator during which answers may still be late because of it, in
    /// nanoseconds.
    pub(super) fn response_ns(&self) -> u64 {
        self.percentile.map_or(self.response_mean_ns, |(_, ns)| ns) as u64
    }

    /// Returns the time of recovery, in nanoseconds. It lies in the window before `back`, the first window that is not
    /// worse. The share of fast answers in that window shows how much of it came after the recovery.
    pub(super) fn recovered_at_ns(&self, windows: &[Moment], back: usize, begun_ns: u64) -> u64 {
        let Some(worse) = (number(begun_ns)..back).next_back() else { return begun_ns };
        let first_ok_ns = windows[back..].iter().find_map(|window| window.presence.first_ok_ns);
        let worse = &windows[worse];
        // A window that begins with a gap may still have enough answers to be usual.
        let silent_from_ns = worse.presence.last_ok_ns.unwrap_or(worse.at_ns());
        let usual_gap_ns = SILENT_GAP_FACTOR * self.longest_gap_ns.max(SILENT_MIN_NS);
        if let Some(ns) = first_ok_ns.filter(|ns| ns.saturating_sub(silent_from_ns) > usual_gap_ns) {
            return ns.max(begun_ns);
        }
        let had = fast(worse, self.percentile_most_ns) / self.fast_per_window;
        // A part of the window was worse, even if it has as many answers as usual.
        let missing = (1.0 - had).clamp(1.0 / Moment::PARTS as f64, 1.0);
        let to_ns = worse.at_ns() + Moment::WINDOW_NS;
        (worse.at_ns().max(begun_ns) + (missing * Moment::WINDOW_NS as f64) as u64).min(to_ns)
    }
}

/// Result of comparing an interval with the level. `is_far` means that a single such interval is not noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LevelComparison {
    Usual,
    /// Worse, but the generator's own delay may explain it.
    Unclear {
        is_far: bool,
    },
    Worse {
        is_far: bool,
    },
}

/// Returns the number of answers in a window that took at most `most_ns`.
fn fast(window: &Moment, most_ns: f64) -> f64 {
    // For a load with few answers, no percentile is known.
    if most_ns > 0.0 { window.responses.count_within(most_ns) } else { window.ok as f64 }
}

/// Answers in an interval of a load.
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

/// Returns the value that nine tenths of the deviations do not exceed; at least 0.
fn spread(away: impl Iterator<Item = f64>) -> f64 {
    let mut away: Vec<f64> = away.collect();
    away.sort_unstable_by(f64::total_cmp);
    let rank = (SPREAD_SHARE * away.len() as f64).ceil() as usize;
    away.get(rank.saturating_sub(1)).map_or(0.0, |away| away.max(0.0))
}
