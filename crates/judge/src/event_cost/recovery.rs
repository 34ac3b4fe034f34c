//! Finds the time at which a system returned to its usual level after an event.

use evidence::Recovery;
use record::Moment;

use super::level::{Level, LevelComparison};
use super::{CALM_NS, Times, number};

/// Max share of worse intervals in a calm period.
const OUTLIERS_MAX_SHARE: f64 = 0.1;
/// Max difference at which two recovery times count as equal, in nanoseconds.
const SAME_NS: u64 = 100_000_000;
/// Max difference at which two recovery times count as equal, as a share of the longer one.
const SAME_SHARE: f64 = 0.05;
/// Max effect of a generator delay, in windows. A longer delay makes the run invalid.
const WINDOWS_LATE_MAX: usize = 100;

/// Returns the recovery after an event, and the number of the window up to which it was observed; `None` if to the end.
/// `windows` are all whole windows from the beginning of the load to the next event, or to the end.
///
/// Intervals that the generator's own delay can explain are first counted as usual, then as worse. If the two results
/// differ, the earlier one is a lower bound, and the recovery is unconfirmed.
pub(super) fn recovery(level: &Level, windows: &[Moment], event: &Times) -> (Recovery, Option<usize>) {
    let course = IntervalComparisons::of(level, windows, event);
    let least = course.recovery(|seen| matches!(seen, LevelComparison::Worse { .. }));
    let most = course.recovery(|seen| *seen != LevelComparison::Usual);
    match (least.0, most.0) {
        (Recovery::After(least_ns), Recovery::After(most_ns)) if are_equal_times(least_ns, most_ns) => most,
        (Recovery::After(least_ns) | Recovery::Unconfirmed(least_ns), other) if other != least.0 => {
            (Recovery::Unconfirmed(least_ns), least.1)
        }
        _ => most,
    }
}

fn are_equal_times(least_ns: u64, most_ns: u64) -> bool {
    // A recovery time of 0 means no effect, which never equals a short effect.
    let is_effect = (least_ns > 0) == (most_ns > 0);
    is_effect && least_ns.abs_diff(most_ns) <= SAME_NS.max((SAME_SHARE * most_ns as f64) as u64)
}

/// Comparisons of intervals after an event, by the window at which each begins.
struct IntervalComparisons<'a> {
    level: &'a Level,
    windows: &'a [Moment],
    begun_ns: u64,
    first: usize,
    /// Number of the window in which the event ended.
    ended: usize,
    seen: Vec<LevelComparison>,
}

impl<'a> IntervalComparisons<'a> {
    fn of(level: &'a Level, windows: &'a [Moment], event: &Times) -> Self {
        let (first, end) = (number(event.begun_ns), windows.len());
        let late = late_ns(windows, level.response_ns());
        let seen = (first..(end + 1).saturating_sub(level.bin)).map(|from| {
            let stretch = from..from + level.bin;
            let late_ns = late[stretch.clone()].iter().max().copied().unwrap_or(0);
            level.compare(&windows[stretch], late_ns)
        });
        let ended = event.ended_ns.map_or(first, number).clamp(first, end);
        Self { level, windows, begun_ns: event.begun_ns, first, ended, seen: seen.collect() }
    }

    fn at(&self, window: usize) -> Option<&LevelComparison> {
        self.seen.get(window - self.first)
    }

    fn recovery(&self, is_worse: impl Fn(&LevelComparison) -> bool) -> (Recovery, Option<usize>) {
        let Self { first, ended, .. } = *self;
        let (bin, end) = (self.level.bin, self.windows.len());
        let calm = (CALM_NS / Moment::WINDOW_NS) as usize / bin * bin;
        let is_calm = |from: usize, to: usize| {
            let bins: Vec<bool> =
                (from..to).step_by(bin).filter_map(|at| self.at(at)).map(&is_worse).collect();
            let worse = bins.iter().filter(|is_worse| **is_worse).count();
            worse as f64 <= OUTLIERS_MAX_SHARE * bins.len() as f64
        };
        // A calm period before the end of the event does not show a later effect.
        let is_calm_from: Vec<bool> =
            (first..=end).map(|from| from + calm > end || is_calm(from, from + calm)).collect();
        // Last window at which the period is not calm while the event is in progress. The system is back only after it.
        let unrest = (first..=ended).rev().find(|from| !is_calm_from[from - first]);
        let back_from = |from: usize| {
            let is_usual = self.at(from).is_some_and(|seen| !is_worse(seen));
            is_usual && unrest.is_none_or(|unrest| from > unrest) && is_calm_from[from - first]
        };
        let after_ns = |back: usize| match self.is_single_outlier(back, &is_worse) {
            true => 0,
            false => self.level.recovered_at_ns(self.windows, back, self.begun_ns) - self.begun_ns,
        };
        let back = (first..(end + 1).saturating_sub(calm)).find(|from| back_from(*from));
        if let Some(back) = back.filter(|back| back.max(&ended) + calm <= end) {
            return (Recovery::After(after_ns(back)), Some(back.max(ended) + calm));
        }
        // The remaining time is too short to confirm a recovery.
        let back = (first..end).find(|from| back_from(*from) && is_calm(*from, end));
        match back {
            Some(back) => (Recovery::Unconfirmed(after_ns(back)), None),
            None => {
                let watched_ns = (end as u64 * Moment::WINDOW_NS).saturating_sub(self.begun_ns);
                (Recovery::NotWithin(watched_ns), None)
            }
        }
    }

    /// Returns whether the only worse part before the recovery is a single interval, and not far worse. Noise produces
    /// such intervals among many.
    fn is_single_outlier(&self, back: usize, is_worse: impl Fn(&LevelComparison) -> bool) -> bool {
        let all = || (self.first..back).filter_map(|at| self.at(at)).filter(|seen| is_worse(seen));
        let apart = (self.first..back).step_by(self.level.bin).filter_map(|at| self.at(at));
        let is_far = |seen: &LevelComparison| {
            matches!(
                seen,
                LevelComparison::Unclear { is_far: true } | LevelComparison::Worse { is_far: true }
            )
        };
        apart.filter(|seen| is_worse(seen)).count() <= 1 && !all().any(is_far)
    }
}

/// Returns the generator's delay for each window, in nanoseconds: in the window itself, or earlier with an effect that
/// lasts into it. A loop iteration that begins late is recorded in the window of the previous one.
fn late_ns(windows: &[Moment], response_ns: u64) -> Vec<u64> {
    let mut late_ns = vec![0; windows.len()];
    for (number, window) in windows.iter().enumerate().filter(|(_, window)| window.late_ns > 0) {
        let after = window.late_ns.saturating_add(response_ns).div_ceil(Moment::WINDOW_NS) as usize;
        let reached = late_ns.iter_mut().skip(number).take(1 + after.min(WINDOWS_LATE_MAX));
        reached.for_each(|late_ns| *late_ns = window.late_ns.max(*late_ns));
    }
    late_ns
}
