//! The HTML report: one self-contained file that needs no network, no server, and no second file.

use std::io::Write;

use crate::error::ReportError;
use crate::formats::{Format, FormatWriter};
use crate::study::StudyView;
use crate::view::View;

mod bottlenecks;
mod charts;
mod cpu_profiles;
mod cut;
mod document;
mod errors;
mod event_costs;
mod experiment;
mod facts;
mod figures;
mod happened;
mod measures;
mod of_capacity;
mod of_run;
mod of_study;
mod pack;
mod readings;
mod rounded;
mod seconds;
pub(crate) mod series;
mod shell;
mod slower;
mod spectrum;
mod statement_times;
mod table;
mod thin;
mod threads;

pub(crate) const FORMAT: Format = Format {
    name: "html",
    sentence: "a self-contained page with charts, for a browser",
    extension: "html",
    way: FormatWriter::Picked { runs: write, study: Some(write_study), compared: None },
};

/// Writes the page of one or more runs.
fn write(views: &[View<'_>], out: &mut dyn Write) -> Result<(), ReportError> {
    let mut document = of_run::document(views)?;
    measures::add(&mut document, views);
    cut::steps(&mut document);
    seconds::add(&mut document, |place, take| take(views[place].run))?;
    Ok(shell::write(&document, out)?)
}

/// Writes the page of a study.
fn write_study(view: &StudyView<'_>, out: &mut dyn Write) -> Result<(), ReportError> {
    let mut document = of_study::document(view)?;
    measures::add(&mut document, &view.runs);
    let runs = cut::cut_to_limits(&mut document);
    seconds::add(&mut document, |place, take| take(&(view.load_run)(&view.runs[runs[place]].run.id)?))?;
    Ok(shell::write(&document, out)?)
}
