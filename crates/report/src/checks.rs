//! What a report answers with passed or failed, for programs that run builds: each condition, and whether each run counts.

use judge::Eligibility;
use judge::baseline::Decision;
use store::Verdict;

use crate::breaches;
use crate::capacity::{self, CapacityRow, CapacityView};
use crate::compared::{Compared, Failure};
use crate::study::{self, BaselineAnswer, LoadView, StudyView};
use crate::text::harmless;
use crate::view::View;
use crate::words;

/// Characters of one text from outside.
const TEXT_CHARACTERS_MAX: usize = 500;

/// The checks of one run, or of one load of a study.
pub(crate) struct Group {
    /// The run or load.
    pub(crate) name: String,
    pub(crate) checks: Vec<Check>,
    /// How long it was measured, if that is known.
    pub(crate) duration_s: Option<f64>,
}

/// One question with an answer.
pub(crate) struct Check {
    /// The configuration or the run that it is about.
    pub(crate) of: String,
    /// What was asked.
    pub(crate) name: String,
    pub(crate) outcome: Outcome,
}

/// The answer.
pub(crate) enum Outcome {
    Passed,
    /// The condition was asked too early: too few samples of a short form.
    Skipped(String),
    /// The system did not hold what was asked.
    Failed(String),
    /// The figures must not be used, so there is no answer.
    Invalid(String),
}

/// One group for each run.
pub(crate) fn of_runs(views: &[View<'_>]) -> Vec<Group> {
    views.iter().map(of_run).collect()
}

fn of_run(view: &View<'_>) -> Group {
    let name = safe(&view.name());
    let mut checks = vec![Check { of: name.clone(), name: "run".to_owned(), outcome: ended(view) }];
    for gate in view.run.gates() {
        let outcome = match gate.holds {
            true => Outcome::Passed,
            false => Outcome::Failed(safe(&breaches::with_samples(view, gate))),
        };
        checks.push(Check { of: name.clone(), name: named(&gate.text, gate.step.as_deref()), outcome });
    }
    Group { name, checks, duration_s: view.duration_s() }
}

/// How a run ended, and whether its figures count.
fn ended(view: &View<'_>) -> Outcome {
    let causes = view.validity.causes.iter().map(judge::validity::told);
    let text = safe(&std::iter::once(words::verdict(view)).chain(causes).collect::<Vec<_>>().join("; "));
    match view.verdict {
        Verdict::Complete => Outcome::Passed,
        Verdict::Invalid => Outcome::Invalid(text),
        Verdict::Degraded | Verdict::Partial | Verdict::Aborted => Outcome::Failed(text),
    }
}

/// One group for each load of a study; one group for a search for a capacity, whose runs fail on purpose.
pub(crate) fn of_study(view: &StudyView<'_>) -> Vec<Group> {
    match &view.capacity {
        Some(found) => vec![of_capacity(view, found)],
        None => view.loads.iter().map(|load| of_load(view, load)).collect(),
    }
}

fn of_capacity(view: &StudyView<'_>, found: &CapacityView) -> Group {
    let check = |row: &CapacityRow| {
        let text = safe(&capacity::answer(row).text);
        let outcome = match (row.found.held_per_s, row.found.failed_per_s) {
            (Some(_), _) => Outcome::Passed,
            (None, Some(_)) => Outcome::Failed(text),
            (None, None) => Outcome::Invalid(text),
        };
        Check { of: safe(&found.name(row)), name: safe(&found.asked.join(", ")), outcome }
    };
    let checks = found.rows.iter().map(check).collect();
    Group { name: safe(&view.study.new.title), checks, duration_s: None }
}

fn of_load(view: &StudyView<'_>, load: &LoadView<'_>) -> Group {
    let mut checks = Vec::new();
    for (row, of_row) in load.rows.iter().enumerate() {
        let (valid, runs) = (of_row.count(Eligibility::Valid), of_row.runs.len());
        let outcome = match valid {
            0 => Outcome::Invalid(format!("no valid run of {runs}")),
            _ => Outcome::Passed,
        };
        checks.push(Check { of: safe(&study::row_name(load, row)), name: "valid runs".to_owned(), outcome });
    }
    for gate in study::gates_of_load(view, load) {
        let words = format!(
            "{}, in {} of {}",
            breaches::by_how_much(gate.worst),
            gate.runs - gate.held,
            study::runs(gate.runs)
        );
        let outcome = match gate.runs - gate.held {
            0 => Outcome::Passed,
            // What a short form has too few samples to tell is no breach.
            open if view.study.new.is_quick && open == gate.untold => Outcome::Skipped(safe(&words)),
            _ => Outcome::Failed(safe(&words)),
        };
        let of = safe(&study::row_name(load, gate.row));
        checks.push(Check { of, name: named(gate.text, gate.step), outcome });
    }
    for gate in view.of_baseline.iter().filter(|gate| view.loads[gate.load].name == load.name) {
        let outcome = match &gate.answer {
            BaselineAnswer::NotJudged(why) => Outcome::Skipped(safe(why)),
            BaselineAnswer::Judged(judged) => match judged.decision() {
                Decision::True => Outcome::Passed,
                Decision::Undecided(_) if view.study.new.is_quick => Outcome::Skipped(safe(&judged.words())),
                Decision::Undecided(_) => Outcome::Failed(safe(&format!("undecided: {}", judged.words()))),
                Decision::False => Outcome::Failed(safe(&judged.words())),
            },
        };
        let of = safe(&study::row_name(load, gate.row));
        checks.push(Check { of, name: named(&gate.condition.text, gate.condition.step.as_deref()), outcome });
    }
    let durations = view.runs.iter().filter(|run| run.place().is_some_and(|place| place.load == load.name));
    let duration_s = durations.filter_map(View::duration_s).reduce(|sum, s| sum + s);
    Group { name: safe(load.name), checks, duration_s }
}

/// One group, with the conditions on which a comparison is to fail.
pub(crate) fn of_compared(compared: &Compared) -> Vec<Group> {
    let name = safe(&compared.name());
    let check = |failure: &Failure| {
        let words = safe(&failure.words());
        let outcome = match failure.decision() {
            Decision::True => Outcome::Failed(words),
            Decision::Undecided(_) => Outcome::Skipped(words),
            Decision::False => Outcome::Passed,
        };
        let of = if failure.of.is_empty() { name.clone() } else { safe(&failure.of) };
        Check { of, name: safe(failure.text()), outcome }
    };
    let checks = compared.failures().iter().map(check).collect();
    vec![Group { checks, duration_s: None, name: name.clone() }]
}

fn named(text: &str, step: Option<&str>) -> String {
    match step {
        // Conditions about a step name it themselves.
        Some(step) if !text.starts_with(step) => safe(&format!("{step}: {text}")),
        _ => safe(text),
    }
}

fn safe(text: &str) -> String {
    harmless(text, TEXT_CHARACTERS_MAX)
}
