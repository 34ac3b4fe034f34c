//! Whether a run had settled: a cut where its warm-up ends, and then drift, halves and steps, all by size.

use alloc::vec::Vec;

use libm::sqrt;

use crate::fit::{FittedLine, FittedStep, spearman_with_time};
use crate::mser;
use crate::noise::long_run_deviation;

/// One window of a run's series, all of the same length, in order of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Window {
    /// Requests that ended in it.
    pub ended: u64,
    /// The sum of their response times.
    pub response_sum_ns: u64,
    /// Requests in flight, the mean over its time.
    pub in_flight: f64,
}

/// What a series says about its run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steadiness {
    /// The verdict.
    pub verdict: SteadyVerdict,
    /// From which window on the rest is as steady as can be: where the warm-up ends.
    pub cut: usize,
    /// Windows there were.
    pub windows: usize,
    /// From the cut to the end the line through the windows changes by this share of their mean, the largest over the
    /// series by size; with its sign.
    pub drift_share: f64,
    /// The second half of what is left over the first, less 1; the largest over the series by size. A first half in which
    /// nothing happened has no share.
    pub halves_share: f64,
    /// Spearman's rank correlation of the windows with time; the largest over the series by size.
    pub rho: f64,
    /// The window from which on the level is another, if there is one.
    pub step: Option<usize>,
}

/// Whether a run had settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteadyVerdict {
    /// Within the warm-up that was planned.
    Steady,
    /// Later than was planned: from the cut on it is steady.
    WarmingUp {
        /// The window at which it had settled.
        cut: usize,
    },
    /// It never did.
    NotSteady {
        /// What it did instead.
        why: Unsteady,
    },
    /// Too few windows to tell.
    TooShort {
        /// So many it takes.
        needed: usize,
    },
}

/// What a run that never settled did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsteady {
    /// The cut that is best lies in the second half: it was still changing.
    StillChanging,
    /// A level drifts.
    Drifts(Series),
    /// A level is another from a window on.
    Steps {
        /// The first window of the new level.
        at: usize,
        /// Whose level.
        series: Series,
    },
}

/// A series of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Series {
    /// Requests that ended in a window.
    Throughput,
    /// The mean response time of these.
    ResponseTime,
    /// Requests in flight.
    InFlight,
}

/// Windows after the cut that it takes to tell.
const WINDOWS_MIN: usize = 20;
/// A level that changes by no more does not matter.
const TOLERATED_SHARE: f64 = 0.02;
/// So many standard errors are noise, of a line.
const DRIFT_ERRORS: f64 = 3.0;
/// So many standard errors are noise, of the largest step anywhere.
const STEP_ERRORS: f64 = 4.5;
/// So many standard errors are noise, of a level before the cut.
const CUT_ERRORS: f64 = 4.0;
/// So weak an order in time is no drift.
const RHO_MIN: f64 = 0.3;
/// A level that changes by so much of its mean, and hardly ever turns back, is no noise, however slow noise may be: so a queue
/// grows that nobody can serve, and so throughput falls when half of the connections hang.
const GROWTH_SHARE: f64 = 0.5;
/// So strong an order in time hardly ever turns back.
const GROWTH_RHO: f64 = 0.9;

/// Whether a run had settled, by its windows from the beginning of its load, of which the first `warm` are the warm-up that
/// was planned.
pub fn steady(series: &[Window], warm: usize) -> Steadiness {
    let levels = levels(series);
    let cuts: Vec<usize> = levels.iter().map(|(_, level)| believed_cut(level)).collect();
    let is_bound = |cut: &usize| mser::is_at_bound(*cut, series.len());
    let settled = cuts.iter().copied().filter(|cut| !is_bound(cut)).max().unwrap_or(0);
    let from = settled.max(warm);
    let mut found = Steadiness {
        verdict: SteadyVerdict::TooShort { needed: from.saturating_add(WINDOWS_MIN) },
        cut: settled,
        windows: series.len(),
        drift_share: 0.0,
        halves_share: 0.0,
        rho: 0.0,
        step: None,
    };
    if series.len() < from.saturating_add(WINDOWS_MIN) {
        return found;
    }
    let mut why = None;
    for (name, level) in &levels {
        let judged = judge(*name, &level[from..]);
        found.drift_share = larger(found.drift_share, judged.drift_share);
        found.halves_share = larger(found.halves_share, judged.halves_share);
        found.rho = larger(found.rho, judged.rho);
        match judged.change {
            Change::None => {}
            Change::Drift => why = why.or(Some(Unsteady::Drifts(*name))),
            Change::FittedStep(at) => {
                found.step = found.step.or(Some(from + at));
                why = why.or(Some(Unsteady::Steps { at: from + at, series: *name }));
            }
        }
    }
    let is_unsettled = cuts.iter().any(|cut| is_bound(cut) && *cut > from);
    found.verdict = match why.or(is_unsettled.then_some(Unsteady::StillChanging)) {
        Some(why) => SteadyVerdict::NotSteady { why },
        None if settled > warm => SteadyVerdict::WarmingUp { cut: settled },
        None => SteadyVerdict::Steady,
    };
    found
}

/// From where on a series is at the level of its rest: the earliest window from which on what MSER-5 would cut off differs from
/// what it would leave by no more than is tolerated, or than is noise. MSER alone cuts noise too.
fn believed_cut(level: &[f64]) -> usize {
    let Some(cut) = mser::cut(level) else { return 0 };
    let rest = &level[cut..];
    let rest_mean = mean(rest);
    let residuals: Vec<f64> = rest.iter().map(|figure| figure - rest_mean).collect();
    let deviation = long_run_deviation(&residuals, 1);
    let is_level = |from: &usize| {
        let before = &level[*from..cut];
        let error = deviation * sqrt(1.0 / before.len() as f64 + 1.0 / rest.len() as f64);
        (mean(before) - rest_mean).abs() <= (TOLERATED_SHARE * rest_mean).max(CUT_ERRORS * error)
    };
    (0..cut).step_by(mser::BATCH).find(is_level).unwrap_or(cut)
}

/// What one series does after the cut.
struct Judged {
    drift_share: f64,
    halves_share: f64,
    rho: f64,
    change: Change,
}

enum Change {
    None,
    Drift,
    FittedStep(usize),
}

fn judge(name: Series, level: &[f64]) -> Judged {
    let (count, mean) = (level.len() as f64, mean(level));
    let line = FittedLine::through(level);
    let step = FittedStep::of(level);
    let (first, second) = level.split_at(level.len() / 2);
    let mut judged = Judged {
        drift_share: line.slope * count / mean,
        halves_share: self::mean(second) / self::mean(first) - 1.0,
        rho: spearman_with_time(level),
        change: Change::None,
    };
    if step.squares < line.squares {
        let error = long_run_deviation(&step.residuals(level), 2) * step.error_factor(level.len());
        let is_noise = step.apart().abs() <= (TOLERATED_SHARE * mean).max(STEP_ERRORS * error);
        // Queues have a long memory, and may wander so far; throughput has none.
        let is_another =
            name == Series::Throughput && step.apart().abs() > GROWTH_SHARE * mean && step.separates(level);
        if is_another || !is_noise {
            judged.change = Change::FittedStep(step.at);
        }
    } else {
        let error = long_run_deviation(&line.residuals(level), 2) * sqrt(12.0 / count);
        let drift = line.slope * count;
        let is_noise = drift.abs() <= (TOLERATED_SHARE * mean).max(DRIFT_ERRORS * error);
        let is_growth = drift.abs() > GROWTH_SHARE * mean && judged.rho.abs() > GROWTH_RHO;
        if is_growth || (!is_noise && judged.rho.abs() > RHO_MIN) {
            judged.change = Change::Drift;
        }
    }
    judged
}

fn larger(a: f64, b: f64) -> f64 {
    if b.is_finite() && b.abs() > a.abs() { b } else { a }
}

fn mean(figures: &[f64]) -> f64 {
    figures.iter().sum::<f64>() / figures.len().max(1) as f64
}

/// The series of a run that can be judged.
fn levels(windows: &[Window]) -> Vec<(Series, Vec<f64>)> {
    let throughput = windows.iter().map(|window| window.ended as f64).collect();
    let in_flight = windows.iter().map(|window| window.in_flight.max(0.0)).collect();
    let all = [
        (Series::Throughput, Some(throughput)),
        (Series::ResponseTime, response_times(windows)),
        (Series::InFlight, Some(in_flight)),
    ];
    let has_level = |level: &Vec<f64>| level.iter().all(|figure| figure.is_finite()) && mean(level) > 0.0;
    all.into_iter().filter_map(|(name, level)| Some((name, level.filter(has_level)?))).collect()
}

/// The mean response time of every window; of one in which nothing ended, that of the last one. `None` if that is so in more
/// than a quarter of them.
fn response_times(windows: &[Window]) -> Option<Vec<f64>> {
    let of =
        |window: &Window| (window.ended > 0).then(|| window.response_sum_ns as f64 / window.ended as f64);
    let mut last = windows.iter().find_map(of)?;
    if windows.iter().filter(|window| window.ended == 0).count() * 4 > windows.len() {
        return None;
    }
    let level = windows.iter().map(|window| {
        last = of(window).unwrap_or(last);
        last
    });
    Some(level.collect())
}
