//! How two studies are written side by side.

use serde_json::{Value, json};

use super::bar::Scale;
use super::of_studies::Studies;
use super::row::{ComparedRow, SideFigures, Verdict};
use crate::item::Escape;
use crate::ratio;
use crate::table::{Cell, Table};
use crate::text::listed;
use crate::units::percent_of;

/// Rows that only one has and that are named.
const ALONE_MAX: usize = 5;

/// A row for each setting.
pub(super) fn table(studies: &Studies, escape: Escape) -> Table {
    let rows = &studies.rows;
    let name = |row: &ComparedRow| match row.variant.as_str() {
        "" => escape(&row.system),
        variant => escape(&format!("{} {variant}", row.system)),
    };
    let mut table = Table::of_names(studies.metric_words, rows.iter().map(name));
    if rows.iter().any(|row| row.load != rows[0].load) {
        table.name("load", rows.iter().map(|row| escape(&row.load)));
    }
    for (side, head) in ["A", "B"].into_iter().enumerate() {
        let middle = |row: &ComparedRow| row.sides[side].spread().map(|spread| spread.median);
        table.column(
            head,
            "",
            rows.iter().map(|row| Cell::figure(middle(row), studies.metric.kind.writer())),
        );
        table.column("runs", "", rows.iter().map(|row| Cell::count(row.sides[side].figures.len() as u64)));
    }
    let of = |row: &ComparedRow| row.unpaired.map(|unpaired| unpaired.ratio);
    table.column("B ÷ A", "", rows.iter().map(|row| Cell::figure(of(row), ratio::times)));
    let interval = |row: &ComparedRow| match row.unpaired.and_then(|of| Some((of.ratio, of.interval?))) {
        Some((ratio, ends)) => ratio::ends_beside(ratio, ends).join("–"),
        None => "–".to_owned(),
    };
    table.column("interval", "", rows.iter().map(interval));
    let ends = |row: &ComparedRow| row.unpaired.map(|of| of.interval.unwrap_or([of.ratio, of.ratio]));
    let scale = Scale::of(rows.iter().filter_map(ends).flatten(), studies.matters);
    let [low, high] = scale.ends().map(ratio::times);
    let drawn =
        |row: &ComparedRow| row.unpaired.map_or_else(String::new, |of| scale.draw(of.ratio, of.interval));
    table.drawings(&format!("{low} to {high}"), "", rows.iter().map(drawn));
    table.words("verdict", rows.iter().map(|row| row.verdict.words(studies.matters)));
    table
}

/// What must be said under the table.
pub(super) fn sentences(studies: &Studies, escape: Escape) -> Vec<String> {
    let mut sentences = vec![
        "A and B were measured at different times. The verdicts hold only if nothing else changed in between, such as \
         the machine, the kernel, versions, or other load. One study that runs both avoids this."
            .to_owned(),
    ];
    if studies.rows.iter().any(|row| row.unpaired.is_some_and(|unpaired| unpaired.interval.is_some())) {
        sentences.push(
            "The ratio is the median of the ratios of every run of B to every run of A. Its 95 % interval is for each row \
             alone. All verdicts together are wrong in at most 5 % (Mann-Whitney, Holm)."
                .to_owned(),
        );
    }
    for row in &studies.rows {
        let name = match row.variant.as_str() {
            "" => row.system.clone(),
            variant => format!("{} {variant}", row.system),
        };
        if let Some(reason) = row.verdict.reason() {
            sentences.push(format!("{} under {}: {reason}.", escape(&name), escape(&row.load)));
        }
    }
    for (side, names) in ["A", "B"].iter().zip(&studies.alone) {
        if !names.is_empty() {
            let named = listed(names.iter().map(|name| escape(name)), ALONE_MAX, "; ");
            sentences.push(format!("Only {side} has {named}."));
        }
    }
    sentences
}

/// The keys that only studies have.
pub(super) fn fill_object(studies: &Studies, object: &mut Value) {
    let (unit, size) = studies.metric.kind.unit();
    object["kind"] = "studies".into();
    object["metric"] = studies.metric.name.into();
    object["unit"] = unit.into();
    object["higher_is_better"] = studies.higher_is_better.into();
    object["matters"] = studies.matters.into();
    object["rows"] = studies.rows.iter().map(|row| row_object(row, size)).collect();
    object["only_a"] = json!(studies.alone[0]);
    object["only_b"] = json!(studies.alone[1]);
}

pub(super) fn row_object(row: &ComparedRow, unit_size: f64) -> Value {
    let side = |side: &SideFigures| {
        let spread = side.spread();
        json!({
            "runs": side.figures.len(),
            "invalid": side.invalid,
            "median": spread.map(|spread| spread.median / unit_size),
            "min": spread.map(|spread| spread.min / unit_size),
            "max": spread.map(|spread| spread.max / unit_size),
            "error_share": side.error_share,
        })
    };
    let interval = row.unpaired.and_then(|unpaired| unpaired.interval);
    json!({
        "load": row.load,
        "system": row.system,
        "variant": row.variant,
        "a": side(&row.sides[0]),
        "b": side(&row.sides[1]),
        "ratio": row.unpaired.map(|unpaired| unpaired.ratio),
        "low": interval.map(|[low, _]| low),
        "high": interval.map(|[_, high]| high),
        "confidence": row.unpaired.and_then(|unpaired| unpaired.confidence),
        "p": row.unpaired.map(|unpaired| unpaired.p),
        "verdict": row.verdict.word(),
        "below_matters": match row.verdict {
            Verdict::Differs { below_matters } => Some(below_matters),
            _ => None,
        },
        "reason": row.verdict.reason(),
    })
}

impl Verdict {
    fn word(&self) -> &'static str {
        match self {
            Self::Differs { .. } => "differs",
            Self::Equivalent => "equivalent",
            Self::Inconclusive(_) => "inconclusive",
            Self::None(_) => "none",
        }
    }

    pub(super) fn words(&self, matters: f64) -> String {
        match self {
            Self::Differs { below_matters: true } => format!("differs, by less than {}", percent_of(matters)),
            Self::Equivalent => format!("equivalent within {}", percent_of(matters)),
            _ => self.word().to_owned(),
        }
    }

    pub(super) fn reason(&self) -> Option<&str> {
        match self {
            Self::Inconclusive(reason) => reason.as_deref(),
            Self::None(reason) => Some(reason),
            _ => None,
        }
    }
}
