//! Start and end of sampling intervals, which determine the readings within the measured window of a run.

use std::collections::{BTreeMap, BTreeSet};

use evidence::{LOOK_FROM, LOOK_TO, Run};

/// Min share of a sampling interval in the window at which its values count. The rest covers the warm-up, or the idle
/// system after the load.
const WITHIN_MIN_SHARE: f64 = 0.95;
/// Min share of a sampling interval in the window if no interval lies within it, because the load was too short or
/// ended early.
const PARTLY_MIN_SHARE: f64 = 0.5;

/// Returns the seconds whose sampling intervals lie within a window, in nanoseconds since the load began. If there is
/// none, returns those that lie mostly within it. `None` if an earlier version stored the run without bounds.
pub(crate) fn within(run: &Run, begins_ns: u128, ends_ns: u128) -> Option<BTreeSet<u64>> {
    let mut looks: BTreeMap<u64, [f64; 2]> = BTreeMap::new();
    for reading in run.readings().filter(|reading| reading.subject == "machine") {
        let bound = match reading.metric {
            LOOK_FROM => 0,
            LOOK_TO => 1,
            _ => continue,
        };
        looks.entry(reading.second).or_insert([f64::NAN; 2])[bound] = reading.value;
    }
    if looks.is_empty() {
        return None;
    }
    let window = [begins_ns, ends_ns].map(|ns| ns as f64 / 1e9);
    let with_share = |least: f64| -> BTreeSet<u64> {
        looks
            .iter()
            .filter(|(_, look)| share_within(**look, window) >= least)
            .map(|(second, _)| *second)
            .collect()
    };
    let whole = with_share(WITHIN_MIN_SHARE);
    Some(if whole.is_empty() { with_share(PARTLY_MIN_SHARE) } else { whole })
}

/// Returns the share of a sampling interval that lies within a window. NaN for an interval of length 0.
fn share_within([from_s, to_s]: [f64; 2], [begins_s, ends_s]: [f64; 2]) -> f64 {
    (to_s.min(ends_s) - from_s.max(begins_s)).max(0.0) / (to_s - from_s)
}

#[cfg(test)]
mod tests {
    use evidence::{Ending, NewRun, Reading, StoredReading};
    use fixtures::{OwnStore, ending, new_run, reading};

    use super::*;
    use crate::core_time::in_measured_time;

    const SECOND_NS: u64 = 1_000_000_000;

    /// Returns the seconds whose readings count in a run of 1 s after this warm-up. `looks` have a second, a start, and
    /// an end.
    fn counted(warm_up_ns: u64, looks: &[(u64, f64, f64)]) -> Vec<u64> {
        let readings = |(second, from_s, to_s): &(u64, f64, f64)| -> (u64, Vec<Reading>) {
            let bounds = [(LOOK_FROM, *from_s), (LOOK_TO, *to_s)];
            let bounds = bounds.map(|(metric, time_s)| reading("machine", metric, "", time_s));
            (*second, bounds.into_iter().chain([reading("system", "cpu_user_s", "", 0.5)]).collect())
        };
        let seconds: Vec<(u64, Vec<Reading>)> = looks.iter().map(readings).collect();
        let new = NewRun { warm_up_ns, ..new_run() };
        let ending = Ending { window_ns: Some(SECOND_NS), ..ending() };
        let run = OwnStore::new().kept(&new, &[], &seconds, &ending);
        let is_of_system = |reading: &StoredReading<'_>| reading.subject == "system";
        in_measured_time(&run).filter(is_of_system).map(|reading| reading.second).collect()
    }

    #[test]
    fn look_within_the_window_counts_wherever_its_second_begins() {
        assert_eq!(counted(250_000_000, &[(0, 0.0, 0.25), (1, 0.25, 1.23), (2, 1.23, 1.5)]), [1]);
        assert_eq!(counted(100_000_000, &[(0, 0.1, 1.08), (1, 1.08, 1.3)]), [0]);
    }

    #[test]
    fn look_that_includes_warm_up_or_idle_time_does_not_count() {
        assert_eq!(counted(SECOND_NS, &[(0, 0.0, 1.1), (1, 1.1, 1.98), (2, 1.98, 2.4)]), [1]);
        assert_eq!(counted(SECOND_NS, &[(0, 0.0, 1.0), (1, 1.0, 1.5), (2, 1.5, 2.1)]), [1]);
    }

    #[test]
    fn look_that_is_mostly_in_the_window_counts_if_no_other_does() {
        assert_eq!(counted(SECOND_NS, &[(0, 0.0, 1.1), (1, 1.1, 2.3)]), [1]);
        assert!(counted(SECOND_NS, &[(0, 0.0, 1.0), (1, 1.0, 3.1)]).is_empty());
    }

    #[test]
    fn run_without_bounds_counts_seconds_that_begin_in_the_window() {
        let of_second = |second| (second, vec![reading("system", "cpu_user_s", "", 0.5)]);
        let new = NewRun { warm_up_ns: 250_000_000, ..new_run() };
        let run = OwnStore::new().kept(&new, &[], &[of_second(0), of_second(1)], &ending());
        assert_eq!(in_measured_time(&run).map(|reading| reading.second).collect::<Vec<_>>(), [1]);
    }
}
