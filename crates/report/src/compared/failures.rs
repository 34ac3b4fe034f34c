//! Conditions under which a comparison fails. They apply to the second side; the first side is the baseline.

use std::collections::BTreeSet;

use evidence::{EvidenceError, Run, Unit};
use judge::baseline::{self, ConditionResult, Decision};
use judge::explanation::TimeByPart;
use judge::words::percent;
use judge::{BaselineLimit, CommandEnding, Condition};
use serde_json::{Value, json};

use crate::LoadRun;
use crate::error::ReportError;
use crate::item::{Escape, Item, Tone};
use crate::noun::Noun;
use crate::study::explained::SlownessExplanation;
use crate::units::percent_with;

/// Maximum number of conditions before the figures.
const NAMED_MAX: usize = 12;

/// Condition on one configuration, and its result in the runs of both sides.
pub(crate) struct Failure {
    /// Configuration and load. Empty if there is only one. Arbitrary text: escape it.
    pub(crate) of: String,
    condition: Condition,
    found: ConditionResult,
    /// Explanation of why the second side is slower. `None` unless the condition failed because it is slower.
    why: Option<SlownessExplanation>,
}

/// Configuration and its runs on both sides. A side that lacks the configuration has no runs.
pub(super) struct Row<'a> {
    pub(super) name: String,
    pub(super) runs: [Vec<&'a Run>; 2],
}

/// Judges every condition on every configuration. True conditions come first, then undecided ones.
pub(super) fn judge(
    conditions: &[Condition],
    rows: &[Row<'_>],
    load_run: LoadRun<'_>,
) -> Result<Vec<Failure>, ReportError> {
    let steps = || rows.iter().flat_map(|row| row.runs[1].iter()).flat_map(|run| run.new.steps.iter());
    let names: BTreeSet<&str> = rows
        .iter()
        .flat_map(|row| row.runs[1].iter())
        .flat_map(|run| run.events())
        .map(|event| event.name.as_str())
        .collect();
    let events = || names.iter().copied();
    for condition in conditions.iter().filter(|_| steps().next().is_some()) {
        let known = condition.check_step(steps().map(String::as_str));
        known.and_then(|()| condition.check_event(events())).map_err(|error| ReportError::NotComparable {
            what: format!(
                "--fail-if {:?}: {}",
                crate::visible(&error.condition),
                crate::visible(&error.what)
            ),
            way_out: crate::visible(&error.help()),
        })?;
    }
    let of_baseline = conditions.iter().filter(|condition| condition.of_baseline.is_some()).count();
    let together = of_baseline * rows.len();
    let with_seconds = |run: &Run| load_run(&run.id);
    let mut failures = Vec::new();
    for row in rows {
        for condition in conditions {
            let side =
                |side: usize| baseline::Side::of(condition, row.runs[side].iter().copied(), &with_seconds);
            let [first, second] = [side(0)?, side(1)?];
            let found = baseline::judge(condition, &first, &second, together);
            let of = if rows.len() > 1 { row.name.clone() } else { String::new() };
            let is_slower =
                found.decision == Decision::True && found.estimate.is_some_and(|of| condition.is_slower(of));
            let why = if is_slower { why(&row.runs)? } else { None };
            failures.push(Failure::new(of, condition.clone(), found).with_why(why));
        }
    }
    failures.sort_by_key(|failure| match failure.found.decision {
        Decision::True => 0,
        Decision::Undecided(_) => 1,
        Decision::False => 2,
    });
    Ok(failures)
}

/// Explains why the second side is slower.
fn why(runs: &[Vec<&Run>; 2]) -> Result<Option<SlownessExplanation>, ReportError> {
    let [a, b] = runs.each_ref().map(|runs| TimeByPart::of_runs(runs.iter().copied()));
    let one = runs[1].first().map_or(Noun::of(Unit::Requests), |run| Noun::of(run.new.unit())).one;
    Ok(SlownessExplanation::apart_of(["A", "B"], [&a?, &b?], one))
}

/// Judges conditions on a comparison of two runs, as a single configuration.
pub(super) fn judge_runs(
    conditions: &[Condition],
    first: &Run,
    second: &Run,
) -> Result<Vec<Failure>, ReportError> {
    let row = Row { name: String::new(), runs: [vec![first], vec![second]] };
    let load = |id: &evidence::RunId| -> Result<Run, EvidenceError> {
        Ok(if *id == first.id { first.clone() } else { second.clone() })
    };
    judge(conditions, &[row], &load)
}

/// The first lines of the report.
pub(super) fn items(failures: &[Failure], escape: Escape) -> Vec<Item> {
    let mut items: Vec<Item> = failures
        .iter()
        .take(NAMED_MAX)
        .map(|failure| {
            let (tone, word) = match failure.found.decision {
                Decision::True => (Tone::Bad, "✗ failed"),
                Decision::Undecided(_) => (Tone::Doubtful, "? undecided"),
                Decision::False => (Tone::Good, "✓ passed"),
            };
            let of = if failure.of.is_empty() { String::new() } else { format!("{}: ", failure.of) };
            Item::Text(tone, escape(&format!("{word}: {of}{}: {}", failure.text(), failure.words())))
        })
        .collect();
    if let Some(more @ 1..) = failures.len().checked_sub(NAMED_MAX) {
        items.push(Item::Text(Tone::Plain, format!("{more} more conditions are in --format json")));
    }
    items
}

impl Failure {
    /// Result of a condition on a configuration.
    pub(crate) fn new(of: String, condition: Condition, found: ConditionResult) -> Self {
        Self { of, condition, found, why: None }
    }

    /// Adds the reason why the second side is slower.
    pub(crate) fn with_why(self, why: Option<SlownessExplanation>) -> Self {
        Self { why, ..self }
    }

    /// Whether the second side is slower than the baseline according to the estimate.
    pub(crate) fn is_slower(&self) -> bool {
        self.found.estimate.is_some_and(|estimate| self.condition.is_slower(estimate))
    }

    /// Number of planned requests in the runs of the second side.
    pub(crate) fn planned(&self) -> u64 {
        self.found.planned
    }

    /// The condition as it was written. Arbitrary text.
    pub(crate) fn text(&self) -> &str {
        &self.condition.text
    }

    /// Whether the condition is true, false, or undecided.
    pub(crate) fn decision(&self) -> &Decision {
        &self.found.decision
    }

    /// Command ending of a result that depends on this condition.
    pub(crate) fn ending(&self) -> CommandEnding {
        match self.found.decision {
            Decision::True => CommandEnding::Breached,
            Decision::Undecided(_) => self.found.no_runs.unwrap_or(CommandEnding::Undecided),
            Decision::False => CommandEnding::Ok,
        }
    }

    /// Size of the difference, number of runs, and the reason if the condition is undecided.
    pub(crate) fn words(&self) -> String {
        self.words_of("")
    }

    /// Like `words`, with the number of samples.
    pub(crate) fn words_of(&self, samples: &str) -> String {
        let [a, b] = self.found.counts;
        let figures = self.found.estimate.map(|estimate| match self.condition.of_baseline {
            None => self.format_in_unit(estimate),
            Some(_) => {
                let interval = match (self.found.interval, self.found.confidence) {
                    (Some([low, high]), Some(confidence)) => {
                        let confidence = percent_with(confidence, 1);
                        format!(
                            " ({confidence} interval {} to {})",
                            self.format_figure(low),
                            self.format_figure(high)
                        )
                    }
                    _ => String::new(),
                };
                let counts = match (self.found.is_paired, b) {
                    (true, 1) => "1 block".to_owned(),
                    (true, _) => format!("{b} blocks"),
                    (false, 1) => format!("{a} and 1 run"),
                    (false, _) => format!("{a} and {b} runs"),
                };
                let of = if self.is_ratio() { "of" } else { "from" };
                format!("{} {of} baseline{interval}, {counts}", self.format_figure(estimate))
            }
        });
        let why = self.why.as_ref().map_or_else(String::new, |why| format!("; {}", why.sentence()));
        match (figures, &self.found.decision) {
            (Some(figures), Decision::Undecided(why)) => format!("{figures}{samples}; {why}"),
            (Some(figures), _) => figures + samples + &why,
            (None, Decision::Undecided(why)) => why.clone(),
            (None, _) => "no figures".to_owned(),
        }
    }

    fn format_in_unit(&self, figure: f64) -> String {
        let write = self.condition.figure.kind().writer();
        let (limit, runs) = (write(self.condition.limit), self.found.counts[1]);
        let figure = write(figure);
        match (runs, self.found.runs_true) {
            (1, _) => format!("{figure}, limit {limit}, 1 run"),
            (_, 0) => format!("{figure} at worst, limit {limit}, {runs} runs"),
            (_, failed) => format!("{figure} at worst, limit {limit}, in {failed} of {runs} runs"),
        }
    }

    fn is_ratio(&self) -> bool {
        self.condition.of_baseline == Some(BaselineLimit::Share)
    }

    /// Formats a ratio in percent, and a difference with its sign.
    fn format_figure(&self, figure: f64) -> String {
        if self.is_ratio() {
            return percent(figure, 2);
        }
        let sign = if figure < 0.0 { "−" } else { "+" };
        format!("{sign}{}", self.condition.figure.kind().writer()(figure.abs()))
    }

    /// JSON object. Shares are plain numbers; other figures are in the unit of the metric.
    pub(crate) fn object(&self) -> Value {
        let (unit, size) = if self.is_ratio() { ("share", 1.0) } else { self.condition.figure.kind().unit() };
        let ConditionResult { counts: [a, b], estimate, interval, confidence, runs_true, decision, .. } =
            &self.found;
        let (verdict, reason) = match decision {
            Decision::True => ("failed", None),
            Decision::False => ("passed", None),
            Decision::Undecided(why) => ("undecided", Some(why)),
        };
        let is_of_baseline = self.condition.of_baseline.is_some();
        json!({
            "condition": self.condition.text,
            "of": self.of,
            "verdict": verdict,
            "reason": reason,
            "compared_by": match self.condition.of_baseline {
                None => "limit",
                Some(BaselineLimit::Share) => "ratio",
                Some(BaselineLimit::Difference) => "difference",
            },
            "unit": unit,
            "limit": self.condition.limit / size,
            "estimate": estimate.map(|figure| figure / size),
            "low": interval.map(|[low, _]| low / size),
            "high": interval.map(|[_, high]| high / size),
            "confidence": confidence,
            "runs_a": is_of_baseline.then_some(a),
            "runs_b": b,
            "is_paired": self.found.is_paired,
            "runs_true": (!is_of_baseline).then_some(runs_true),
            "explanation": self.why.as_ref().map(SlownessExplanation::object),
        })
    }
}
