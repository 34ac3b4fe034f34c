//! CSV format of a study: a row per run, including failed ones.

use std::io;

use super::{cell, header, row, to_io_error, transaction_cells};
use crate::error::ReportError;
use crate::study::StudyView;
use crate::system::whole;
use crate::view::View;

/// Columns that follow the columns of a run.
const PLACE_HEADER: [&str; 18] = [
    "Study",
    "Position",
    "Block",
    "Load",
    "System",
    "System Version",
    "Counts",
    "System CPU s",
    "System Cores",
    "System CPU us/request",
    "System Memory Bytes",
    "System Threads",
    "Generator Cores",
    "Gates Held",
    "Gates",
    "Failed At",
    "Failure",
    "Started",
];

/// Last columns: figures for transactions only.
const TRIES_HEADER: [&str; 2] = ["Retried", "Retries"];

/// Writes the header and a row per run, in the planned order. The last columns are the parameters.
pub(super) fn write(study: &StudyView<'_>, out: &mut dyn io::Write) -> Result<(), ReportError> {
    let knobs = knobs(study);
    let mut writer = csv::Writer::from_writer(out);
    let of_knobs = knobs.iter().map(|knob| cell(&format!("Knob {knob}")));
    let of_study = PLACE_HEADER.into_iter().chain(TRIES_HEADER).map(str::to_owned);
    let header = header().chain(of_study).chain(of_knobs);
    writer.write_record(header).map_err(to_io_error)?;
    for (view, counts) in study.runs.iter().zip(study.counting()) {
        let mut cells = row(&view.name(), &view.whole, view);
        cells.extend(place_cells(study, view, counts));
        let [retried, retries, _] = transaction_cells(&view.whole, "");
        cells.extend([retried, retries]);
        cells.extend(knobs.iter().map(|knob| {
            let found = view.place().and_then(|place| place.knobs.iter().find(|(name, _)| name == knob));
            found.map_or_else(String::new, |(_, value)| cell(value))
        }));
        writer.write_record(cells).map_err(to_io_error)?;
    }
    Ok(writer.flush()?)
}

/// All parameters of all systems, in the order of their first use.
fn knobs<'a>(study: &'a StudyView<'_>) -> Vec<&'a str> {
    let mut knobs: Vec<&str> = Vec::new();
    for (knob, _) in study.study.new.planned.iter().flat_map(|place| &place.knobs) {
        if !knobs.contains(&knob.as_str()) {
            knobs.push(knob);
        }
    }
    knobs
}

fn place_cells(study: &StudyView<'_>, view: &View<'_>, counts: bool) -> [String; PLACE_HEADER.len()] {
    let place = view.place();
    let number = |number: Option<u32>| number.map_or_else(String::new, |number| number.to_string());
    let figure = |figure: Option<f64>| match figure {
        Some(figure) if figure.is_finite() => format!("{figure:.3}"),
        _ => String::new(),
    };
    let integer = |figure: Option<f64>| figure.map_or_else(String::new, |figure| whole(figure).to_string());
    let resources = view.measured.resources.as_ref();
    let usage = resources.and_then(|resources| resources.system.as_ref());
    let gates = view.run.gates();
    let failure = view.run.ending.as_ref().and_then(|ending| ending.failure.as_ref());
    [
        study.study.id.to_string(),
        number(place.map(|place| place.position)),
        number(place.map(|place| place.block)),
        cell(place.map_or("", |place| &place.load)),
        cell(place.map_or("", |place| &place.system)),
        cell(view.run.new.system_version.as_deref().unwrap_or_default()),
        counts.to_string(),
        figure(usage.map(judge::Usage::cpu_s)),
        figure(resources.zip(usage).and_then(|(resources, usage)| resources.cores_used(usage))),
        figure(view.system_us_per_request()),
        integer(usage.and_then(|usage| usage.rss_peak_bytes)),
        integer(usage.and_then(|usage| usage.threads_peak)),
        figure(view.generator_cores_used()),
        gates.iter().filter(|gate| gate.holds()).count().to_string(),
        gates.len().to_string(),
        cell(failure.map_or("", |failure| &failure.stage)),
        cell(failure.map_or("", |failure| &failure.what)),
        view.started_at().to_string(),
    ]
}
