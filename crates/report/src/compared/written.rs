//! Writes the comparison of two studies: table, sentences, and JSON.

use judge::comparison::unpaired::{Side, Verdict};
use judge::results::Scale;
use serde_json::{Value, json};

use super::bar::Axis;
use super::of_studies::Studies;
use super::row::{self, ComparedRow};
use crate::alike;
use crate::apart;
use crate::item::Escape;
use crate::ratio;
use crate::study::explained::SlownessExplanation;
use crate::table::{Cell, Table};
use crate::text::listed;

/// Maximum number of configurations that are named although only one study has them.
const UNMATCHED_MAX: usize = 5;

/// Table with a row for each configuration.
pub(super) fn table(studies: &Studies, escape: Escape) -> Table {
    let rows = &studies.rows;
    let name = |row: &ComparedRow| match row.variant.as_str() {
        "" => escape(&row.system),
        variant => escape(&format!("{} {variant}", row.system)),
    };
    let mut table = Table::of_names(&studies.metric_words, rows.iter().map(name));
    if rows.iter().any(|row| row.load != rows[0].load) {
        table.name("load", rows.iter().map(|row| escape(&row.load)));
    }
    for (side, head) in ["A", "B"].into_iter().enumerate() {
        let middle = |row: &ComparedRow| row.compared.sides[side].spread.map(|spread| spread.median);
        table.column(
            head,
            "",
            rows.iter().map(|row| Cell::figure(middle(row), studies.by.metric.kind.writer())),
        );
        table.column(
            "runs",
            "",
            rows.iter().map(|row| Cell::count(row.compared.sides[side].figures.len() as u64)),
        );
    }
    let by = &studies.by;
    let of = |row: &ComparedRow| row.compared.unpaired.and_then(|unpaired| unpaired.estimate);
    let head = match by.scale() {
        Scale::Ratio => "B ÷ A",
        Scale::Difference => "B − A",
    };
    table.column(
        head,
        "",
        rows.iter().map(|row| Cell::figure(of(row), |estimate| apart::alone(by, estimate))),
    );
    let interval =
        |row: &ComparedRow| match row.compared.unpaired.and_then(|of| Some((of.estimate?, of.interval?))) {
            Some((estimate, ends)) => apart::interval_bounds(by, estimate, ends),
            None => "–".to_owned(),
        };
    table.column("interval", "", rows.iter().map(interval));
    if by.scale() == Scale::Ratio {
        draw(studies, &mut table);
    }
    let matters = apart::min_effect(by, studies.matters);
    table.words("verdict", rows.iter().map(|row| row::words(&row.compared.verdict, &matters)));
    table
}

/// Draws each ratio and its interval on a common axis.
fn draw(studies: &Studies, table: &mut Table) {
    let drawn = |row: &ComparedRow| row.compared.unpaired.and_then(|of| Some((of.estimate?, of.interval)));
    let ends = studies.rows.iter().filter_map(drawn);
    let ends = ends.flat_map(|(ratio, interval)| interval.unwrap_or([ratio, ratio]));
    let axis = Axis::of(ends, studies.matters.size);
    let [low, high] = axis.ends().map(ratio::times);
    let line =
        |row: &ComparedRow| drawn(row).map_or_else(String::new, |(ratio, ends)| axis.draw(ratio, ends));
    table.drawings(&format!("{low} to {high}"), "", studies.rows.iter().map(line));
}

/// Sentences below the table.
pub(super) fn sentences(studies: &Studies, escape: Escape) -> Vec<String> {
    let mut sentences = vec![
        "A and B were measured at different times. The verdicts hold only if nothing else changed in between, such as \
         the machine, the kernel, versions, or other load. One study that runs both avoids this."
            .to_owned(),
    ];
    if studies
        .rows
        .iter()
        .any(|row| row.compared.unpaired.is_some_and(|unpaired| unpaired.interval.is_some()))
    {
        let of = match studies.by.scale() {
            Scale::Ratio => "The ratio is the median of the ratios of every run of B to every run of A.",
            Scale::Difference => {
                "The difference is the median of the differences of every run of B and every run of A."
            }
        };
        sentences.push(format!(
            "{of} Its 95 % interval is for each row alone. All verdicts together are wrong in at most 5 % (Mann-Whitney, Holm)."
        ));
    }
    for row in &studies.rows {
        let name = match row.variant.as_str() {
            "" => row.system.clone(),
            variant => format!("{} {variant}", row.system),
        };
        if let Some(why) = &row.why {
            sentences.push(format!(
                "{} under {}: {}.",
                escape(&name),
                escape(&row.load),
                escape(&why.sentence())
            ));
        }
        if !row.unlike.is_empty() {
            let words = alike::of_pair(&row.unlike, &["A", "B"], true, &|step| escape(step));
            sentences.push(format!("{} under {}: not alike: {words}.", escape(&name), escape(&row.load)));
        }
        if let Some(reason) = row::reason(&row.compared) {
            sentences.push(format!("{} under {}: {reason}.", escape(&name), escape(&row.load)));
        }
    }
    for (side, names) in ["A", "B"].iter().zip(&studies.alone) {
        if !names.is_empty() {
            let named = listed(names.iter().map(|name| escape(name)), UNMATCHED_MAX, "; ");
            sentences.push(format!("Only {side} has {named}."));
        }
    }
    sentences
}

/// Adds the keys that only comparisons of studies have.
pub(super) fn add_study_keys(studies: &Studies, object: &mut Value) {
    let (unit, size) = studies.by.metric.kind.unit();
    let scale = studies.by.scale();
    object["kind"] = "studies".into();
    object["metric"] = studies.by.name().into();
    object["scale"] = apart::noun(scale).into();
    object["unit"] = unit.into();
    object["higher_is_better"] = studies.higher_is_better.into();
    object["matters"] = match scale {
        Scale::Ratio => studies.matters.size.into(),
        Scale::Difference => (studies.matters.size / size).into(),
    };
    object["rows"] = studies.rows.iter().map(|row| row_object(row, size)).collect();
    object["only_a"] = json!(studies.alone[0]);
    object["only_b"] = json!(studies.alone[1]);
}

pub(super) fn row_object(row: &ComparedRow, unit_size: f64) -> Value {
    let side = |side: &Side| {
        let spread = side.spread;
        json!({
            "runs": side.figures.len(),
            "invalid": side.invalid,
            "median": spread.map(|spread| spread.median / unit_size),
            "min": spread.map(|spread| spread.min / unit_size),
            "max": spread.map(|spread| spread.max / unit_size),
            "error_share": side.error_share,
        })
    };
    let interval = row.compared.unpaired.and_then(|unpaired| unpaired.interval);
    let of = |wanted: Scale| row.compared.unpaired.filter(|of| of.scale == wanted)?.estimate;
    let end_size =
        row.compared.unpaired.map_or(1.0, |of| if of.scale == Scale::Ratio { 1.0 } else { unit_size });
    json!({
        "load": row.load,
        "system": row.system,
        "variant": row.variant,
        "a": side(&row.compared.sides[0]),
        "b": side(&row.compared.sides[1]),
        "ratio": of(Scale::Ratio),
        "difference": of(Scale::Difference).map(|difference| difference / unit_size),
        "low": interval.map(|[low, _]| low / end_size),
        "high": interval.map(|[_, high]| high / end_size),
        "confidence": row.compared.unpaired.and_then(|unpaired| unpaired.confidence),
        "p": row.compared.unpaired.map(|unpaired| unpaired.p),
        "verdict": row::word(&row.compared.verdict),
        "below_matters": match row.compared.verdict {
            Verdict::Differs { below_matters } => Some(below_matters),
            _ => None,
        },
        "reason": row::reason(&row.compared),
        "unlike": row.unlike.iter().map(alike::object).collect::<Vec<_>>(),
        "explanation": row.why.as_ref().map(SlownessExplanation::object),
    })
}
