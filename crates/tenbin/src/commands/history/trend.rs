//! `tenbin history --trend`: shows how throughput and p99 of one plan changed from build to build.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use evidence::{Origin, Procedure, Run};
use judge::{Eligibility, Measured, Metric};
use plan::units::Utc;
use serde_json::{Value, json};
use store::Store;

use super::{Entry, Origins};

/// Figures of a trend, with their keys in JSON and the divisor of their unit in JSON.
const TRACKED_FIGURES: [(&str, &str, f64); 2] =
    [("throughput", "throughput_per_s", 1.0), ("p99", "p99_us", 1e3)];
const COLUMN_HEADS: [&str; 8] =
    ["started (UTC)", "name", "commit", "runs", "throughput", "change", "p99", "change"];
const MISSING_MARK: &str = "–";

/// Key of a series. Only points with equal keys can be compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    plan_hash: String,
    label: Option<String>,
    /// System, variant, and load of a study. Empty for a single run.
    row: String,
}

/// One build: a single run, or the runs of a study on one variant and load.
struct Point {
    id: String,
    started_at_unix_ms: i64,
    origin: Origin,
    runs: usize,
    /// Values in the order of [`TRACKED_FIGURES`].
    figures: [Option<f64>; 2],
}

/// Points of one plan and label, newest first.
pub(super) struct Series {
    title: String,
    label: Option<String>,
    points: Vec<Point>,
}

impl Series {
    /// Series of all entries, in the order of the entries: newest first.
    pub(super) fn read(store: &Store, entries: &[Entry], origins: &Origins) -> anyhow::Result<Vec<Self>> {
        let mut all: Vec<Self> = Vec::new();
        let mut places: BTreeMap<Key, usize> = BTreeMap::new();
        for entry in entries {
            let origin = origins.get(entry.id()).cloned().unwrap_or_default();
            for (plan_hash, row, title, runs) in rows(store, entry)? {
                let key = Key { plan_hash, row, label: origin.label.clone() };
                let place = *places.entry(key).or_insert(all.len());
                if place == all.len() {
                    all.push(Self { title, label: origin.label.clone(), points: Vec::new() });
                }
                all[place].points.push(Point {
                    id: entry.id().to_owned(),
                    started_at_unix_ms: entry.started_at_unix_ms(),
                    origin: origin.clone(),
                    runs: runs.len(),
                    figures: figures(&runs)?,
                });
            }
        }
        Ok(all)
    }

    /// Relative change of a figure since the previous point. `None` if one of the two figures is unknown.
    fn change(&self, point: usize, figure: usize) -> Option<f64> {
        let older = self.points.get(point + 1)?.figures[figure].filter(|older| *older > 0.0)?;
        Some(self.points[point].figures[figure]? / older - 1.0)
    }

    /// JSON object of the series.
    pub(super) fn object(&self) -> Value {
        let points = self.points.iter().enumerate().map(|(number, point)| {
            let mut object = json!({
                "id": point.id,
                "started_at": Utc::from_unix_ms(point.started_at_unix_ms).to_string(),
                "commit": point.origin.commit,
                "branch": point.origin.branch,
                "runs": point.runs,
            });
            for (figure, (name, key, divisor)) in TRACKED_FIGURES.iter().enumerate() {
                object[*key] = json!(point.figures[figure].map(|value| value / divisor));
                object[format!("{name}_change")] = json!(self.change(number, figure));
            }
            object
        });
        json!({ "title": self.title, "label": self.label, "points": points.collect::<Vec<_>>() })
    }

    /// Table for people: a line for each point, and a bar for each figure from the oldest to the newest.
    pub(super) fn table(&self) -> String {
        let label = self.label.as_ref().map_or(String::new(), |label| format!(" · label {label}"));
        let mut text = format!("{}\n", report::visible(&format!("{}{label}", self.title)));
        let lines: Vec<[String; 8]> = (0..self.points.len()).map(|number| self.cells(number)).collect();
        let widths: Vec<usize> = (0..COLUMN_HEADS.len())
            .map(|column| {
                let cells = lines.iter().map(|line| line[column].chars().count());
                cells.chain([COLUMN_HEADS[column].len()]).max().unwrap_or(0)
            })
            .collect();
        for line in std::iter::once(&COLUMN_HEADS.map(str::to_owned)).chain(&lines) {
            for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
                // Text is aligned to the left, figures to the right.
                let _ = match column {
                    0..3 => write!(text, "  {cell:<width$}"),
                    _ => write!(text, "  {cell:>width$}"),
                };
            }
            text.push('\n');
        }
        if self.points.len() > 1 {
            let bars = TRACKED_FIGURES.iter().enumerate().map(|(figure, (name, ..))| {
                let oldest_first: Vec<_> =
                    self.points.iter().rev().map(|point| point.figures[figure]).collect();
                format!("{name} {}", report::bars(&oldest_first))
            });
            let _ = writeln!(text, "  {}  (oldest to newest)", bars.collect::<Vec<_>>().join("  "));
        }
        text
    }

    fn cells(&self, number: usize) -> [String; 8] {
        let point = &self.points[number];
        let commit =
            point.origin.commit.as_deref().or(point.origin.branch.as_deref()).unwrap_or(MISSING_MARK);
        let figure = |figure: usize| cell(point.figures[figure], figure);
        let change = |figure: usize| {
            let change = self.change(number, figure);
            change.map_or(MISSING_MARK.to_owned(), |share| format!("{:+.1} %", share * 100.0))
        };
        [
            Utc::from_unix_ms(point.started_at_unix_ms).to_string(),
            point.id.clone(),
            report::visible(commit),
            point.runs.to_string(),
            figure(0),
            change(0),
            figure(1),
            change(1),
        ]
    }
}

/// Throughput and p99 of an entry that has one configuration and valid runs.
///
/// `None` for other entries, and for a percentile of too few samples.
pub(super) struct Figures([Option<f64>; 2]);

impl Figures {
    pub(super) fn read(store: &Store, entry: &Entry) -> anyhow::Result<Self> {
        match &rows(store, entry)?[..] {
            [(.., runs)] => Ok(Self(figures(runs)?)),
            _ => Ok(Self([None; 2])),
        }
    }

    pub(super) fn cells(&self) -> [String; 2] {
        [0, 1].map(|figure| cell(self.0[figure], figure))
    }

    pub(super) fn add_to_object(&self, object: &mut Value) {
        for (figure, (_, key, divisor)) in TRACKED_FIGURES.iter().enumerate() {
            object[*key] = json!(self.0[figure].map(|value| value / divisor));
        }
    }
}

fn cell(value: Option<f64>, figure: usize) -> String {
    value.map_or(MISSING_MARK.to_owned(), metric(figure).kind.writer())
}

fn metric(figure: usize) -> &'static Metric {
    Metric::named(TRACKED_FIGURES[figure].0).unwrap_or(Metric::usual())
}

/// Hash of the plan, row, title, and valid runs of a point.
type Row = (String, String, String, Vec<Run>);

fn rows(store: &Store, entry: &Entry) -> anyhow::Result<Vec<Row>> {
    match entry {
        Entry::Run(summary) => {
            let run = store.load(&summary.id)?;
            let title = format!("{} · {}", run.new.title, run.new.load_in_words());
            let is_valid = judge::eligibility(&run) == Eligibility::Valid;
            let row = (run.new.plan_hash.clone(), String::new(), title, vec![run]);
            Ok(if is_valid { vec![row] } else { Vec::new() })
        }
        Entry::Study(summary) => {
            let study = store.load_study(&summary.id)?;
            // Each level of a search is a different load.
            if matches!(study.new.compare.procedure, Procedure::Capacity(_)) {
                return Ok(Vec::new());
            }
            let mut rows: BTreeMap<String, Row> = BTreeMap::new();
            for run in study.runs {
                let Some((_, place)) = &run.new.place else { continue };
                if judge::eligibility(&run) != Eligibility::Valid {
                    continue;
                }
                let name = [&study.new.title, &place.system, &place.variant, &place.load];
                let name: Vec<&str> =
                    name.into_iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
                let name = name.join(" · ");
                let new = || (study.new.plan_hash.clone(), name.clone(), name.clone(), Vec::new());
                rows.entry(name.clone()).or_insert_with(new).3.push(run);
            }
            Ok(rows.into_values().collect())
        }
    }
}

/// Median of each figure, over the runs that have it.
fn figures(runs: &[Run]) -> anyhow::Result<[Option<f64>; 2]> {
    let measured = runs.iter().map(Measured::of).collect::<Result<Vec<_>, _>>()?;
    Ok([0, 1].map(|figure| {
        let mut values: Vec<f64> = measured.iter().filter_map(|run| metric(figure).figure(run)).collect();
        values.sort_by(f64::total_cmp);
        let half = values.len() / 2;
        match values.len() {
            0 => None,
            count if count % 2 == 1 => Some(values[half]),
            _ => Some((values[half - 1] + values[half]) / 2.0),
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(id: &str, figures: [Option<f64>; 2]) -> Point {
        Point { id: id.to_owned(), started_at_unix_ms: 0, origin: Origin::default(), runs: 1, figures }
    }

    #[test]
    fn compares_point_with_the_previous_one() {
        let points = vec![
            point("c", [Some(110.0), None]),
            point("b", [Some(100.0), Some(2e6)]),
            point("a", [Some(200.0), Some(1e6)]),
        ];
        let series = Series { title: "GET /".to_owned(), label: Some("main".to_owned()), points };
        let table = series.table();
        let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0].join(" "), "GET / · label main");
        assert_eq!(lines[2][3..], ["1", "110.0/s", "+10.0", "%", "–", "–"], "{table}");
        assert_eq!(lines[3][3..], ["1", "100.0/s", "-50.0", "%", "2.00", "ms", "+100.0", "%"], "{table}");
        assert_eq!(lines[4][3..], ["1", "200.0/s", "–", "1.00", "ms", "–"], "{table}");
        assert!(table.contains("throughput █▅▅  p99 ▅█┈"), "{table}");
        let widths: Vec<usize> = table.lines().skip(1).take(4).map(|line| line.chars().count()).collect();
        assert!(widths.iter().all(|width| *width == widths[0]), "{table}");
        let object = series.object();
        assert_eq!(object["points"][1]["p99_us"], 2000.0);
        assert_eq!(object["points"][1]["p99_change"], 1.0);
        assert_eq!(object["points"][2]["throughput_change"], Value::Null);
    }
}
