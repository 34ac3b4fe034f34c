//! Two stored runs, or two stored studies, side by side: what was measured at different times, and so is not paired.

use std::io::Write;

use serde_json::{Value, json};
use store::{Run, Study, Utc};

use crate::error::ReportError;
use crate::formats::escaped_markdown;
use crate::style::Style;
use crate::table::Table;
use crate::text::{harmless, visible, wrapped};
use crate::{Format, LoadRun, Options};

mod asked;
mod bar;
mod conditions;
mod of_runs;
mod of_studies;
mod row;
mod written;

/// Formats that have room for it.
const FORMATS: [&str; 3] = ["terminal", "md", "json"];
/// Characters of a title.
const TITLE_CHARACTERS_MAX: usize = 60;

/// Two things that can be compared, worked out. The ratio is always that of the second to the first.
pub struct Compared {
    sides: [Side; 2],
    of: Of,
    /// What else must be known, not escaped.
    notes: Vec<String>,
}

/// One of the two.
struct Side {
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
        let side = |run: &Run| Side {
            id: run.id.to_string(),
            title: run.new.title.clone(),
            started_at_unix_ms: run.new.started_at_unix_ms,
        };
        Ok(Self { sides: [side(first), side(second)], of: Of::Runs(figures), notes })
    }

    /// Two studies with the same metric, and a load in common.
    pub fn of_studies(first: &Study, second: &Study, load_run: LoadRun<'_>) -> Result<Self, ReportError> {
        let (studies, notes) = of_studies::compare(first, second, load_run)?;
        let side = |study: &Study| Side {
            id: study.id.to_string(),
            title: study.new.title.clone(),
            started_at_unix_ms: study.new.started_at_unix_ms,
        };
        Ok(Self { sides: [side(first), side(second)], of: Of::Studies(studies), notes })
    }

    /// Writes it as `terminal`, `md` or `json`; any other format has no room for it.
    pub fn write(&self, format: &Format, options: &Options, out: &mut dyn Write) -> Result<(), ReportError> {
        match format.name {
            "terminal" => self.terminal(options, out),
            "md" => self.markdown(out),
            "json" => Ok(writeln!(out, "{:#}", self.object())?),
            name => Err(ReportError::NotComparable {
                what: format!("the format {name} has no room for two things side by side"),
                way_out: format!("write one of {}", FORMATS.join(", ")),
            }),
        }
    }

    /// Whether a format has room for it.
    pub fn is_written_as(format: &Format) -> bool {
        FORMATS.contains(&format.name)
    }

    fn terminal(&self, options: &Options, out: &mut dyn Write) -> Result<(), ReportError> {
        let style = Style { color: options.color };
        for (name, side) in ["A", "B"].iter().zip(&self.sides) {
            let title = harmless(&side.title, TITLE_CHARACTERS_MAX);
            writeln!(out, "{}  {}  {}  {title}", style.bold(name), side.id, side.started())?;
        }
        writeln!(out)?;
        self.table(visible).write_terminal("", options.width, out)?;
        writeln!(out)?;
        for sentence in self.sentences(visible) {
            for line in indented(&sentence, options.width) {
                writeln!(out, "{line}")?;
            }
        }
        for note in &self.notes {
            for line in indented(&visible(note), options.width) {
                writeln!(out, "{}", style.doubtful(&line))?;
            }
        }
        Ok(())
    }

    fn markdown(&self, out: &mut dyn Write) -> Result<(), ReportError> {
        for (name, side) in ["A", "B"].iter().zip(&self.sides) {
            writeln!(out, "- {name}: {} {} {}", side.id, side.started(), escaped_markdown(&side.title))?;
        }
        writeln!(out)?;
        self.table(escaped_markdown).write_markdown(out)?;
        writeln!(out)?;
        for sentence in self.sentences(escaped_markdown) {
            writeln!(out, "- {sentence}")?;
        }
        for note in &self.notes {
            writeln!(out, "- {}", escaped_markdown(note))?;
        }
        Ok(())
    }

    fn table(&self, escape: fn(&str) -> String) -> Table {
        match &self.of {
            Of::Runs(figures) => of_runs::table(figures),
            Of::Studies(studies) => written::table(studies, escape),
        }
    }

    fn sentences(&self, escape: fn(&str) -> String) -> Vec<String> {
        match &self.of {
            Of::Runs(_) => vec![of_runs::SENTENCE.to_owned()],
            Of::Studies(studies) => written::sentences(studies, escape),
        }
    }

    /// The schema `tenbin.compare/1`.
    fn object(&self) -> Value {
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

/// Lines of which all but the first are set in.
fn indented(text: &str, width: usize) -> Vec<String> {
    let mut lines = wrapped(text, width, width.saturating_sub(2));
    lines.iter_mut().skip(1).for_each(|line| line.insert_str(0, "  "));
    lines
}

impl Side {
    fn started(&self) -> String {
        Utc::from_unix_ms(self.started_at_unix_ms).to_string()
    }
}
