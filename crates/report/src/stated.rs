//! Facts that a report states, with pairs that exclude each other, and the possible ranges of its figures. Tests check that no report
//! states an excluded pair, and that every figure is in its range.

use evidence::Level;
use judge::results::Scale;
use judge::{Eligibility, rates};

use crate::answer::Certainty;
use crate::study::{self, LoadView, StudyView};
use crate::trust;
use crate::view::View;

/// A fact that a report states about a run, or about a study under one load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ReportedFact {
    /// Every run of the study is valid and not suspect.
    AllRunsValid,
    /// A run is invalid, so its figures must not be used.
    RunInvalid,
    /// No valid runs.
    NoRunValid,
    /// A variant that was measured has no valid run.
    VariantWithoutValidRun,
    /// The figures are within a share of the true ones.
    FiguresBounded,
    /// The comparison has a verdict.
    Conclusive,
    /// The comparison has no verdict, or none yet.
    NoVerdict,
    /// A variant is marked as the best.
    Winner,
    /// Slices differ, but the first slices do not confirm it.
    Withheld,
}

use ReportedFact::{
    AllRunsValid, Conclusive, FiguresBounded, NoRunValid, NoVerdict, RunInvalid, VariantWithoutValidRun,
    Winner, Withheld,
};

/// Pairs of facts that no report may state together.
const EXCLUSIVE_FACTS: &[(ReportedFact, ReportedFact)] = &[
    (AllRunsValid, RunInvalid),
    (AllRunsValid, NoRunValid),
    (AllRunsValid, VariantWithoutValidRun),
    (AllRunsValid, FiguresBounded),
    (NoRunValid, FiguresBounded),
    (NoRunValid, Conclusive),
    (NoRunValid, Winner),
    (Conclusive, NoVerdict),
    (Winner, NoVerdict),
    (Conclusive, Withheld),
    (Winner, Withheld),
];

/// A figure with its possible range.
struct BoundedFigure {
    name: &'static str,
    figure: f64,
    low: f64,
    high: f64,
}

/// Relative error of sums and counters, by which a figure may exceed its range.
const ROUNDING: f64 = 0.002;

/// Contradictions in a report on a run, for developers. Empty if there are none.
pub(crate) fn contradictions_of_run(view: &View<'_>) -> Vec<String> {
    let mut facts = Vec::new();
    match view.validity.verdict {
        _ if view.is_invalid() => facts.extend([RunInvalid, NoRunValid]),
        Level::Valid => facts.push(AllRunsValid),
        _ => facts.extend(trust::line(view).map(|_| FiguresBounded)),
    }
    let response = &view.whole.response.all;
    let largest = response.max_ns.unwrap_or(f64::INFINITY);
    let mut figures = Vec::new();
    let times = response.percentiles_ns.iter().flatten().copied().chain(response.mean_ns);
    figures.extend(times.map(|ns| bounded("response time", ns, 0.0, largest)));
    let outage = view.run.ending.as_ref().and_then(|ending| ending.outage.as_ref());
    let shares = [rates::error_share(&view.whole.counts), outage.map(|outage| outage.gone_share)];
    figures.extend(shares.into_iter().flatten().map(|share| bounded("share", share, 0.0, 1.0)));
    let changes = view.validity.causes.iter().flat_map(|cause| &cause.distorts).filter_map(|of| of.by_share);
    figures.extend(changes.map(|share| bounded("change of a figure", share, -1.0, f64::INFINITY)));
    for (name, bounds) in trust::bounds(view).into_iter().flatten() {
        let highest = if name == "mean_us" { largest / 1e3 } else { f64::INFINITY };
        figures.push(bounded("lower bound", bounds.low(), 0.0, bounds.high()));
        figures.push(bounded("upper bound", bounds.high(), bounds.low(), highest));
    }
    contradictions(&facts, &figures)
}

/// Contradictions in a report on a study, for developers. Empty if there are none.
pub(crate) fn contradictions_of_study(view: &StudyView<'_>) -> Vec<String> {
    view.loads
        .iter()
        .flat_map(|load| contradictions(&facts_of_load(view, load), &figures_of_load(load)))
        .collect()
}

fn facts_of_load(view: &StudyView<'_>, load: &LoadView<'_>) -> Vec<ReportedFact> {
    let eligibility = |run: &View<'_>| run.eligibility_by(view.metric.as_ref());
    let has = |wanted: Eligibility| view.runs.iter().any(|run| eligibility(run) == wanted);
    let mut facts = Vec::new();
    if !view.runs.is_empty() && view.capacity.is_none() {
        let (level, _) = study::validity(view);
        facts.extend((level == Level::Valid).then_some(AllRunsValid));
        facts.extend(has(Eligibility::Invalid).then_some(RunInvalid));
        facts.extend((!has(Eligibility::Valid)).then_some(NoRunValid));
        facts.extend(trust::line_of_study(view).map(|_| FiguresBounded));
        let is_without = |count: usize, valid: usize| count > 0 && valid == 0;
        let rows = load.rows.iter().filter(|row| row.is_ranked);
        let without = rows.filter(|row| is_without(row.runs.len(), row.count(Eligibility::Valid)));
        facts.extend(without.map(|_| VariantWithoutValidRun));
        facts.push(match study::certainty(view, load).0 {
            Certainty::Sure => Conclusive,
            Certainty::Open | Certainty::None => NoVerdict,
            Certainty::Plain => return facts,
        });
        facts.extend(study::winner(load).map(|_| Winner));
        facts.extend(load.sliced.and_then(|sliced| sliced.unconfirmed).map(|_| Withheld));
    }
    facts
}

fn figures_of_load(load: &LoadView<'_>) -> Vec<BoundedFigure> {
    let mut figures = Vec::new();
    for row in &load.rows {
        figures.extend(row.error_share.map(|share| bounded("share of errors", share, 0.0, 1.0)));
        figures.push(bounded("unavailable share", row.gone.share, 0.0, 1.0));
    }
    for pair in load.pairs.iter().chain(&load.further) {
        let found = &pair.comparison;
        let least = if found.scale == Scale::Ratio { 0.0 } else { f64::NEG_INFINITY };
        figures.extend(found.confidence.map(|share| bounded("confidence", share, 0.0, 1.0)));
        let [low, high] = found.interval.unwrap_or([least, f64::INFINITY]);
        figures.push(bounded("low end of an interval", low, least, high));
        figures.extend(found.estimate.map(|estimate| bounded("estimate", estimate, low, high)));
    }
    figures
}

const fn bounded(name: &'static str, figure: f64, low: f64, high: f64) -> BoundedFigure {
    BoundedFigure { name, figure, low, high }
}

fn contradictions(facts: &[ReportedFact], figures: &[BoundedFigure]) -> Vec<String> {
    let is_stated =
        |(one, other): &&(ReportedFact, ReportedFact)| facts.contains(one) && facts.contains(other);
    let pairs = EXCLUSIVE_FACTS.iter().filter(is_stated).map(|(one, other)| format!("{one:?} and {other:?}"));
    let outside = figures.iter().filter(|of| !of.is_possible());
    let outside = outside
        .map(|BoundedFigure { name, figure, low, high }| format!("{name}: {figure}, not {low} to {high}"));
    pairs.chain(outside).collect()
}

impl BoundedFigure {
    fn is_possible(&self) -> bool {
        let tolerance = ROUNDING * self.figure.abs();
        // Infinite figures are possible: a recovery without an end, or an unlimited bound.
        self.figure == self.low
            || self.figure == self.high
            || self.low - tolerance <= self.figure && self.figure <= self.high + tolerance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_of_facts_is_found_and_single_facts_are_not() {
        for (one, other) in EXCLUSIVE_FACTS {
            assert_eq!(contradictions(&[*other, *one], &[]), [format!("{one:?} and {other:?}")]);
            assert!(contradictions(&[*one], &[]).is_empty() && contradictions(&[*other], &[]).is_empty());
        }
    }

    #[test]
    fn impossible_figures_are_found() {
        let of = |figure, low, high| contradictions(&[], &[bounded("share", figure, low, high)]);
        for possible in
            [(0.0, 0.0, 1.0), (1.0, 0.0, 1.0), (f64::INFINITY, 0.0, f64::INFINITY), (100.1, 0.0, 100.0)]
        {
            assert!(of(possible.0, possible.1, possible.2).is_empty(), "{possible:?}");
        }
        for impossible in [(-1.09, -1.0, 1.0), (1.12, 0.0, 1.0), (f64::NAN, 0.0, 1.0), (3.9e5, 0.0, 8e4)] {
            assert_eq!(of(impossible.0, impossible.1, impossible.2).len(), 1, "{impossible:?}");
        }
    }
}
