//! Two stored runs, or two stored studies, side by side: what was measured at different times, and so is not paired.

use std::io::Write;

use evidence::{Origin, Run, Study};
use judge::{CommandEnding, Condition};
use serde_json::{Value, json};
use units::Utc;

use crate::error::ReportError;
use crate::item::{Escape, Fact, Item, Tone};
use crate::study::explained::Why;
use crate::table::Table;
use crate::text::harmless;
use crate::{Format, LoadRun, Options};

pub(crate) mod asked;
mod bar;
pub(crate) mod conditions;
mod failures;
mod of_runs;
mod of_stored;
mod of_studies;
mod row;
mod written;

pub(crate) use failures::Failure;
pub(crate) use of_stored::AgainstStored;

/// Characters of a title.
const TITLE_CHARACTERS_MAX: usize = 60;

/// Two things that can be compared, worked out. The ratio is always that of the second to the first.
pub struct Compared {
    sides: [ComparedItem; 2],
    of: Of,
    /// The conditions on which it is to fail, judged.
    failures: Vec<Failure>,
    /// What else must be known, not escaped.
    notes: Vec<String>,
}

/// One of the two.
struct ComparedItem {
    id: String,
    /// May hold anything: escape it.
    title: String,
    started_at_unix_ms: i64,
    /// Which build was measured; its texts may hold anything.
    origin: Origin,
    /// Whether it is a run that was profiled.
    is_profiled: bool,
}

enum Of {
    Runs(of_runs::Runs),
    Studies(of_studies::Studies),
}

impl Compared {
    /// Two runs under the same load, of which the second is held against conditions on which the comparison is to fail.
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
        Ok(Self { sides: [side(first), side(second)], of: Of::Runs(runs), failures, notes })
    }

    /// Two studies with the same metric, and a load in common, of which the second is held against conditions on which the comparison
    /// is to fail.
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
        Ok(Self { sides: [side(first), side(second)], of: Of::Studies(studies), failures, notes })
    }

    /// The same, with the builds that were measured.
    #[must_use]
    pub fn with_origins(mut self, origins: [Origin; 2]) -> Self {
        for (side, origin) in self.sides.iter_mut().zip(origins) {
            side.origin = origin;
        }
        self
    }

    /// How the comparison ends, by the conditions on which it is to fail.
    pub fn ending(&self) -> CommandEnding {
        self.failures.iter().map(Failure::ending).fold(CommandEnding::Ok, CommandEnding::or_worse)
    }

    /// The conditions on which it is to fail, judged.
    pub(crate) fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// Both sides in a few words, not escaped: `main · 1a2b3c4d5e6f (s-1) and s-2`.
    pub(crate) fn name(&self) -> String {
        let [a, b] = self.sides.each_ref().map(|side| match crate::build(&side.origin).as_str() {
            "" => side.id.clone(),
            build => format!("{build} ({})", side.id),
        });
        format!("{b} against {a}")
    }

    /// Writes it in a format that has room for it.
    pub fn write(&self, format: &Format, options: &Options, out: &mut dyn Write) -> Result<(), ReportError> {
        format.write_compared(self, options, out)
    }

    /// All pieces of the comparison, in order.
    pub(crate) fn items(&self, escape: Escape) -> Vec<Item> {
        let side = |(name, side): (&str, &ComparedItem)| {
            let [title, build] = [&side.title, &crate::build(&side.origin)]
                .map(|text| escape(&harmless(text, TITLE_CHARACTERS_MAX)));
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
            Of::Runs(runs) => of_runs::table(&runs.figures),
            Of::Studies(studies) => written::table(studies, escape),
        }
    }

    fn sentences(&self, escape: Escape) -> Vec<String> {
        match &self.of {
            Of::Runs(runs) => {
                let why = runs.why.as_ref().map(|why| escape(&format!("{}.", why.sentence())));
                why.into_iter().chain([of_runs::SENTENCE.to_owned()]).collect()
            }
            Of::Studies(studies) => written::sentences(studies, escape),
        }
    }

    /// The schema `tenbin.compare/1`.
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
            Of::Runs(runs) => {
                object["kind"] = "runs".into();
                object["verdict"] = "none".into();
                object["reason"] = of_runs::SENTENCE.into();
                object["figures"] = runs.figures.iter().map(of_runs::Figure::object).collect();
                object["explanation"] = runs.why.as_ref().map(Why::object).into();
            }
            Of::Studies(studies) => written::fill_object(studies, &mut object),
        }
        object
    }
}

impl ComparedItem {
    fn started(&self) -> String {
        Utc::from_unix_ms(self.started_at_unix_ms).to_string()
    }
}
