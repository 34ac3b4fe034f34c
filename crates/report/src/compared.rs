//! Comparison of two stored runs, or of two stored studies. They were measured at different times, so their results are not paired.

use std::io::Write;

use evidence::{Origin, Run, Study};
use judge::{CommandEnding, Condition};
use serde_json::{Value, json};
use units::Utc;

use crate::alike;
use crate::error::ReportError;
use crate::item::{Escape, Fact, Item, Tone};
use crate::study::explained::SlownessExplanation;
use crate::table::Table;
use crate::text::sanitize;
use crate::{Format, LoadRun, Options};

mod bar;
pub(crate) mod conditions;
mod failures;
mod of_runs;
mod of_stored;
mod of_studies;
pub(crate) mod planned_work;
mod row;
mod written;

pub(crate) use failures::Failure;
pub(crate) use of_stored::StoredComparison;

/// Maximum number of characters of a title.
const TITLE_CHARACTERS_MAX: usize = 60;

/// Comparison of two runs or two studies. Ratios are second to first.
pub struct Compared {
    sides: [ComparedItem; 2],
    of: Content,
    /// Results of the conditions under which the comparison fails.
    failures: Vec<Failure>,
    /// Notes for the reader. Not escaped.
    notes: Vec<String>,
}

/// Run or study on one side of a comparison.
struct ComparedItem {
    id: String,
    /// Arbitrary text: escape it.
    title: String,
    started_at_unix_ms: i64,
    /// Build that was measured. Arbitrary texts.
    origin: Origin,
    /// Whether the side is a run that was profiled.
    is_profiled: bool,
}

enum Content {
    Runs(of_runs::Runs),
    Studies(of_studies::Studies),
}

impl Compared {
    /// Compares two runs under the same load. The comparison fails if one of the conditions in `failing` is true of the second run.
    pub fn of_runs(first: &Run, second: &Run, failing: &[Condition]) -> Result<Self, ReportError> {
        let (runs, notes) = of_runs::compare(first, second)?;
        let failures = failures::judge_runs(failing, first, second)?;
        let side = |run: &Run| ComparedItem {
            id: run.id.to_string(),
            title: run.new.title.clone(),
            started_at_unix_ms: run.new.started_at_unix_ms,
            origin: Origin::default(),
            is_profiled: of_runs::is_profiled(run),
        };
        Ok(Self { sides: [side(first), side(second)], of: Content::Runs(runs), failures, notes })
    }

    /// Compares two studies with the same metric and at least one load in common. The comparison fails if one of the conditions in
    /// `failing` is true of the second study.
    pub fn of_studies(
        first: &Study,
        second: &Study,
        load_run: LoadRun<'_>,
        failing: &[Condition],
    ) -> Result<Self, ReportError> {
        let (studies, failures, notes) = of_studies::compare(first, second, load_run, failing)?;
        let side = |study: &Study| ComparedItem {
            id: study.id.to_string(),
            title: study.new.title.clone(),
            started_at_unix_ms: study.new.started_at_unix_ms,
            origin: Origin::default(),
            is_profiled: false,
        };
        Ok(Self { sides: [side(first), side(second)], of: Content::Studies(studies), failures, notes })
    }

    /// Adds the builds that were measured.
    #[must_use]
    pub fn with_origins(mut self, origins: [Origin; 2]) -> Self {
        for (side, origin) in self.sides.iter_mut().zip(origins) {
            side.origin = origin;
        }
        self
    }

    /// Command ending that follows from the conditions of the comparison.
    pub fn ending(&self) -> CommandEnding {
        self.failures.iter().map(Failure::ending).fold(CommandEnding::Ok, CommandEnding::or_worse)
    }

    /// Results of the conditions under which the comparison fails.
    pub(crate) fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// Names of both sides, not escaped: `main · 1a2b3c4d5e6f (s-1) against s-2`.
    pub(crate) fn name(&self) -> String {
        let [a, b] = self.sides.each_ref().map(|side| match crate::build(&side.origin).as_str() {
            "" => side.id.clone(),
            build => format!("{build} ({})", side.id),
        });
        format!("{b} against {a}")
    }

    /// Writes the comparison. Fails if the format does not support comparisons.
    pub fn write(&self, format: &Format, options: &Options, out: &mut dyn Write) -> Result<(), ReportError> {
        format.write_compared(self, options, out)
    }

    /// Items of the report, in order.
    pub(crate) fn items(&self, escape: Escape) -> Vec<Item> {
        let side = |(name, side): (&str, &ComparedItem)| {
            let [title, build] = [&side.title, &crate::build(&side.origin)]
                .map(|text| escape(&sanitize(text, TITLE_CHARACTERS_MAX)));
            let build = if build.is_empty() { build } else { format!("{build}  ") };
            Fact::new(name, format!("{}  {}  {build}{title}", side.id, side.started()))
        };
        let sentences = self.sentences(escape).into_iter().map(|sentence| (Tone::Plain, sentence));
        let notes = self.notes.iter().map(|note| (Tone::Doubtful, escape(note)));
        let names = if self.failures.is_empty() { ["A", "B"] } else { ["A (baseline)", "B"] };
        let mut items = failures::items(&self.failures, escape);
        items.push(Item::Facts(names.into_iter().zip(&self.sides).map(side).collect()));
        items.push(Item::Table(self.table(escape)));
        items.push(Item::Notes(sentences.chain(notes).collect()));
        items
    }

    fn table(&self, escape: Escape) -> Table {
        match &self.of {
            Content::Runs(runs) => of_runs::table(&runs.figures),
            Content::Studies(studies) => written::table(studies, escape),
        }
    }

    fn sentences(&self, escape: Escape) -> Vec<String> {
        match &self.of {
            Content::Runs(runs) => {
                let why = runs.why.as_ref().map(|why| escape(&format!("{}.", why.sentence())));
                why.into_iter().chain([of_runs::SINGLE_RUNS_NOTE.to_owned()]).collect()
            }
            Content::Studies(studies) => written::sentences(studies, escape),
        }
    }

    /// JSON object with the schema `tenbin.compare/1`.
    pub(crate) fn object(&self) -> Value {
        let [a, b] = self.sides.each_ref().map(|side| {
            json!({
                "id": side.id,
                "title": side.title,
                "started_at": side.started(),
                "label": side.origin.label,
                "commit": side.origin.commit,
                "branch": side.origin.branch,
                "profiled": side.is_profiled,
            })
        });
        let mut object = json!({
            "schema": "tenbin.compare/1",
            "a": a,
            "b": b,
            "ratio_of": "b/a",
            "is_paired": false,
            "notes": self.notes,
            "fail_if": self.failures.iter().map(Failure::object).collect::<Vec<_>>(),
            "ending": self.ending().row().name,
        });
        match &self.of {
            Content::Runs(runs) => {
                object["kind"] = "runs".into();
                object["verdict"] = "none".into();
                object["reason"] = of_runs::SINGLE_RUNS_NOTE.into();
                object["figures"] = runs.figures.iter().map(of_runs::Figure::object).collect();
                object["unlike"] = runs.unlike.iter().map(alike::object).collect();
                object["explanation"] = runs.why.as_ref().map(SlownessExplanation::object).into();
            }
            Content::Studies(studies) => written::add_study_keys(studies, &mut object),
        }
        object
    }
}

impl ComparedItem {
    fn started(&self) -> String {
        Utc::from_unix_ms(self.started_at_unix_ms).to_string()
    }
}
