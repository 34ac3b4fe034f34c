//! CSV format for spreadsheets: the columns of JMeter's Aggregate Report, then further ones.
//!
//! Times are in milliseconds. Shared columns have JMeter's meaning; percentiles with too few samples are empty. A run has a row per
//! step, one per statement that was measured separately, and one named TOTAL.

use std::io;

use record::{PRINTED, Percentile};

use super::{Format, FormatWriter};
use crate::durations::{self, Durations};
use crate::error::ReportError;
use crate::figures::Figures;
use crate::text::visible;
use crate::view::View;

mod study;

/// Percentiles with a column in JMeter.
const JMETER: [Percentile; 4] = [Percentile::P50, Percentile::P90, Percentile::P95, Percentile::P99];
/// JMeter's columns after the percentiles.
const JMETER_LAST_COLUMNS: [&str; 6] =
    ["Min", "Max", "Error %", "Throughput", "Received KB/sec", "Sent KB/sec"];
/// Columns after the percentiles of the service time.
const LAST_COLUMNS: [&str; 15] = [
    "Service Min",
    "Service Max",
    "Lateness 99% Line",
    "Lateness Max",
    "Planned",
    "Not Sent",
    "OK",
    "Refused",
    "Failed",
    "Timed Out",
    "Unfinished",
    "Run",
    "Variant",
    "Verdict",
    "Validity",
];

/// Column heads of a run.
fn header() -> impl Iterator<Item = String> {
    let first = ["Label", "# Samples", "Average"].map(str::to_owned).into_iter();
    let after = JMETER_LAST_COLUMNS.map(str::to_owned);
    let service = PRINTED.iter().map(|percentile| format!("Service {}", jmeter_name(*percentile)));
    let first = first
        .chain(JMETER.into_iter().map(jmeter_name))
        .chain(after)
        .chain(non_jmeter_percentiles().map(jmeter_name));
    first.chain(["Service Average".to_owned()]).chain(service).chain(LAST_COLUMNS.map(str::to_owned))
}

/// Percentiles without a column in JMeter.
fn non_jmeter_percentiles() -> impl Iterator<Item = Percentile> {
    PRINTED.iter().copied().filter(|percentile| !JMETER.contains(percentile))
}

/// Name of a percentile in the style of JMeter.
fn jmeter_name(percentile: Percentile) -> String {
    match percentile {
        Percentile::P50 => "Median".to_owned(),
        _ => format!("{}% Line", durations::percent(percentile)),
    }
}

/// Last columns: figures for transactions only, and the step that a row is part of.
const TRANSACTION_HEADER: [&str; 3] = ["Retried", "Retries", "Part Of"];

pub(super) const FORMAT: Format = Format {
    name: "csv",
    sentence: "for spreadsheets: the columns of JMeter's Aggregate Report, times in milliseconds, and more columns",
    extension: "csv",
    way: FormatWriter::Picked { runs: write, study: Some(study::write), compared: None },
};

/// Writes the rows of every run.
fn write(views: &[View<'_>], out: &mut dyn io::Write) -> Result<(), ReportError> {
    let mut writer = csv::Writer::from_writer(out);
    let header = header().chain(TRANSACTION_HEADER.map(str::to_owned));
    writer.write_record(header).map_err(to_io_error)?;
    for view in views {
        let mut write = |label: &str, figures: &Figures, part_of: &str| {
            let cells = row(label, figures, view).into_iter().chain(transaction_cells(figures, part_of));
            writer.write_record(cells).map_err(to_io_error)
        };
        for step in &view.steps {
            write(step.name, &step.figures, "")?;
            for statement in &step.statements {
                write(statement.name, &statement.figures, step.name)?;
            }
        }
        write("TOTAL", &view.whole, "")?;
    }
    Ok(writer.flush()?)
}

fn row(label: &str, figures: &Figures, view: &View<'_>) -> Vec<String> {
    let (response, service, lateness) = (&figures.response.all, &figures.service.all, &figures.lateness.all);
    let counts = &figures.counts;
    let errors = [counts.rejected, counts.failed, counts.timed_out].into_iter().fold(0, u64::saturating_add);
    let rate = |figure: Option<f64>| figure.map_or_else(String::new, |figure| format!("{figure:.3}"));
    let mut cells = vec![cell(label), figures.samples().to_string(), ms(response.mean_ns)];
    cells.extend(JMETER.map(|percentile| ms(response.at(percentile))));
    cells.extend([ms(response.min_ns), ms(response.max_ns)]);
    cells.push(match figures.samples() {
        0 => String::new(),
        samples => format!("{:.3}%", errors as f64 * 100.0 / samples as f64),
    });
    cells.push(rate(figures.jmeter_throughput_per_s()));
    cells.push(rate(figures.jmeter_kb_per_s(figures.received_bytes)));
    cells.push(rate(figures.jmeter_kb_per_s(figures.sent_bytes)));
    cells.extend(non_jmeter_percentiles().map(|percentile| ms(response.at(percentile))));
    cells.extend(service_cells(service));
    cells.extend([ms(lateness.at(Percentile::P99)), ms(lateness.max_ns)]);
    // Load tools do not report these counts.
    let not_sent = (!figures.is_of_tool).then_some(counts.not_sent);
    let unfinished = (!figures.is_of_tool || counts.unfinished > 0).then_some(counts.unfinished);
    let accounts = [Some(counts.planned), not_sent];
    let accounts = accounts.into_iter().chain([counts.ok, counts.rejected, counts.failed].map(Some));
    cells.extend(
        accounts
            .chain([Some(counts.timed_out), unfinished])
            .map(|count| count.map_or_else(String::new, |count| count.to_string())),
    );
    cells.push(view.run.id.to_string());
    cells.push(cell(view.place().map_or("", |place| &place.variant)));
    cells.extend([view.verdict.name(), view.validity.verdict.name()].map(str::to_owned));
    cells
}

fn transaction_cells(figures: &Figures, part_of: &str) -> [String; TRANSACTION_HEADER.len()] {
    let tries = figures.tries;
    let count = |count: Option<u64>| count.map_or_else(String::new, |count| count.to_string());
    [count(tries.map(|tries| tries.retried)), count(tries.map(|tries| tries.retries)), cell(part_of)]
}

fn service_cells(service: &Durations) -> Vec<String> {
    let percentiles = service.percentiles_ns.map(ms);
    let mut cells = vec![ms(service.mean_ns)];
    cells.extend(percentiles);
    cells.extend([ms(service.min_ns), ms(service.max_ns)]);
    cells
}

/// Formats milliseconds with the full precision of nanoseconds. Empty if unknown.
fn ms(ns: Option<f64>) -> String {
    ns.map_or_else(String::new, |ns| format!("{:.6}", ns / 1e6))
}

/// Escapes a text that a spreadsheet would read as a formula.
pub(super) fn cell(text: &str) -> String {
    let text = visible(text);
    // Some spreadsheets accept full-width operators, and some ignore leading spaces.
    let begins = text.trim_start().starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']);
    if begins { format!("'{text}") } else { text }
}

pub(super) fn to_io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
