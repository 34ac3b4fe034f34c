//! Compares runs with those of a baseline, by one condition.
//!
//! A condition of a baseline is decided when the whole interval of the ratio, or of the difference, lies on one side of its limit.
//! The interval is over several runs. A single run on each side has none, even with many requests.

mod one_run;
mod paired;
mod stored;
mod study;

use std::collections::BTreeMap;

use evidence::{EvidenceError, Outage, Run};
use stats::{Bounded, ERRORS_MARGIN, RunResult, Scale, Unpaired};

use crate::condition::{BaselineLimit, Condition};
use crate::eligibility::{Eligibility, eligibility_by};
use crate::endings::CommandEnding;
use crate::figure_bounds;
use crate::kind::MetricKind;
use crate::measured::Measured;
use crate::run_result::{combine_slices, start_of_slice};
use crate::scope::Scope;

pub(crate) use one_run::gates as of_one_run;
pub use one_run::of_run;
pub use stored::{load_of, metric_side, row_of_run, rows_of_study, side as stored_side};
pub use study::{Answer, Gate, gates, is_breached};

/// Loads a run with its per-second data. A study has only the totals of its runs.
pub type WithSeconds<'a> = &'a dyn Fn(&Run) -> Result<Run, EvidenceError>;

/// Min number of runs on each side that gives a 95 % interval.
pub const RUNS_MIN: usize = 4;
/// Max error rate of one interval. It is smaller if many conditions share `FAMILY_ALPHA`.
const ALPHA: f64 = 0.05;
/// Probability that any of the conditions judged together is wrongly found true.
const FAMILY_ALPHA: f64 = 0.05;
/// Min difference in the number of discarded runs that makes the remaining runs a biased sample.
pub(crate) const INVALID_DIFFERENCE_MIN: usize = 3;

/// Figures of the runs of one side, by one condition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Side {
    /// Figures of the eligible runs with their bounds, in order.
    pub figures: Vec<Bounded>,
    /// Eligible runs that have too few samples for a verdict by this condition, or that lack its step.
    pub too_few: usize,
    /// Runs that are not eligible.
    pub invalid: usize,
    /// Runs that are not eligible because their system failed; part of `invalid`.
    pub failed: usize,
    /// Eligible runs in which the system was unavailable for part of the time.
    pub degraded: usize,
    /// Planned requests of the eligible runs that the system did not serve.
    pub errors: u64,
    /// Planned requests of the eligible runs.
    pub planned: u64,
}

/// Result of a condition on the runs of both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The condition is true.
    True,
    /// The condition is false.
    False,
    /// The runs cannot decide the condition; contains the reason in words.
    Undecided(String),
}

/// Result of a condition on a baseline and a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionResult {
    /// Number of eligible runs of the baseline and of the candidate. In paired results, both are the number of blocks with runs of
    /// both.
    pub counts: [usize; 2],
    /// Whether both sides were measured in the same blocks.
    pub is_paired: bool,
    /// Planned requests of the candidate's runs.
    pub planned: u64,
    /// Ratio to the baseline, or difference from it. Without a baseline: the most extreme figure in the direction that
    /// makes the condition true.
    pub estimate: Option<f64>,
    /// Confidence interval of the estimate; `None` if there are too few runs.
    pub interval: Option<[f64; 2]>,
    /// Coverage of the interval, from 0 to 1.
    pub confidence: Option<f64>,
    /// Number of runs in which a condition without a baseline is true.
    pub runs_true: usize,
    /// Result of the condition.
    pub decision: Decision,
    /// Ending of the command that follows from this condition if a side has runs, but no eligible one. `None` if both
    /// sides have an eligible run.
    pub no_runs: Option<CommandEnding>,
}

impl Side {
    /// Collects the figures of `runs`; slices of one start have one figure. Each run is loaded with its per-second data if the condition
    /// selects a part of the time.
    pub fn of<'a>(
        condition: &Condition,
        runs: impl Iterator<Item = &'a Run>,
        with_seconds: WithSeconds<'_>,
    ) -> Result<Self, EvidenceError> {
        let mut side = Self::default();
        let mut starts: BTreeMap<(&str, u32), Vec<RunResult>> = BTreeMap::new();
        for run in runs {
            if let Some(start) = start_of_slice(run) {
                starts.entry(start).or_default().push(said(condition, run, with_seconds)?);
                continue;
            }
            match eligibility_by(run, condition.figure.distorted()) {
                Eligibility::Valid => {}
                ineligible @ (Eligibility::Invalid | Eligibility::Failed) => {
                    side.invalid += 1;
                    side.failed += usize::from(ineligible == Eligibility::Failed);
                    continue;
                }
                Eligibility::CutShort => continue,
            }
            let measured = Measured::of(run)?;
            side.errors = side.errors.saturating_add(measured.unserved());
            side.planned = side.planned.saturating_add(measured.counts.planned);
            side.degraded += usize::from(measured.outage.as_ref().is_some_and(Outage::is_degraded));
            match figure(condition, run, with_seconds)? {
                Some(figure) => side.figures.push(figure),
                None => side.too_few += 1,
            }
        }
        let scale = condition.of_baseline.map_or(Scale::Ratio, BaselineLimit::scale);
        for seen in starts.into_values().map(|slices| combine_slices(&slices, scale)) {
            side.failed += usize::from(seen == RunResult::Failed);
            side.note(seen);
        }
        Ok(side)
    }

    /// Adds a run whose metric is already known.
    pub(crate) fn note(&mut self, seen: RunResult) {
        match seen {
            RunResult::Figure { value, errors, planned } => {
                self.figures.push(value);
                self.errors = self.errors.saturating_add(errors);
                self.planned = self.planned.saturating_add(planned);
            }
            RunResult::TooFew => self.too_few += 1,
            RunResult::Invalid | RunResult::Failed => self.invalid += 1,
            RunResult::Missing => {}
        }
    }

    fn error_share(&self) -> f64 {
        stats::error_share(self.errors, self.planned).unwrap_or(0.0)
    }

    /// Returns the ending of a command that needs a run of this side, if the side has runs, but no eligible one.
    fn no_runs(&self) -> Option<CommandEnding> {
        let counts_none = self.figures.is_empty() && self.too_few == 0;
        match self.invalid - self.failed {
            _ if !counts_none || self.invalid == 0 => None,
            0 => Some(CommandEnding::SystemFailed),
            _ => Some(CommandEnding::Invalid),
        }
    }

    fn missing_reason(&self, name: &str) -> Option<String> {
        if !self.figures.is_empty() {
            return None;
        }
        let why = match (self.too_few, self.invalid) {
            (0, 0) => String::new(),
            (0, invalid) => format!(" ({invalid} invalid or failed)"),
            (few, 0) => format!(" ({few} with too few samples)"),
            (few, invalid) => format!(" ({few} with too few samples, {invalid} invalid or failed)"),
        };
        Some(format!("{name} has no run with this figure{why}"))
    }
}

/// Returns the figure of an eligible run with its bounds; `None` if it has too few samples for a verdict, or lacks the
/// step.
fn figure(
    condition: &Condition,
    run: &Run,
    with_seconds: WithSeconds<'_>,
) -> Result<Option<Bounded>, EvidenceError> {
    let scope = match condition.part_ns {
        None => Scope::of(condition, run)?,
        Some(_) => Scope::of(condition, &with_seconds(run)?)?,
    };
    // The cost of an event is read from pulses, which have no bounds.
    let effect = run.generator_effect();
    let effect = effect.filter(|_| condition.event.is_none());
    let bounded = |value| figure_bounds::bounded(value, condition.figure.bounds(value, &scope, effect));
    Ok(condition.figure.judgeable(&scope).map(bounded))
}

/// Observes a run by a condition, for its block.
fn said(condition: &Condition, run: &Run, with_seconds: WithSeconds<'_>) -> Result<RunResult, EvidenceError> {
    Ok(match eligibility_by(run, condition.figure.distorted()) {
        Eligibility::Invalid => RunResult::Invalid,
        Eligibility::Failed => RunResult::Failed,
        Eligibility::CutShort => RunResult::Missing,
        Eligibility::Valid => {
            let measured = Measured::of(run)?;
            let of_figure = |value| RunResult::Figure {
                value,
                errors: measured.unserved(),
                planned: measured.counts.planned,
            };
            figure(condition, run, with_seconds)?.map_or(RunResult::TooFew, of_figure)
        }
    })
}

/// Judges a candidate by one of `together` conditions. The chance that any of them is wrongly found true is at most 5 %.
pub fn judge(condition: &Condition, baseline: &Side, candidate: &Side, together: usize) -> ConditionResult {
    judge_extended(condition, baseline, candidate, together, 0)
}

/// Like [`judge`], for a study that was extended `extensions` times. Each extension repeats the judgment at half of the
/// previous error rate.
fn judge_extended(
    condition: &Condition,
    baseline: &Side,
    candidate: &Side,
    together: usize,
    extensions: usize,
) -> ConditionResult {
    let Some(how) = condition.of_baseline else { return judge_each_run(condition, candidate) };
    let halvings = i32::try_from(extensions).unwrap_or(i32::MAX);
    let alpha = ALPHA.min(2.0 * FAMILY_ALPHA / together.max(1) as f64) * 0.5f64.powi(halvings);
    let figures = [&candidate.figures[..], &baseline.figures[..]];
    let exact = || {
        let [candidate, baseline] =
            figures.map(|side| side.iter().map(|one| Bounded::exactly(one.value)).collect::<Vec<_>>());
        Unpaired::of(&candidate, &baseline, how.scale(), alpha)?.interval
    };
    let (estimate, interval, confidence) = Unpaired::of(figures[0], figures[1], how.scale(), alpha)
        .map_or((None, None, None), |of| (of.estimate, of.interval, of.confidence));
    let counts = [baseline.figures.len(), candidate.figures.len()];
    let decision = match undecidable_reason([baseline, candidate], estimate, interval, together) {
        Some(why) => Decision::Undecided(why),
        None => decide(condition, [baseline, candidate], interval, exact),
    };
    ConditionResult {
        counts,
        is_paired: false,
        planned: candidate.planned,
        estimate,
        interval,
        confidence,
        runs_true: 0,
        decision,
        no_runs: no_runs([baseline, candidate]),
    }
}

/// Returns the worst ending among sides that have runs, but no eligible one.
fn no_runs<'a>(sides: impl IntoIterator<Item = &'a Side>) -> Option<CommandEnding> {
    sides.into_iter().filter_map(Side::no_runs).reduce(CommandEnding::or_worse)
}

/// Returns the reason why the runs do not allow a fair comparison, for any figures.
fn unfair_reason([baseline, candidate]: [&Side; 2]) -> Option<String> {
    if let Some(why) =
        baseline.missing_reason("the baseline").or_else(|| candidate.missing_reason("the candidate"))
    {
        return Some(why);
    }
    if baseline.degraded > 0 {
        let runs = baseline.figures.len() + baseline.too_few;
        return Some(format!(
            "the system was gone for part of the time in {} of {runs} runs of the baseline",
            baseline.degraded
        ));
    }
    if baseline.invalid.abs_diff(candidate.invalid) >= INVALID_DIFFERENCE_MIN {
        return Some(format!(
            "{} runs of the baseline and {} of the candidate are invalid or failed, so the remaining runs are a biased sample",
            baseline.invalid, candidate.invalid
        ));
    }
    None
}

/// Returns the reason why no interval can decide, for any ends.
fn undecidable_reason(
    sides: [&Side; 2],
    estimate: Option<f64>,
    interval: Option<[f64; 2]>,
    together: usize,
) -> Option<String> {
    if let Some(why) = unfair_reason(sides) {
        return Some(why);
    }
    let counts = sides.map(|side| side.figures.len());
    if counts.iter().any(|count| *count < RUNS_MIN) {
        let single = if counts == [1, 1] {
            "one run each has no confidence interval, however many requests it has; "
        } else {
            ""
        };
        return Some(format!("{single}it takes {RUNS_MIN} valid runs or more on each side"));
    }
    if estimate.is_none() {
        return Some(NO_RATIO.to_owned());
    }
    interval
        .is_none()
        .then(|| format!("too few runs to judge {together} conditions and configurations together"))
}

const NO_RATIO: &str = "a figure is 0, so there is no ratio; write a difference with its sign";

/// Decides by an interval. `exact` returns the interval for exact figures of each run.
fn decide(
    condition: &Condition,
    [baseline, candidate]: [&Side; 2],
    interval: Option<[f64; 2]>,
    exact: impl FnOnce() -> Option<[f64; 2]>,
) -> Decision {
    let undecided = |why: &str| Decision::Undecided(why.to_owned());
    let decided_by = |ends: [f64; 2]| {
        let [low, high] = ends.map(|end| condition.holds(end));
        (low == high).then_some(low)
    };
    let Some(ends) = interval else { return undecided("there is no interval") };
    let Some(is_true) = decided_by(ends) else {
        return undecided(match exact().and_then(decided_by) {
            Some(_) => {
                "the limit lies within the interval, and only because the figures of single runs are known within bounds; \
                 a quieter machine may decide, more runs will not"
            }
            None => "the limit lies within the interval; more runs may decide",
        });
    };
    // Failed requests are often fast, so more errors can make response times and CPU cost look better.
    let is_cost = matches!(condition.figure.kind(), MetricKind::Response | MetricKind::Cpu);
    let is_said_to_be_good = is_true == condition.sign.is_upper();
    if is_cost && is_said_to_be_good && candidate.error_share() > baseline.error_share() + ERRORS_MARGIN {
        return undecided("the candidate has more errors, and errors are often fast");
    }
    if is_true { Decision::True } else { Decision::False }
}

/// Judges a condition without a baseline: it holds if it is certainly true in any run, given the bounds of the figure.
fn judge_each_run(condition: &Condition, candidate: &Side) -> ConditionResult {
    let figures = &candidate.figures;
    let holds = |figure: &Bounded| [figure.low, figure.high].map(|end| condition.holds(end));
    let runs_true = figures.iter().filter(|figure| holds(figure) == [true; 2]).count();
    let runs_open = figures.iter().filter(|figure| holds(figure).contains(&true)).count() - runs_true;
    let values = figures.iter().map(|figure| figure.value);
    let farthest = if condition.sign.is_upper() { values.reduce(f64::min) } else { values.reduce(f64::max) };
    let decision = match (runs_true, candidate.missing_reason("the candidate")) {
        (1.., _) => Decision::True,
        (0, Some(why)) => Decision::Undecided(why),
        (0, None) if runs_open > 0 => Decision::Undecided(format!(
            "the limit lies within the bounds of {runs_open} runs; a generator that is less disturbed would decide"
        )),
        (0, None) if candidate.too_few > 0 => {
            Decision::Undecided(format!("{} runs have too few samples", candidate.too_few))
        }
        (0, None) => Decision::False,
    };
    ConditionResult {
        counts: [0, figures.len()],
        is_paired: false,
        planned: candidate.planned,
        estimate: farthest,
        interval: None,
        confidence: None,
        runs_true,
        decision,
        no_runs: candidate.no_runs(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(figures: &[f64]) -> Side {
        let figures = figures.iter().map(|figure| (*figure).into()).collect();
        Side { figures, planned: 1_000, ..Side::default() }
    }

    #[test]
    fn a_side_without_runs_that_count_ends_the_command() {
        let lost = |invalid, failed| Side { invalid, failed, ..Side::default() };
        let ends = |condition: &str, baseline: &Side, candidate: &Side| {
            judge(&Condition::parse_failures(condition).unwrap()[0], baseline, candidate, 1).no_runs
        };
        let (counts, nothing) = (side(&[0.0; 4]), Side::default());
        for (condition, baseline) in [("errors>1%", &nothing), ("errors>+1% of baseline", &counts)] {
            assert_eq!(ends(condition, baseline, &lost(2, 0)), Some(CommandEnding::Invalid));
            assert_eq!(ends(condition, baseline, &lost(2, 1)), Some(CommandEnding::Invalid));
            assert_eq!(ends(condition, baseline, &lost(2, 2)), Some(CommandEnding::SystemFailed));
            assert_eq!(ends(condition, baseline, &counts), None);
            assert_eq!(ends(condition, baseline, &nothing), None, "it has no run at all");
        }
        assert_eq!(ends("errors>+1% of baseline", &lost(1, 0), &lost(1, 1)), Some(CommandEnding::Invalid));
    }

    fn decided(condition: &str, baseline: &Side, candidate: &Side) -> Decision {
        let condition = &Condition::parse_failures(condition).unwrap()[0];
        judge(condition, baseline, candidate, 1).decision
    }

    fn why(decision: Decision) -> String {
        let Decision::Undecided(why) = decision else { panic!("{decision:?}") };
        why
    }

    const LEVEL: [f64; 8] = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 99.8, 100.1];

    fn times(factor: f64) -> Side {
        side(&LEVEL.map(|figure| figure * factor))
    }

    #[test]
    fn interval_on_one_side_of_the_limit_decides() {
        let failing = "throughput<95% of baseline";
        assert_eq!(decided(failing, &times(1.0), &times(0.90)), Decision::True);
        assert_eq!(decided(failing, &times(1.0), &times(1.0)), Decision::False);
        assert!(why(decided(failing, &times(1.0), &times(0.95))).contains("more runs may decide"));
        let held = "throughput>=95% of baseline";
        assert_eq!(decided(held, &times(1.0), &times(0.90)), Decision::False);
        assert_eq!(decided(held, &times(1.0), &times(1.0)), Decision::True);
        assert!(why(decided(held, &times(1.0), &times(0.95))).contains("more runs may decide"));
    }

    #[test]
    fn more_runs_are_not_asked_for_where_bounds_leave_it_open() {
        let within = |factor: f64| {
            let bounded = |figure: f64| Bounded::within(figure, [figure * 0.9, figure * 1.1]);
            Side { figures: LEVEL.map(|figure| bounded(figure * factor)).to_vec(), ..times(1.0) }
        };
        let reason = why(decided("throughput<95% of baseline", &within(1.0), &within(1.0)));
        assert!(
            reason.contains("a quieter machine may decide") && !reason.contains("more runs may"),
            "{reason}"
        );
        assert!(
            why(decided("throughput<95% of baseline", &within(1.0), &within(0.95))).contains("more runs may")
        );
    }

    #[test]
    fn zero_figures_are_judged_by_difference() {
        let none = side(&[0.0; 6]);
        assert_eq!(decided("errors>+0.1% of baseline", &none, &none), Decision::False);
        assert_eq!(decided("errors>+0.1% of baseline", &none, &side(&[0.02; 6])), Decision::True);
        assert!(why(decided("throughput<95% of baseline", &none, &none)).contains("a figure is 0"));
    }

    #[test]
    fn one_run_on_each_side_is_undecided() {
        let one = |figure: f64| side(&[figure]);
        let told = why(decided("throughput<95% of baseline", &one(100.0), &one(10.0)));
        assert!(told.contains("one run each") && told.contains("4 valid runs"), "{told}");
        let three = |figure: f64| side(&[figure; 3]);
        assert!(why(decided("p99>110% of baseline", &three(1.0), &three(2.0))).contains("4 valid runs"));
        assert_eq!(decided("errors>1%", &side(&[]), &one(0.02)), Decision::True);
        assert_eq!(decided("errors>1%", &side(&[]), &one(0.0)), Decision::False);
    }

    #[test]
    fn degraded_or_biased_baseline_is_undecided() {
        let failing = "throughput<95% of baseline";
        let degraded = Side { degraded: 1, ..times(0.5) };
        assert!(why(decided(failing, &degraded, &times(0.5))).contains("1 of 8 runs of the baseline"));
        let invalid = Side { invalid: 8, ..side(&[]) };
        assert!(why(decided(failing, &invalid, &times(1.0))).contains("no run with this figure (8 invalid"));
        let lost = Side { invalid: 3, ..times(1.0) };
        assert!(why(decided(failing, &times(1.0), &lost)).contains("biased"));
    }

    #[test]
    fn fast_errors_are_no_gain_and_slow_errors_are_a_loss() {
        let failing = Side { errors: 100, ..times(0.5) };
        assert!(why(decided("p99>110% of baseline", &times(1.0), &failing)).contains("more errors"));
        assert!(why(decided("p99<=110% of baseline", &times(1.0), &failing)).contains("more errors"));
        let slow = Side { errors: 100, ..times(2.0) };
        assert_eq!(decided("p99>110% of baseline", &times(1.0), &slow), Decision::True);
        assert_eq!(decided("throughput<95% of baseline", &times(1.0), &failing), Decision::True);
    }

    #[test]
    fn conditions_share_the_false_positive_rate() {
        let condition = &Condition::parse_failures("throughput<95% of baseline").unwrap()[0];
        let four = |factor: f64| side(&LEVEL[..4].iter().map(|figure| figure * factor).collect::<Vec<_>>());
        let of = |together: usize| judge(condition, &four(1.0), &four(0.5), together).decision;
        assert_eq!([of(1), of(2)], [Decision::True, Decision::True]);
        assert!(why(of(9)).contains("9 conditions"));
    }
}
