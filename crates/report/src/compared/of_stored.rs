//! Comparison of a study with its stored baseline: every configuration that both have, by the metric of the study.

use evidence::EvidenceError;
use judge::baseline;
use judge::comparison::unpaired::{self, Compared, Side};
use serde_json::Value;

use super::row::{self, ComparedRow};
use super::written;
use crate::apart;
use crate::study::StudyView;
use crate::units::percent_with;

/// Comparisons of all configurations that a study shares with its stored baseline, judged together.
#[derive(Default)]
pub(crate) struct StoredComparison {
    rows: Vec<Row>,
    matters: String,
}

struct Row {
    /// Indexes of the load in the study, and of the row in the load.
    place: (usize, usize),
    compared: ComparedRow,
}

impl StoredComparison {
    /// Compares a study whose loads have been evaluated.
    pub(crate) fn of(view: &StudyView<'_>) -> Result<Self, EvidenceError> {
        let compare = &view.study.new.compare;
        let found = view.study.baseline.as_ref().and_then(|baseline| baseline.found.as_ref().ok());
        let (Some(found), Some(by)) = (found, &view.metric) else { return Ok(Self::default()) };
        let (mut places, mut sides) = (Vec::new(), Vec::new());
        for (of_load, load) in view.loads.iter().enumerate() {
            for (of_row, row) in load.rows.iter().enumerate() {
                let stored = found.row(load.name, &row.place.system, &row.place.variant);
                let Some(stored) = stored.and_then(|stored| stored.side(&by.name())) else { continue };
                let runs = row.runs.iter().map(|(run, _)| view.runs[*run].run);
                let both = [baseline::stored_side(stored), baseline::metric_side(by, runs)?];
                sides.push(both.map(|side| Side::of_baseline(&side)));
                places.push((of_load, of_row));
            }
        }
        let all = unpaired::judge(sides, by.scale(), by.min_effect(compare), compare.higher_is_better);
        let row = |(place, compared): ((usize, usize), Compared)| {
            let load = &view.loads[place.0];
            Row { place, compared: ComparedRow::new(load.name, load.rows[place.1].place, compared) }
        };
        let rows = places.into_iter().zip(all).map(row).collect();
        Ok(Self { rows, matters: view.matters() })
    }

    /// Formats one line per configuration, not escaped. `name` returns the name of a configuration.
    pub(crate) fn lines(&self, view: &StudyView<'_>, name: &dyn Fn(usize, usize) -> String) -> Vec<String> {
        let Some(by) = &view.metric else { return Vec::new() };
        let write = by.metric.kind.writer();
        let middle = |side: &Side| side.spread.map_or_else(|| "n/a".to_owned(), |of| write(of.median));
        let line = |row: &Row| {
            let Compared { sides: [was, is], unpaired, verdict, .. } = &row.compared.compared;
            let of_estimate = unpaired.and_then(|of| Some((of.estimate?, of)));
            let told = of_estimate.map(|(estimate, of)| {
                let interval = of.interval.zip(of.confidence).map(|(ends, confidence)| {
                    let [low, high] = apart::each_bound(by, estimate, ends);
                    format!(" ({low} to {high}, {} confidence)", percent_with(confidence, 1))
                });
                format!(": {}{}", apart::alone(by, estimate), interval.unwrap_or_default())
            });
            let counts = [was, is].map(|side| side.figures.len());
            let why = row::reason(&row.compared.compared).map_or_else(String::new, |why| format!(": {why}"));
            format!(
                "{}: {} {}, was {}{}; {}{why}; {} and {} runs",
                name(row.place.0, row.place.1),
                view.metric_words(),
                middle(is),
                middle(was),
                told.unwrap_or_default(),
                row::words(verdict, &self.matters),
                counts[0],
                counts[1]
            )
        };
        self.rows.iter().map(line).collect()
    }

    /// JSON objects, one for each configuration.
    pub(crate) fn object(&self, view: &StudyView<'_>) -> Value {
        let size = view.metric.as_ref().map_or(1.0, |by| by.metric.kind.unit().1);
        self.rows.iter().map(|row| written::row_object(&row.compared, size)).collect()
    }
}
