//! Table of the answers to all plants, with counts by grade.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::answer::{Answer, Grade};
use super::plants::{self, Kind, Plant};
use crate::calibration::{Calibration, Statement};

/// Min share of right answers, and max share of wrong answers.
const RIGHT_MIN: f64 = 0.9;
const WRONG_MAX: f64 = 0.02;

/// Answers so far, in the order of their runs.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

/// Answers in a file that [`Table::write`] wrote.
#[derive(Debug, Deserialize)]
struct Stored {
    rows: Vec<StoredRow>,
}

#[derive(Debug, Deserialize)]
struct StoredRow {
    plant: String,
    #[serde(flatten)]
    answer: Answer,
}

/// Answer to one plant with its grade.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    plant: &'static str,
    kind: Kind,
    right: &'static [&'static str],
    also: &'static [&'static str],
    grade: Grade,
    /// Whether the first cause is a cause of the plant.
    is_first_right: bool,
    #[serde(flatten)]
    answer: Answer,
}

impl Row {
    /// Formats the row as a line for the terminal.
    pub(crate) fn line(&self) -> String {
        let first = self.answer.causes.first().map_or("none", |cause| &cause.resource);
        let planted = self.right.join(" or ");
        let also =
            if self.also.is_empty() { String::new() } else { format!(" and {}", self.also.join(" or ")) };
        format!(
            "{:<7} {:<30} planted {planted}{also}, said {first}: {}",
            word(self.grade),
            self.plant,
            self.answer.because
        )
    }
}

impl Table {
    pub(crate) fn add(&mut self, plant: &'static Plant, answer: Answer) -> &Row {
        let grade = answer.grade(plant);
        let at = self.rows.len();
        self.rows.push(Row {
            plant: plant.name,
            kind: plant.kind,
            right: plant.right,
            also: plant.also,
            grade,
            is_first_right: answer.names_first(plant),
            answer,
        });
        &self.rows[at]
    }

    /// Reads the answers of an earlier run, as [`Table::write`] wrote them, and grades them again.
    ///
    /// # Errors
    /// The file cannot be read, or names an unknown plant.
    pub(crate) fn read(&mut self, path: &Path) -> anyhow::Result<()> {
        let shown = path.display();
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
        let stored: Stored =
            serde_json::from_str(&text).with_context(|| format!("{shown} has no answers"))?;
        for StoredRow { plant, answer } in stored.rows {
            let known = plants::all().find(|known| known.name == plant);
            self.add(known.with_context(|| format!("{shown} has an unknown plant, {plant}"))?, answer);
        }
        Ok(())
    }

    /// Counts right statements by stated share and rung. A statement on a plant with two causes is right if it names one of them.
    pub(crate) fn calibration(&self) -> Calibration {
        let statements = self.rows.iter().filter_map(|row| {
            let first = row.answer.causes.first()?;
            Some(Statement {
                resource: &first.resource,
                share: row.answer.share,
                rung: &row.answer.rung,
                is_right: row.is_first_right,
            })
        });
        Calibration::count("share stated for plants by another author", statements)
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    fn count(&self, grade: Grade, kind: Option<Kind>) -> usize {
        let is_counted = |row: &&Row| row.grade == grade && kind.is_none_or(|kind| row.kind == kind);
        self.rows.iter().filter(is_counted).count()
    }

    /// Whether enough answers are right, few enough are wrong, and no run failed.
    pub(crate) fn is_good(&self) -> bool {
        let all = self.rows.len() as f64;
        self.count(Grade::Right, None) as f64 >= RIGHT_MIN * all
            && self.count(Grade::Wrong, None) as f64 <= WRONG_MAX * all
            && self.count(Grade::NoRun, None) == 0
    }

    /// Formats the counts by kind and in total, and the number of wrong answers called confirmed.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "\n{:<10} {:>6} {:>6} {:>6} {:>6} {:>6}\n",
            "kind", "plants", "right", "vague", "wrong", "no run"
        );
        let mut kinds: BTreeMap<Kind, usize> = BTreeMap::new();
        self.rows.iter().for_each(|row| *kinds.entry(row.kind).or_default() += 1);
        let lines =
            kinds.into_iter().map(|(kind, plants)| (format!("{kind:?}").to_lowercase(), Some(kind), plants));
        for (name, kind, plants) in lines.chain([("all".to_owned(), None, self.rows.len())]) {
            let [right, vague, wrong, none] =
                [Grade::Right, Grade::Vague, Grade::Wrong, Grade::NoRun].map(|grade| self.count(grade, kind));
            text.push_str(&format!("{name:<10} {plants:>6} {right:>6} {vague:>6} {wrong:>6} {none:>6}\n"));
        }
        let is_false = |row: &&Row| row.grade == Grade::Wrong && row.answer.certainty == "confirmed";
        text + &format!("wrong and called confirmed: {}", self.rows.iter().filter(is_false).count())
    }

    /// Writes all rows as JSON.
    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self).context("cannot write JSON")?;
        fs::write(path, text + "\n")
            .with_context(|| format!("cannot write {}; name another with --json", path.display()))
    }
}

fn word(grade: Grade) -> &'static str {
    match grade {
        Grade::Right => "right",
        Grade::Vague => "vague",
        Grade::Wrong => "WRONG",
        Grade::NoRun => "no run",
    }
}
