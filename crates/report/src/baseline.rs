//! Stored baseline of a run or a study, as text and as JSON.

use evidence::{AskedBaseline, Baseline, BaselineLoad, FoundBaseline, NewRun};
use judge::baseline::Decision;
use serde_json::{Value, json};
use units::Utc;

use crate::compared::Failure;
use crate::compared::conditions::{self, Conditions};
use crate::compared::planned_work;
use crate::origin::build;
use crate::study::explained::SlownessExplanation;
use crate::view::View;

/// Names of the two sides in sentences about their differences.
const SIDES: [&str; 2] = ["baseline", "now"];

/// Reference by which the baseline was requested: `label main`. Not escaped.
fn reference_words(asked: &AskedBaseline) -> String {
    match asked {
        AskedBaseline::Label(label) => format!("label {label}"),
        AskedBaseline::File(name) => format!("file {name}"),
        AskedBaseline::Run(name) => name.clone(),
    }
}

/// The baseline, or the reason why there is none. Not escaped.
pub(crate) fn words(baseline: &Baseline) -> String {
    match &baseline.found {
        Err(why) => format!("{}: {why}", reference_words(&baseline.asked)),
        Ok(found) => format!("{}; measured at another time, not paired", name(found)),
    }
}

/// Formats a baseline: `s-20261121-142501-k3f9 (main · 1a2b3c4d5e6f on main, 2026-11-21 14:25 UTC)`. Not escaped.
pub(crate) fn name(found: &FoundBaseline) -> String {
    let build = build(&found.origin);
    let build = if build.is_empty() { build } else { format!("{build}, ") };
    let at = Utc::from_unix_ms(found.started_at_unix_ms).to_minute();
    format!("{} ({build}{at} UTC)", found.id)
}

/// Differences between a baseline and a run, other than results, one sentence each. Not escaped.
pub(crate) fn differences(
    found: &FoundBaseline,
    load: &BaselineLoad,
    run: &NewRun,
    is_same_file: bool,
) -> Vec<String> {
    let mut points = planned_work::differences(&load.into(), &run.into(), is_same_file, SIDES);
    points.extend(conditions::differences(
        &Conditions { host: &found.host, tenbin_version: &found.tenbin_version },
        &Conditions { host: &run.host, tenbin_version: &run.tenbin_version },
        SIDES,
    ));
    points
}

/// Notes on a run that is compared with a stored baseline. Not escaped.
pub(crate) fn notes(view: &View<'_>) -> Vec<String> {
    let Some(baseline) = &view.run.baseline else { return Vec::new() };
    let found = match &baseline.found {
        Ok(found) => found,
        Err(why) => return vec![format!("{why}: {} not judged.", baseline.conditions.join(", "))],
    };
    let mut notes = vec![format!(
        "Baseline: {}, measured at another time; a single run has no confidence interval, so conditions of the baseline are judged \
         by the estimate.",
        name(found)
    )];
    if let Some(load) = found.loads.first() {
        notes.extend(differences(found, load, &view.run.new, false));
    }
    notes.extend(
        judged(view, baseline).iter().map(|judged| format!("{}: {}.", judged.text(), judged.words())),
    );
    notes
}

/// Evaluates every baseline condition of a run. A run that fails because it is slower also gets an explanation.
fn judged(view: &View<'_>, baseline: &Baseline) -> Vec<Failure> {
    let judged = judge::baseline::of_run(view.run, baseline).unwrap_or_default();
    let with_why = |(condition, found)| {
        let judged = Failure::new(String::new(), condition, found);
        let has_failed = *judged.decision() == Decision::False && judged.is_slower();
        let row = baseline.found.as_ref().ok().and_then(|found| found.rows.first());
        let row = row.filter(|_| has_failed);
        let why =
            row.and_then(|row| SlownessExplanation::against_stored(row, [view].into_iter(), view.noun().one));
        judged.with_why(why)
    };
    judged.into_iter().map(with_why).collect()
}

/// JSON object of a baseline, or of the reason why there is none.
pub(crate) fn object(baseline: &Baseline) -> Value {
    let (kind, name) = match &baseline.asked {
        AskedBaseline::Label(label) => ("label", label),
        AskedBaseline::File(name) => ("file", name),
        AskedBaseline::Run(name) => ("run", name),
    };
    let mut object = json!({ "asked": { kind: name }, "is_paired": false, "reason": null });
    match &baseline.found {
        Err(why) => object["reason"] = why.as_str().into(),
        Ok(found) => {
            object["id"] = found.id.as_str().into();
            object["title"] = found.title.as_str().into();
            object["started_at"] = Utc::from_unix_ms(found.started_at_unix_ms).to_string().into();
            object["label"] = found.origin.label.as_deref().into();
            object["commit"] = found.origin.commit.as_deref().into();
            object["branch"] = found.origin.branch.as_deref().into();
            object["tenbin_version"] = found.tenbin_version.as_str().into();
        }
    }
    object
}

/// JSON object of the baseline of a run, with the run's conditions. `None` without a baseline.
pub(crate) fn object_of_run(view: &View<'_>) -> Option<Value> {
    let baseline = view.run.baseline.as_ref()?;
    let mut object = object(baseline);
    object["conditions"] = judged(view, baseline).iter().map(gate_object).collect();
    Some(object)
}

/// JSON object of a condition of a baseline. The verdict is `passed` if the condition is true.
pub(crate) fn gate_object(gate: &Failure) -> Value {
    let mut object = gate.object();
    let verdict = match gate.decision() {
        Decision::True => "passed",
        Decision::False => "failed",
        Decision::Undecided(_) => "undecided",
    };
    object["verdict"] = verdict.into();
    object
}
