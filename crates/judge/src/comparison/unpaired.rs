//! Compares configurations that two studies measured at different times: the runs of one study with the runs of the
//! other.
//!
//! [`judge`] takes both sides of every row, because all verdicts share one error rate.

use evidence::Compare;
use record::Counts;
use stats::{
    Bounded, ERRORS_MARGIN, MinEffect, OpenUnpaired, RunResult, Scale, Spread, Unpaired, UnpairedWay,
};

use crate::baseline::{self, INVALID_DIFFERENCE_MIN, RUNS_MIN};
use crate::compared_by::ComparedBy;
use crate::measured_run::MeasuredRun;
use crate::rates;
use crate::run_result::start_of_slice;

/// Probability that any verdict of any row is wrong.
const ALPHA: f64 = 0.05;

/// Runs of one study under one configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// Figures of the valid runs with enough samples and their bounds, in the unit of the metric.
    pub figures: Vec<Bounded>,
    /// Spread of the measured `figures`; `None` if there are none.
    pub spread: Option<Spread>,
    /// Share of planned requests of these runs that the system did not serve; `None` if nothing was planned.
    pub error_share: Option<f64>,
    /// Like `error_share`, but includes the time for which the system was unavailable.
    unserved_share: f64,
    /// Number of invalid runs. For a stored baseline this includes failed ones, which it does not distinguish.
    pub invalid: usize,
    /// Number of valid runs with too few samples for a verdict by the metric.
    pub too_few_samples: usize,
    /// Costs of the runs. `None` if the runs are not known, as for a stored baseline.
    costs: Option<Costs>,
}

/// Time and variance of the runs of a side.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Costs {
    /// Mean time per figure, in seconds, and the part of it in which the load is measured.
    run_s: [f64; 2],
    /// Variance of a log figure that lies within runs. `None` if it is unknown.
    within: Option<f64>,
}

/// Two sides and their verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Runs of the first study, and of the second.
    pub sides: [Side; 2],
    /// Estimate of the second side relative to the first. `None` if one has no figures, or has a figure of 0 where a ratio is needed.
    pub unpaired: Option<Unpaired>,
    /// Verdict among all rows that were judged together.
    pub verdict: Verdict,
    /// Quickest change that gives a verdict, if the row is inconclusive. `None` if unknown.
    pub way: Option<UnpairedWay>,
}

/// Result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The sides differ.
    Differs {
        /// Whether the difference is below the smallest effect.
        below_matters: bool,
    },
    /// The sides differ by less than the smallest effect, if at all.
    Equivalent,
    /// Undecided; more runs may decide.
    Inconclusive(Option<SignificantAlone>),
    /// The runs cannot decide.
    None(NoVerdict),
}

/// A difference that is significant alone, but not among all rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignificantAlone {
    /// The p-value of the row.
    pub p: f64,
    /// Number of rows that share the error rate.
    pub together: usize,
}

/// Reason why there is no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoVerdict {
    /// The numbers of invalid runs differ by `INVALID_DIFFERENCE_MIN` or more, so the remaining runs are a biased sample.
    UnevenDiscards {
        /// Invalid runs of both sides.
        invalid: [usize; 2],
    },
    /// The better side has more errors.
    BetterHasMoreErrors,
    /// The sides would be equivalent, but one has more errors.
    EquivalentHasMoreErrors,
    /// A side has fewer than [`RUNS_MIN`] eligible runs.
    TooFewRuns {
        /// Eligible runs of both sides.
        runs: [usize; 2],
        /// Valid runs of both sides together with too few samples.
        too_few_samples: usize,
    },
    /// A figure is 0, so there is no ratio.
    NoRatio,
}

impl Side {
    /// Collects observations of runs, each with the counts of its run.
    pub fn of<'a>(seen: impl Iterator<Item = (RunResult, &'a Counts)>) -> Self {
        let (mut side, mut all) = (baseline::Side::default(), Counts::default());
        for (run, counts) in seen {
            match run {
                // A failure is a result of the system, not a missing run.
                RunResult::Failed => continue,
                RunResult::Figure { .. } => all.add(counts),
                _ => {}
            }
            side.note(run);
        }
        Self { error_share: rates::error_share(&all), ..Self::of_baseline(&side) }
    }

    /// Converts the side of a baseline. A baseline does not separate errors from unavailable time, so `error_share`
    /// includes that time.
    pub fn of_baseline(side: &baseline::Side) -> Self {
        let share = stats::error_share(side.errors, side.planned);
        Self {
            spread: Spread::with_infinite(side.figures.iter().map(|figure| figure.value)),
            figures: side.figures.clone(),
            error_share: share,
            unserved_share: share.unwrap_or(0.0),
            invalid: side.invalid,
            too_few_samples: side.too_few,
            costs: None,
        }
    }

    /// Adds what the runs of the side cost, which advice on an undecided comparison needs.
    pub fn with_costs_of<'a>(mut self, runs: impl Iterator<Item = MeasuredRun<'a>>) -> Self {
        let (mut all_s, mut halves) = ([0.0; 2], Vec::new());
        for of in runs {
            let ended_at_unix_ms = of.run.ending.as_ref().map(|ending| ending.ended_at_unix_ms);
            let wall_ms =
                ended_at_unix_ms.map_or(0, |ended| ended.saturating_sub(of.run.new.started_at_unix_ms));
            all_s[0] += wall_ms.max(0) as f64 / 1e3;
            all_s[1] += of.measured.window.map_or(0.0, |window| window.length_s);
            let steadiness = of.run.ending.as_ref().and_then(|ending| ending.steadiness.as_ref());
            let is_whole = start_of_slice(of.run).is_none();
            halves.extend(steadiness.filter(|_| is_whole).and_then(|steadiness| steadiness.halves_share));
        }
        let squares: f64 = halves.iter().map(|share| share * share).sum();
        // The difference between the halves of a run has four times the variance of their mean.
        let within = (!halves.is_empty()).then(|| squares / halves.len() as f64 / 4.0);
        let figures = self.figures.len().max(1) as f64;
        self.costs = Some(Costs { run_s: all_s.map(|all_s| all_s / figures), within });
        self
    }

    fn has_more_errors_than(&self, other: &Self) -> bool {
        self.unserved_share > other.unserved_share + ERRORS_MARGIN
    }
}

/// Returns the smaller of the min effects of two studies that compare by one metric.
pub fn smaller_min_effect(by: &ComparedBy, [first, second]: [&Compare; 2]) -> MinEffect {
    MinEffect { scale: by.scale(), size: first.matters.min(second.matters) }
}

/// Judges all rows together: they share an error rate of 5 % (Holm). A row has a first and a second side.
pub fn judge(
    rows: Vec<[Side; 2]>,
    scale: Scale,
    matters: MinEffect,
    higher_is_better: bool,
) -> Vec<Compared> {
    let mut rows: Vec<Compared> = rows.into_iter().map(|sides| Compared::unjudged(sides, scale)).collect();
    let has_enough = |row: &Compared| row.sides.iter().all(|side| side.figures.len() >= RUNS_MIN);
    // A row without a ratio has no p-value, and does not share the error rate.
    let p_of = |row: &Compared| row.unpaired.filter(|_| has_enough(row)).map(|unpaired| unpaired.p);
    let judged: Vec<(usize, f64)> =
        rows.iter().enumerate().filter_map(|(place, row)| Some((place, p_of(row)?))).collect();
    let p: Vec<f64> = judged.iter().map(|(_, p)| *p).collect();
    let together = judged.len();
    for ((place, _), is_significant) in judged.into_iter().zip(stats::holm(&p, ALPHA)) {
        rows[place].verdict = rows[place].judge(is_significant, together, matters, higher_is_better);
        rows[place].way = rows[place].way(together, matters);
    }
    rows
}

impl Compared {
    fn unjudged(sides: [Side; 2], scale: Scale) -> Self {
        let unpaired = Unpaired::of(&sides[1].figures, &sides[0].figures, scale, ALPHA);
        let verdict = Verdict::None(no_verdict_reason(&sides));
        Self { sides, unpaired, verdict, way: None }
    }

    /// Returns the quickest change that gives a verdict among `together` rows.
    fn way(&self, together: usize, matters: MinEffect) -> Option<UnpairedWay> {
        let is_open = matches!(self.verdict, Verdict::Inconclusive(_)) && matters.scale == Scale::Ratio;
        let [a, b] = [self.sides[0].costs?, self.sides[1].costs?];
        let figures =
            self.sides.each_ref().map(|side| side.figures.iter().map(|of| of.value).collect::<Vec<f64>>());
        let width = |side: &Side| {
            let widths = side.figures.iter().map(|of| (of.high / of.value).max(of.value / of.low).ln());
            widths.sum::<f64>() / side.figures.len().max(1) as f64
        };
        let mean = |of: fn(&Costs) -> Option<f64>| Some((of(&a)? + of(&b)?) / 2.0);
        let open = OpenUnpaired {
            figures: [&figures[0], &figures[1]],
            bounds: width(&self.sides[0]) + width(&self.sides[1]),
            within: mean(|costs| costs.within),
            run_s: [mean(|costs| Some(costs.run_s[0]))?, mean(|costs| Some(costs.run_s[1]))?],
            matters,
            alpha: ALPHA / together.max(1) as f64,
        };
        is_open.then(|| open.way())?
    }

    /// Returns whether the second side is better.
    pub fn is_second_ahead(&self, higher_is_better: bool) -> bool {
        let estimate = self.unpaired.and_then(|of| Some((of.estimate?, of.scale.none())));
        estimate.is_some_and(|(estimate, none)| estimate > none) == higher_is_better
    }

    fn judge(
        &self,
        is_significant: bool,
        together: usize,
        matters: MinEffect,
        higher_is_better: bool,
    ) -> Verdict {
        let (Some(unpaired), [a, b]) = (self.unpaired, &self.sides) else { return self.verdict };
        let invalid = [a.invalid, b.invalid];
        if a.invalid.abs_diff(b.invalid) >= INVALID_DIFFERENCE_MIN {
            return Verdict::None(NoVerdict::UnevenDiscards { invalid });
        }
        if is_significant {
            let (ahead, behind) = if self.is_second_ahead(higher_is_better) { (b, a) } else { (a, b) };
            if ahead.has_more_errors_than(behind) {
                return Verdict::None(NoVerdict::BetterHasMoreErrors);
            }
            let below_matters = unpaired.estimate.is_some_and(|estimate| !matters.is_reached_by(estimate));
            return Verdict::Differs { below_matters };
        }
        if unpaired.differs() {
            return Verdict::Inconclusive(Some(SignificantAlone { p: unpaired.p, together }));
        }
        let is_within = |ends: [f64; 2]| ends.iter().all(|end| !matters.is_reached_by(*end));
        if !unpaired.interval.is_some_and(is_within) {
            return Verdict::Inconclusive(None);
        }
        match a.has_more_errors_than(b) || b.has_more_errors_than(a) {
            true => Verdict::None(NoVerdict::EquivalentHasMoreErrors),
            false => Verdict::Equivalent,
        }
    }
}

/// Returns the reason why a row without a p-value has no verdict.
fn no_verdict_reason(sides: &[Side; 2]) -> NoVerdict {
    let runs = sides.each_ref().map(|side| side.figures.len());
    match runs.iter().any(|count| *count < RUNS_MIN) {
        true => {
            let too_few_samples = sides.iter().map(|side| side.too_few_samples).sum();
            NoVerdict::TooFewRuns { runs, too_few_samples }
        }
        false => NoVerdict::NoRatio,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides(a: &[f64], b: &[f64]) -> [Side; 2] {
        [a, b].map(|figures: &[f64]| {
            let none = Counts::default();
            let one = |value: &f64| (RunResult::exactly(*value, 0, 1_000), &none);
            Side::of(figures.iter().map(one))
        })
    }

    const SLOW: [f64; 6] = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2];
    const FAST: [f64; 6] = [110.0, 111.0, 109.0, 110.5, 109.5, 110.2];
    const LEVEL: [f64; 6] = [100.1, 100.9, 99.1, 100.4, 99.6, 100.3];

    fn judged(rows: Vec<[Side; 2]>, matters: f64) -> Vec<Verdict> {
        let rows = judge(rows, Scale::Ratio, MinEffect::share(matters), true);
        rows.into_iter().map(|row| row.verdict).collect()
    }

    #[test]
    fn rows_share_the_error_rate() {
        let rows = || vec![sides(&SLOW, &FAST), sides(&SLOW, &LEVEL), sides(&SLOW[..4], &FAST[..4])];
        let verdicts = judged(rows(), 0.03);
        assert_eq!(verdicts[..2], [Verdict::Differs { below_matters: false }, Verdict::Equivalent]);
        // With four runs on each side, p is at least 0.029. The stricter of the two remaining tests requires 0.025.
        assert!(
            matches!(verdicts[2], Verdict::Inconclusive(Some(SignificantAlone { together: 3, .. }))),
            "{verdicts:?}"
        );
        assert_eq!(
            judged(vec![sides(&SLOW[..4], &FAST[..4])], 0.2),
            [Verdict::Differs { below_matters: true }]
        );
    }

    #[test]
    fn three_runs_on_each_side_are_too_few() {
        let verdicts = judged(vec![sides(&SLOW[..3], &FAST), sides(&[0.0; 4], &[0.0; 4])], 0.03);
        let too_few = NoVerdict::TooFewRuns { runs: [3, 6], too_few_samples: 0 };
        assert_eq!(verdicts, [Verdict::None(too_few), Verdict::None(NoVerdict::NoRatio)]);
        assert!(judged(Vec::new(), 0.03).is_empty());
    }

    #[test]
    fn more_errors_or_lost_runs_prevent_a_verdict() {
        let mut faster = sides(&SLOW, &FAST);
        faster[1].unserved_share = 0.01;
        assert_eq!(judged(vec![faster], 0.03), [Verdict::None(NoVerdict::BetterHasMoreErrors)]);
        let mut level = sides(&SLOW, &LEVEL);
        level[0].unserved_share = 0.01;
        assert_eq!(judged(vec![level], 0.03), [Verdict::None(NoVerdict::EquivalentHasMoreErrors)]);
        let mut lost = sides(&SLOW, &FAST);
        lost[0].invalid = 3;
        assert_eq!(judged(vec![lost], 0.03), [Verdict::None(NoVerdict::UnevenDiscards { invalid: [3, 0] })]);
    }
}
