//! Checks for build servers: each has passed, failed, or was skipped. A check evaluates a condition, or whether a run counts.

use evidence::Decision;
use judge::baseline::Decision as BaselineDecision;
use judge::{CheckOutcome, CommandEnding, Eligibility};

use crate::breaches;
use crate::capacity::{self, CapacityRow, CapacityView};
use crate::compared::{Compared, Failure};
use crate::ending;
use crate::study::{self, BaselineAnswer, LoadView, StudyView};
use crate::text::sanitize;
use crate::view::View;
use crate::words;

/// Maximum number of characters of a text from outside.
const TEXT_CHARACTERS_MAX: usize = 500;

/// Checks of one run, or of one load of a study.
pub(crate) struct Group {
    /// Name of the run or load.
    pub(crate) name: String,
    pub(crate) checks: Vec<Check>,
    /// Measured time in seconds. `None` if unknown.
    pub(crate) duration_s: Option<f64>,
}

/// Single check and its outcome.
pub(crate) struct Check {
    /// Configuration or run that is checked.
    pub(crate) of: String,
    /// Condition, or name of the check.
    pub(crate) name: String,
    pub(crate) outcome: CheckOutcome,
    /// Explanation of the outcome.
    pub(crate) message: String,
}

impl Check {
    /// `message` is arbitrary text.
    fn new(of: String, name: String, outcome: CheckOutcome, message: &str) -> Self {
        Self { of, name, outcome, message: safe(message) }
    }
}

/// Groups the checks of each run.
pub(crate) fn of_runs(views: &[View<'_>]) -> Vec<Group> {
    views.iter().map(of_run).collect()
}

fn of_run(view: &View<'_>) -> Group {
    let name = safe(&view.name());
    let mut checks = vec![ended(view, name.clone())];
    for gate in view.run.gates() {
        let outcome = if gate.holds() { CheckOutcome::Passed } else { CommandEnding::Breached.row().check };
        let asked = check_name(&gate.text, gate.step.as_deref());
        checks.push(Check::new(name.clone(), asked, outcome, &breaches::value_limit_and_samples(view, gate)));
    }
    Group { name, checks, duration_s: view.duration_s() }
}

/// Checks how a run ended, without its conditions, and whether its figures count.
fn ended(view: &View<'_>, of: String) -> Check {
    let causes = view.validity.causes.iter().map(judge::validity::told);
    let message = std::iter::once(words::verdict(view)).chain(causes).collect::<Vec<_>>().join("; ");
    Check::new(of, "run".to_owned(), CommandEnding::of_verdict(view.verdict).row().check, &message)
}

/// Check of how a study ended, and one group for each load. A capacity search has one group for all loads, because its runs fail on
/// purpose.
pub(crate) fn of_study(view: &StudyView<'_>) -> Vec<Group> {
    let ending = ending::of_study(view);
    let name = safe(&view.study.new.title);
    let ended = ending.map(|ending| {
        let row = ending.row();
        let check = Check::new(name.clone(), "study".to_owned(), row.check, row.sentence);
        Group { name, checks: vec![check], duration_s: None }
    });
    let groups = match &view.capacity {
        Some(found) => vec![of_capacity(view, found)],
        None => view.loads.iter().map(|load| of_load(view, load, ending)).collect(),
    };
    ended.into_iter().chain(groups).collect()
}

fn of_capacity(view: &StudyView<'_>, found: &CapacityView) -> Group {
    let check = |row: &CapacityRow| {
        let (of, asked) = (safe(&found.name(row)), safe(&found.asked.join(", ")));
        Check::new(of, asked, ending::of_search(row).row().check, &capacity::answer(row).text)
    };
    let checks = found.rows.iter().map(check).collect();
    Group { name: safe(&view.study.new.title), checks, duration_s: None }
}

fn of_load(view: &StudyView<'_>, load: &LoadView<'_>, ending: Option<CommandEnding>) -> Group {
    let mut checks = Vec::new();
    for (row, of_row) in load.rows.iter().enumerate() {
        let (valid, failed) = (of_row.count(Eligibility::Valid), of_row.count(Eligibility::Failed));
        let (outcome, message) = match of_row.runs.len() {
            _ if valid > 0 => (CheckOutcome::Passed, String::new()),
            // If the verdict of the study comes from other rows, a row without a valid run is only a warning.
            runs if ending.is_some_and(|ending| ending.code() == 0) => {
                (CheckOutcome::Skipped, format!("no valid run of {runs}"))
            }
            runs if failed == runs && runs > 0 => (
                CommandEnding::SystemFailed.row().check,
                format!("the system failed in {}", study::runs(runs)),
            ),
            runs => (CommandEnding::Invalid.row().check, format!("no valid run of {runs}")),
        };
        let of = safe(&study::name(load.rows[row].place));
        checks.push(Check::new(of, "valid runs".to_owned(), outcome, &message));
    }
    // A row without a valid run was reported above.
    let has_valid = |row: &usize| load.rows[*row].count(Eligibility::Valid) > 0;
    for row in study::unjudged(view, load).into_iter().filter(has_valid) {
        let (of, why) = (safe(&study::name(load.rows[row].place)), study::why_unjudged(load, row));
        checks.push(Check::new(of, "gates".to_owned(), CommandEnding::Invalid.row().check, why));
    }
    for gate in study::gates_of_load(view, load) {
        let worst = match gate.worst.decision {
            Decision::Undecided => format!("undecided: {}", breaches::why_undecided(gate.worst, None)),
            Decision::Holds | Decision::Fails => breaches::value_and_limit(gate.worst),
        };
        let words = format!("{worst}, in {} of {}", gate.runs - gate.held, study::runs(gate.runs));
        let outcome = match gate.runs - gate.held {
            0 => CheckOutcome::Passed,
            // An undecided gate of a quick run is not breached.
            open if view.study.new.is_quick && open == gate.undecided => CheckOutcome::Skipped,
            _ => CommandEnding::Breached.row().check,
        };
        let of = safe(&study::name(load.rows[gate.row].place));
        checks.push(Check::new(of, check_name(gate.text, gate.step), outcome, &words));
    }
    for gate in view.of_baseline.iter().filter(|gate| view.loads[gate.load].name == load.name) {
        let breached = CommandEnding::Breached.row().check;
        let (outcome, message) = match &gate.answer {
            BaselineAnswer::NotJudged(why) => (CheckOutcome::Skipped, why.clone()),
            BaselineAnswer::Judged(judged) => match judged.decision() {
                BaselineDecision::True => (CheckOutcome::Passed, judged.words()),
                BaselineDecision::Undecided(_) if view.study.new.is_quick => {
                    (CheckOutcome::Skipped, judged.words())
                }
                BaselineDecision::Undecided(_) => (breached, format!("undecided: {}", judged.words())),
                BaselineDecision::False => (breached, judged.words()),
            },
        };
        let of = safe(&study::name(load.rows[gate.row].place));
        let asked = check_name(&gate.condition.text, gate.condition.step.as_deref());
        checks.push(Check::new(of, asked, outcome, &message));
    }
    let durations = view.runs.iter().filter(|run| run.place().is_some_and(|place| place.load == load.name));
    let duration_s = durations.filter_map(View::duration_s).reduce(|sum, s| sum + s);
    Group { name: safe(load.name), checks, duration_s }
}

/// Groups the conditions of a comparison.
pub(crate) fn of_compared(compared: &Compared) -> Vec<Group> {
    let name = safe(&compared.name());
    let check = |failure: &Failure| {
        let outcome = failure.ending().row().check;
        let of = if failure.of.is_empty() { name.clone() } else { safe(&failure.of) };
        Check::new(of, safe(failure.text()), outcome, &failure.words())
    };
    let checks = compared.failures().iter().map(check).collect();
    vec![Group { checks, duration_s: None, name: name.clone() }]
}

fn check_name(text: &str, step: Option<&str>) -> String {
    match step {
        // Conditions on a step already contain the name of the step.
        Some(step) if !text.starts_with(step) => safe(&format!("{step}: {text}")),
        _ => safe(text),
    }
}

fn safe(text: &str) -> String {
    sanitize(text, TEXT_CHARACTERS_MAX)
}
