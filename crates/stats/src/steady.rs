//! Steady-state detection: the end of the warm-up, then drift, difference of halves, and steps, all judged by size.

use alloc::vec::Vec;

use libm::sqrt;

use crate::fit::{FittedLine, FittedStep, spearman_with_time};
use crate::mser;
use crate::noise::long_run_deviation;

/// Window of a run's series. All windows have equal length, and are in time order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Window {
    /// Number of requests that ended in the window.
    pub ended: u64,
    /// Sum of the response times of requests that ended in the window.
    pub response_sum_ns: u64,
    /// Mean number of requests in flight.
    pub in_flight: f64,
}

/// Steadiness of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steadiness {
    /// Verdict on the run.
    pub verdict: SteadyVerdict,
    /// First window after the warm-up, chosen so that the rest of the run is as steady as possible.
    pub cut: usize,
    /// Number of windows.
    pub windows: usize,
    /// Change of the fitted line from the cut to the end, as a share of the mean, with its sign. The largest in size over the
    /// series.
    pub drift_share: f64,
    /// Mean of the second half after the cut ÷ mean of the first half, minus 1. The largest in size over the series. A series whose
    /// first half is zero is left out.
    pub halves_share: f64,
    /// Spearman's rank correlation of the windows with time. The largest in size over the series.
    pub rho: f64,
    /// First window of a new level. `None` if there is no step.
    pub step: Option<usize>,
}

/// Verdict on the steadiness of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteadyVerdict {
    /// Steady from the planned end of the warm-up.
    Steady,
    /// Steady, but from a later window than planned.
    WarmingUp {
        /// First steady window.
        cut: usize,
    },
    /// Never steady.
    NotSteady {
        /// Reason why the run is not steady.
        why: Unsteady,
    },
    /// Too few windows for a verdict.
    TooShort {
        /// Number of windows that a verdict needs.
        needed: usize,
    },
}

/// Reason why a run is not steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsteady {
    /// The best cut lies in the second half, so the run was still changing.
    StillChanging,
    /// The level drifts.
    Drifts(Series),
    /// The level changes at a window.
    Steps {
        /// First window of the new level.
        at: usize,
        /// Series whose level changes.
        series: Series,
    },
}

/// Series of a run that is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Series {
    /// Number of requests that ended in a window.
    Throughput,
    /// Mean response time of the requests that ended in a window.
    ResponseTime,
    /// Number of requests in flight.
    InFlight,
}

/// Minimum number of windows after the cut for a verdict.
const WINDOWS_MIN: usize = 20;
/// Largest change of a level, as a share of its mean, that is tolerated.
const TOLERATED_SHARE: f64 = 0.02;
/// Standard errors up to which the slope of a line is noise.
const DRIFT_ERRORS: f64 = 3.0;
/// Standard errors up to which the largest step anywhere is noise.
const STEP_ERRORS: f64 = 4.5;
/// Standard errors up to which the difference of a level before the cut is noise.
const CUT_ERRORS: f64 = 4.0;
/// Rank correlation with time up to which a change is not a drift.
const RHO_MIN: f64 = 0.3;
/// Change of a level, as a share of its mean, that is not noise if the level hardly ever reverses, even if the noise is slow. An unbounded
/// queue grows in this way, and throughput falls in this way if half of the connections hang.
const GROWTH_SHARE: f64 = 0.5;
/// Rank correlation with time above which a level hardly ever reverses.
const GROWTH_RHO: f64 = 0.9;

/// Judges the steadiness of a run. `series` are its windows from the start of the load, of which the first `warm` are the planned
/// warm-up.
pub fn steady(series: &[Window], warm: usize) -> Steadiness {
    let levels = levels(series);
    let cuts: Vec<usize> = levels.iter().map(|(_, level)| credible_cut(level)).collect();
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

/// Returns the first window from which a series is at the level of its rest: the part that MSER-5 would still cut differs from the rest by
/// no more than is tolerated, or than noise. MSER alone also cuts off noise.
fn credible_cut(level: &[f64]) -> usize {
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

/// Judgment of one series after the cut.
struct SeriesJudgment {
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

fn judge(name: Series, level: &[f64]) -> SeriesJudgment {
    let (count, mean) = (level.len() as f64, mean(level));
    let line = FittedLine::through(level);
    let step = FittedStep::of(level);
    let (first, second) = level.split_at(level.len() / 2);
    let mut judged = SeriesJudgment {
        drift_share: line.slope * count / mean,
        halves_share: self::mean(second) / self::mean(first) - 1.0,
        rho: spearman_with_time(level),
        change: Change::None,
    };
    if step.squares < line.squares {
        let error = long_run_deviation(&step.residuals(level), 2) * step.error_factor(level.len());
        let is_noise = step.apart().abs() <= (TOLERATED_SHARE * mean).max(STEP_ERRORS * error);
        // Queues have a long memory, and may drift that far by chance. Throughput has none.
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

/// Returns the series of a run that can be judged: all values finite, and a mean above zero.
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

/// Returns the mean response time of each window. A window without ended requests repeats the previous value. `None` if more than a quarter
/// of the windows have none.
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
