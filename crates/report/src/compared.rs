//! Two stored runs, or two stored studies, side by side: what was measured at different times, and so is not paired.

use std::io::Write;

use serde_json::{Value, json};
use store::{Run, Study, Utc};

use crate::error::ReportError;
use crate::item::{Escape, Fact, Item, Tone};
use crate::table::Table;
use crate::text::harmless;
use crate::{Format, LoadRun, Options};

mod asked;
mod bar;
mod conditions;
mod of_runs;
mod of_studies;
mod row;
mod written;

/// Characters of a title.
const TITLE_CHARACTERS_MAX: usize = 60;

/// Two things that can be compared, worked out. The ratio is always that of the second to the first.
pub struct Compared {
    sides: [ComparedItem; 2],
    of: Of,
    /// What else must be known, not escaped.
    notes: Vec<String>,
}

/// One of the two.
struct ComparedItem {
    id: String,
    /// May hold anything: escape it.
    title: String,
    started_at_unix_ms: i64,
}

enum Of {
    Runs(Vec<of_runs::Figure>),
    Studies(of_studies::Studies),
}

impl Compared {
    /// Two runs under the same load.
    pub fn of_runs(first: &Run, second: &Run) -> Result<Self, ReportError> {
        let (figures, notes) = of_runs::compare(first, second)?;
        let side = |run: &Run| ComparedItem {
            id: run.id.to_string(),
            title: run.new.title.clone(),
            started_at_unix_ms: run.new.started_at_unix_ms,
        };
        Ok(Self { sides: [side(first), side(second)], of: Of::Runs(figures), notes })
    }

    /// Two studies with the same metric, and a load in common.
    pub fn of_studies(first: &Study, second: &Study, load_run: LoadRun<'_>) -> Result<Self, ReportError> {
        let (studies, notes) = of_studies::compare(first, second, load_run)?;
        let side = |study: &Study| ComparedItem {
            id: study.id.to_string(),
            title: study.new.title.clone(),
            started_at_unix_ms: study.new.started_at_unix_ms,
        };
        Ok(Self { sides: [side(first), side(second)], of: Of::Studies(studies), notes })
    }

    /// Writes it in a format that has room for it.
    pub fn write(&self, format: &Format, options: &Options, out: &mut dyn Write) -> Result<(), ReportError> {
        format.write_compared(self, options, out)
    }

    /// Everything that is said about the two, in order.
    pub(crate) fn items(&self, escape: Escape) -> Vec<Item> {
        let side = |(name, side): (&str, &ComparedItem)| {
            let title = escape(&harmless(&side.title, TITLE_CHARACTERS_MAX));
            Fact::new(name, format!("{}  {}  {title}", side.id, side.started()))
        };
        let sentences = self.sentences(escape).into_iter().map(|sentence| (Tone::Plain, sentence));
        let notes = self.notes.iter().map(|note| (Tone::Doubtful, escape(note)));
        vec![
            Item::Facts(["A", "B"].into_iter().zip(&self.sides).map(side).collect()),
            Item::Table(self.table(escape)),
            Item::Notes(sentences.chain(notes).collect()),
        ]
    }

    fn table(&self, escape: Escape) -> Table {
        match &self.of {
            Of::Runs(figures) => of_runs::table(figures),
            Of::Studies(studies) => written::table(studies, escape),
        }
    }

    fn sentences(&self, escape: Escape) -> Vec<String> {
        match &self.of {
            Of::Runs(_) => vec![of_runs::SENTENCE.to_owned()],
            Of::Studies(studies) => written::sentences(studies, escape),
        }
    }

    /// The schema `tenbin.compare/1`.
    pub(crate) fn object(&self) -> Value {
        let [a, b] = self
            .sides
            .each_ref()
            .map(|side| json!({ "id": side.id, "title": side.title, "started_at": side.started() }));
        let mut object = json!({
            "schema": "tenbin.compare/1",
            "a": a,
            "b": b,
            "ratio_of": "b/a",
            "is_paired": false,
            "notes": self.notes,
        });
        match &self.of {
            Of::Runs(figures) => {
                object["kind"] = "runs".into();
                object["verdict"] = "none".into();
                object["reason"] = of_runs::SENTENCE.into();
                object["figures"] = figures.iter().map(of_runs::Figure::object).collect();
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
