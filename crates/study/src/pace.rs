//! Estimates the duration of the runs of a study, and decides whether there is time for more.

use std::time::Duration;

use evidence::{Procedure, Study, StudyPlace, stage};
use plan::Study as Plan;

use crate::procedure::GRACE_MIN_NS;

/// Max gap between two runs, in milliseconds, that counts as preparation of the second run.
const GAP_MAX_MS: i64 = 10_000;

/// Observed durations of runs, and the time limit of the study.
pub(crate) struct Pace<'a> {
    plan: &'a Plan,
    /// Number of runs whose load has a planned length, and their total time beyond that length.
    recorded_runs: u32,
    preparation: Duration,
    /// Loads without a planned length: name, number of runs, and sum of their durations.
    untimed: Vec<(String, u32, Duration)>,
    budget: Option<Budget>,
    /// Measured time of the soak run at the end of a search. `None` without a soak run.
    soak: Option<Duration>,
    /// Length of a slice in nanoseconds, settling time included. `None` if the study has no slices.
    slice_ns: Option<u64>,
}

/// Time limit of a study.
struct Budget {
    within: Duration,
    /// Time that the study took before it was interrupted.
    spent_before: Duration,
}

impl<'a> Pace<'a> {
    /// Creates an estimate from the stored runs of a study.
    pub(crate) fn of(plan: &'a Plan, kept: &Study) -> Self {
        let within = kept.new.compare.within_s.and_then(|s| Duration::try_from_secs_f64(s).ok());
        let times = times(kept);
        let of_study = times.iter().filter(|(place, _)| place.intervention.is_none());
        let spent_before = of_study.map(|(_, took)| *took).fold(Duration::ZERO, Duration::saturating_add);
        let budget = within.map(|within| Budget { within, spent_before });
        let soak_s = match &kept.new.compare.procedure {
            Procedure::Capacity(rules) => rules.soak_s,
            _ => None,
        };
        let soak = soak_s.and_then(|s| Duration::try_from_secs_f64(s).ok());
        let slice_ns =
            kept.new.compare.procedure.slices().map(|of| ((of.slice_s + of.settle_s) * 1e9) as u64);
        let mut pace = Self {
            plan,
            recorded_runs: 0,
            preparation: Duration::ZERO,
            untimed: Vec::new(),
            budget,
            soak,
            slice_ns,
        };
        for (place, took) in times {
            pace.record(place, took);
        }
        pace
    }

    /// Records the duration of a finished run, preparation included.
    pub(crate) fn record(&mut self, place: &StudyPlace, took: Duration) {
        let Some(load) = self.load_duration(place) else {
            match self.untimed.iter_mut().find(|(load, ..)| *load == place.load) {
                Some((_, runs, sum)) => (*runs, *sum) = (*runs + 1, *sum + took),
                None => self.untimed.push((place.load.clone(), 1, took)),
            }
            return;
        };
        self.recorded_runs += 1;
        self.preparation += took.saturating_sub(load);
    }

    /// Returns the expected duration of `places` and of `later` more runs like them. `None` if unknown.
    pub(crate) fn expected(&self, places: &[StudyPlace], later: usize) -> Option<Duration> {
        let each: Option<Duration> = places.iter().map(|place| self.expected_run(place)).sum();
        let mean = each?.checked_div(places.len() as u32).unwrap_or_default();
        let later = u32::try_from(later).unwrap_or(u32::MAX);
        Some(each?.saturating_add(mean.saturating_mul(later)))
    }

    /// Returns whether `places` can be run within the time limit. `elapsed` is the time since the study was started or
    /// resumed. Runs of an experiment have a limit of their own.
    pub(crate) fn has_time_for(&self, places: &[StudyPlace], elapsed: Duration) -> bool {
        if places.iter().all(|place| place.intervention.is_some()) {
            return true;
        }
        let expected = self.expected(places, 0).unwrap_or_default();
        self.left(elapsed).is_none_or(|left| expected <= left)
    }

    /// Returns the remaining time. `None` if the study has no limit. `elapsed` is the time since the study was started or
    /// resumed.
    pub(crate) fn left(&self, elapsed: Duration) -> Option<Duration> {
        self.budget
            .as_ref()
            .map(|budget| budget.within.saturating_sub(budget.spent_before.saturating_add(elapsed)))
    }

    /// Returns the message for a study that runs out of time. `later` is the maximum number of runs that may follow
    /// `next`; `None` if unknown.
    pub(crate) fn out_of_time_message(
        &self,
        next: &[StudyPlace],
        later: Option<usize>,
        elapsed: Duration,
    ) -> String {
        let left = self.left(elapsed).unwrap_or_default().as_secs_f64();
        let takes = self.expected(next, 0).unwrap_or_default().as_secs_f64();
        let next_words = if next.len() == 1 { "run" } else { "runs" };
        // Planned runs count as missing, as in the report.
        let is = if next.len() == 1 { "run is" } else { "runs are" };
        let missing = match later {
            Some(0) => format!("{} {is} missing", next.len()),
            Some(later) => format!("{} {is} missing, and at most {later} more may follow", next.len()),
            None => format!("{} {is} missing, and more may follow", next.len()),
        };
        format!(
            "out of time: {left:.1} s are left, and the next {} {next_words} would take {takes:.1} s; {missing}: \
             write a longer --within",
            next.len()
        )
    }

    fn expected_run(&self, place: &StudyPlace) -> Option<Duration> {
        let preparation = self.preparation.checked_div(self.recorded_runs).unwrap_or_default();
        self.load_duration(place).map(|load| load + preparation).or_else(|| {
            let (_, runs, sum) = self.untimed.iter().find(|(load, ..)| *load == place.load)?;
            sum.checked_div(*runs)
        })
    }

    /// Returns the planned length of the load of a run. `None` if no time ends the load.
    fn load_duration(&self, place: &StudyPlace) -> Option<Duration> {
        // A capacity search has one load, and its places are named after their levels.
        let is_level = place.users.is_some() || place.rate_per_s.is_some();
        let load = self.plan.loads.iter().find(|load| is_level || load.name == place.load)?;
        let run = load.run_ns.map(Duration::from_nanos);
        match place.stage.as_str() {
            stage::INTERVENTION => {
                let number = self.plan.loads.iter().position(|load| load.name == place.load)?;
                Some(Duration::from_nanos(self.plan.experiment_run_ns(number)))
            }
            slice if stage::is_slice(slice) => Some(Duration::from_nanos(self.slice_ns?)),
            stage::SOAK => Some(self.soak?.saturating_add(Duration::from_nanos(load.warm_up_ns))),
            stage::OVERLOAD => {
                let measured_ns = load.run_ns?.saturating_sub(load.warm_up_ns);
                let before_ns = measured_ns.saturating_add(measured_ns.max(GRACE_MIN_NS));
                run.map(|run| run.saturating_add(Duration::from_nanos(before_ns)))
            }
            _ => run,
        }
    }
}

/// Returns the durations of the stored runs, in order of their start. A duration begins at the end of the previous run,
/// so it includes preparation. A gap longer than [`GAP_MAX_MS`] is an interruption of the study, and is not counted.
pub(crate) fn times(kept: &Study) -> Vec<(&StudyPlace, Duration)> {
    let mut runs: Vec<&evidence::Run> = kept.runs.iter().collect();
    runs.sort_by_key(|run| run.new.started_at_unix_ms);
    let mut before = kept.new.started_at_unix_ms;
    let mut times = Vec::with_capacity(runs.len());
    for run in runs {
        let started = run.new.started_at_unix_ms;
        let ended = run.ending.as_ref().map_or(started, |ending| ending.ended_at_unix_ms).max(started);
        let since = if (0..=GAP_MAX_MS).contains(&started.saturating_sub(before)) { before } else { started };
        let took = Duration::from_millis(u64::try_from(ended.saturating_sub(since)).unwrap_or_default());
        if let Some((_, place)) = &run.new.place {
            times.push((place, took));
        }
        before = ended;
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::procedure::tests::begun;
    use fixtures::place;

    #[test]
    fn overload_run_includes_overload_and_recovery_time() {
        let (plan, store, id) = begun(1, "{ within: 30s }");
        let kept = store.load_study(&id).expect("it is kept");
        let pace = Pace::of(&plan, &kept);
        let level = |stage: &str| StudyPlace {
            stage: stage.to_owned(),
            rate_per_s: Some(9.0),
            ..place("web", "n=1")
        };
        // The measured load lasts 1 s, after 1 s of overload and 10 s of recovery.
        let expected = |stage: &str| pace.expected(&[level(stage)], 0);
        assert_eq!(expected(stage::BISECT), Some(Duration::from_secs(1)));
        assert_eq!(expected(stage::OVERLOAD), Some(Duration::from_secs(12)));
        assert!(pace.has_time_for(&[level(stage::OVERLOAD)], Duration::from_secs(18)));
        assert!(!pace.has_time_for(&[level(stage::OVERLOAD)], Duration::from_secs(19)));
    }

    #[test]
    fn run_time_includes_preparation_but_no_interruption() {
        let (_, store, id) = begun(1, "{ within: 30s }");
        let mut kept = store.load_study(&id).expect("it is kept");
        kept.new.started_at_unix_ms = 1_000;
        let begin = |started_at_unix_ms| evidence::NewRun { started_at_unix_ms, ..fixtures::new_run() };
        let end = |ended_at_unix_ms| evidence::Ending { ended_at_unix_ms, ..fixtures::ending() };
        let run = |started, ended| {
            let mut run = store.kept(&begin(started), &[], &[], &end(ended));
            run.new.place = Some((id.clone(), place("web", "n=1")));
            run
        };
        // Started an hour after the previous run, after 300 ms of preparation, and after 200 ms of preparation.
        kept.runs = vec![run(3_700_000, 3_701_000), run(1_300, 2_300), run(2_500, 3_500)];
        let took: Vec<u128> = times(&kept).iter().map(|(_, took)| took.as_millis()).collect();
        assert_eq!(took, [1_300, 1_200, 1_000]);
    }
}
