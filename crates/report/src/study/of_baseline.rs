//! Gates that are baseline conditions, and the stored baseline of a study.

use evidence::{EvidenceError, Study};
use judge::baseline::{self, Decision};
use judge::{Condition, Eligibility, Setting};
use serde_json::{Value, json};

use super::explained::SlownessExplanation;
use super::{LoadView, StudyPieces, StudyView, name, row_name};
use crate::LoadRun;
use crate::breaches;
use crate::compared::Failure;
use crate::item::Tone;
use crate::noun::Noun;
use crate::text::{listed, truncate_list};
use crate::view::View;

/// Maximum number of lines about a stored baseline, and of differences from it.
const LINES_MAX: usize = 6;

/// A gate on a configuration that is a baseline condition.
pub(crate) struct BaselineGate {
    /// Indexes of the load in the study, and of the configuration in the rows of the load.
    pub(crate) load: usize,
    pub(crate) row: usize,
    /// Condition as text. Arbitrary text: escape it.
    pub(crate) condition: Condition,
    pub(crate) answer: Answer,
}

/// Result of the gate.
pub(crate) enum Answer {
    Judged(Box<Failure>),
    /// Reason why there is no baseline. Arbitrary text.
    NotJudged(String),
}

/// All baseline conditions of a study.
pub(super) fn gates(
    study: &Study,
    loads: &[LoadView<'_>],
    views: &[View<'_>],
    load_run: LoadRun<'_>,
) -> Result<Vec<BaselineGate>, EvidenceError> {
    let gates = baseline::gates(study, &|run| load_run(&run.id))?;
    let placed = |gate: baseline::Gate| {
        let load = loads.iter().position(|load| load.name == gate.load)?;
        let row = loads[load].rows.iter().position(|row| Setting::of(row.place) == gate.setting)?;
        let answer = match gate.answer {
            baseline::Answer::NotJudged(why) => Answer::NotJudged(why),
            baseline::Answer::Judged(found) => {
                let of = name(loads[load].rows[row].place);
                let judged = Failure::new(of, gate.condition.clone(), found);
                let has_failed = *judged.decision() == Decision::False && judged.is_slower();
                let why = has_failed.then(|| why(study, &loads[load], row, views)).flatten();
                Answer::Judged(Box::new(judged.with_why(why)))
            }
        };
        Some(BaselineGate { load, row, condition: gate.condition, answer })
    };
    Ok(gates.into_iter().filter_map(placed).collect())
}

/// Explains why a configuration is slower than the baseline.
fn why(study: &Study, load: &LoadView<'_>, row: usize, views: &[View<'_>]) -> Option<SlownessExplanation> {
    let of = &load.rows[row];
    let one = Noun::of_all(views).one;
    let Some(stored) = &study.baseline else {
        return SlownessExplanation::in_blocks(views, load, [load.baseline?, row], one);
    };
    let found = stored.found.as_ref().ok()?;
    let stored = found.row(load.name, &of.place.system, &of.place.variant)?;
    SlownessExplanation::against_stored(
        stored,
        of.eligibility(Eligibility::Valid).map(|run| &views[run]),
        one,
    )
}

fn of_load<'v>(
    view: &'v StudyView<'_>,
    load: &LoadView<'_>,
) -> impl Iterator<Item = &'v BaselineGate> + use<'v> {
    let place = view.loads.iter().position(|known| known.name == load.name);
    view.of_baseline.iter().filter(move |gate| Some(gate.load) == place)
}

/// Baseline conditions that were judged but do not hold, each with whether it is undecided.
fn breached_gates<'v>(
    view: &'v StudyView<'_>,
    load: &LoadView<'_>,
) -> impl Iterator<Item = (&'v BaselineGate, &'v Failure, bool)> + use<'v> {
    let is_quick = view.study.new.is_quick;
    of_load(view, load).filter_map(move |gate| {
        let Answer::Judged(judged) = &gate.answer else { return None };
        let judged = judged.as_ref();
        match judged.decision() {
            Decision::True => None,
            Decision::Undecided(_) => (!is_quick).then_some((gate, judged, true)),
            Decision::False => Some((gate, judged, false)),
        }
    })
}

/// Failed baseline conditions, with sizes and numbers of samples. Escaped.
pub(super) fn failed(page: &StudyPieces<'_>, view: &StudyView<'_>, load: &LoadView<'_>) -> Vec<String> {
    let worse = breached_gates(view, load).filter(|(.., is_undecided)| !is_undecided);
    worse.map(|(gate, judged, _)| gate_sentence(page, view, load, gate, judged)).collect()
}

/// Undecided baseline conditions and the reasons. Escaped. `None` without any.
pub(super) fn undecided(page: &StudyPieces<'_>, view: &StudyView<'_>, load: &LoadView<'_>) -> Option<String> {
    let open = breached_gates(view, load).filter(|(.., is_undecided)| *is_undecided);
    let open: Vec<String> =
        open.map(|(gate, judged, _)| gate_sentence(page, view, load, gate, judged)).collect();
    (!open.is_empty()).then(|| format!("Gate undecided: {}.", listed(open, breaches::NAMED_MAX, "; ")))
}

fn gate_sentence(
    page: &StudyPieces<'_>,
    view: &StudyView<'_>,
    load: &LoadView<'_>,
    gate: &BaselineGate,
    judged: &Failure,
) -> String {
    let samples = format!(", {}", view.noun().counted(judged.planned()));
    let (text, words) = (page.text(&gate.condition.text), page.text(&judged.words_of(&samples)));
    format!("{text}: {}: {words}", page.row(load, gate.row))
}

/// All baseline conditions under a load: tone, mark, and line. Escaped.
pub(super) fn lines(
    page: &StudyPieces<'_>,
    view: &StudyView<'_>,
    load: &LoadView<'_>,
) -> Vec<(Tone, char, String)> {
    if let Some(line) = missing_baseline_line(page, view, load) {
        return vec![line];
    }
    let line = |gate: &BaselineGate| {
        let text = page.text(&gate.condition.text);
        let of = match load.rows.len() {
            1 => String::new(),
            _ => format!(" for {}", page.row(load, gate.row)),
        };
        match &gate.answer {
            Answer::NotJudged(why) => {
                (Tone::Doubtful, '?', format!("{text}: not judged{of}: {}", page.text(why)))
            }
            Answer::Judged(judged) => {
                let words = page.text(&judged.words());
                match judged.decision() {
                    Decision::True => (Tone::Plain, '✓', format!("{text}: held{of}: {words}")),
                    Decision::False => (Tone::Bad, '✗', format!("{text}: failed{of}: {words}")),
                    Decision::Undecided(_) if view.study.new.is_quick => {
                        (Tone::Doubtful, '?', format!("{text}: not decided by a quick study{of}: {words}"))
                    }
                    Decision::Undecided(_) => (Tone::Bad, '✗', format!("{text}: undecided{of}: {words}")),
                }
            }
        }
    };
    of_load(view, load).map(line).collect()
}

/// Line about conditions that lack a baseline. `None` if there is one.
fn missing_baseline_line(
    page: &StudyPieces<'_>,
    view: &StudyView<'_>,
    load: &LoadView<'_>,
) -> Option<(Tone, char, String)> {
    let why = view.study.baseline.as_ref()?.found.as_ref().err()?;
    let mut texts: Vec<&str> = Vec::new();
    for gate in of_load(view, load) {
        if !texts.contains(&&*gate.condition.text) {
            texts.push(&gate.condition.text);
        }
    }
    let texts = listed(texts.iter().map(|text| page.text(text)), LINES_MAX, ", ");
    (!texts.is_empty()).then(|| (Tone::Doubtful, '?', format!("not judged: {texts}: {}", page.text(why))))
}

/// The stored baseline, the result of every configuration against it, and other differences. Escaped.
pub(crate) fn facts(page: &StudyPieces<'_>, view: &StudyView<'_>) -> Vec<String> {
    let Some(stored) = &view.study.baseline else { return Vec::new() };
    let mut lines = vec![crate::baseline::words(stored)];
    let of_several = view.loads.len() > 1;
    let name = |load: usize, row: usize| match of_several {
        true => format!("{} ({})", row_name(&view.loads[load], row), view.loads[load].name),
        false => row_name(&view.loads[load], row),
    };
    lines.extend(view.against_stored.lines(view, &name));
    lines.extend(differences(view));
    truncate_list(&mut lines, LINES_MAX, |more| format!("and {more} more"));
    lines.iter().map(|line| page.text(line)).collect()
}

/// Differences between the study and its stored baseline, without duplicates.
fn differences(view: &StudyView<'_>) -> Vec<String> {
    let found = view.study.baseline.as_ref().and_then(|stored| stored.found.as_ref().ok());
    let Some(found) = found else { return Vec::new() };
    let is_same_file = found.plan_hash.as_ref() == Some(&view.study.new.plan_hash);
    let mut points: Vec<String> = Vec::new();
    for load in &view.loads {
        let run = load.rows.iter().find_map(|row| row.runs.first());
        let (Some(stored), Some((run, _))) = (found.load(load.name), run) else { continue };
        let new = &view.runs[*run].run.new;
        for point in crate::baseline::differences(found, stored, new, is_same_file) {
            if !points.contains(&point) {
                points.push(point);
            }
        }
    }
    points
}

/// Number of blocks that may decide undecided conditions: twice the current number, up to the maximum. `None` if there is nothing
/// to decide.
pub(super) fn blocks_to_add(view: &StudyView<'_>) -> Option<u32> {
    let blocks = view.study.blocks();
    let is_open =
        view.loads.iter().any(|load| breached_gates(view, load).any(|(.., is_undecided)| is_undecided));
    let more = blocks.saturating_mul(2).min(judge::results::EXTENDED_MAX);
    (is_open && more > blocks).then_some(more)
}

impl BaselineGate {
    /// Whether the gate is breached: the result is worse, or undecided. In a quick study, only a worse result is a breach.
    pub(crate) fn is_breached(&self, is_quick: bool) -> bool {
        let Answer::Judged(judged) = &self.answer else { return false };
        match judged.decision() {
            Decision::True => false,
            Decision::False => true,
            Decision::Undecided(_) => !is_quick,
        }
    }

    /// JSON object of the gate.
    pub(crate) fn object(&self, view: &StudyView<'_>) -> Value {
        let load = &view.loads[self.load];
        let place = load.rows[self.row].place;
        let mut object = match &self.answer {
            Answer::Judged(judged) => crate::baseline::gate_object(judged),
            Answer::NotJudged(why) => json!({
                "condition": self.condition.text,
                "of": name(place),
                "verdict": "not_judged",
                "reason": why,
            }),
        };
        object["load"] = load.name.into();
        object["system"] = place.system.as_str().into();
        object["variant"] = place.variant.as_str().into();
        object
    }
}

impl StudyView<'_> {
    /// JSON object of the stored baseline, with the comparison of every configuration. `None` without one.
    pub(crate) fn stored_baseline_object(&self) -> Option<Value> {
        let stored = self.study.baseline.as_ref()?;
        let mut object = crate::baseline::object(stored);
        object["rows"] = self.against_stored.object(self);
        object["notes"] = json!(differences(self));
        Some(object)
    }
}
