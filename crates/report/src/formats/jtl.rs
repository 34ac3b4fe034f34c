//! JTL format: single requests in the CSV form of JMeter 5, for tools that read its logs.
//!
//! The log only has requests of the measured phase, limited to the number per second that the request log kept.

use std::io;

use evidence::Unit;
use record::Sampled;

use super::csv::{cell, to_io_error};
use super::{Format, FormatWriter};
use crate::error::ReportError;
use crate::text::visible;
use crate::view::View;

const HEADER: [&str; 17] = [
    "timeStamp",
    "elapsed",
    "label",
    "responseCode",
    "responseMessage",
    "threadName",
    "dataType",
    "success",
    "failureMessage",
    "bytes",
    "sentBytes",
    "grpThreads",
    "allThreads",
    "URL",
    "Latency",
    "IdleTime",
    "Connect",
];

/// Schemes of URLs in titles.
const SCHEMES: [&str; 7] =
    ["http://", "https://", "postgres://", "postgresql://", "mysql://", "mariadb://", "sqlite:"];

pub(super) const FORMAT: Format = Format {
    name: "jtl",
    sentence: "single requests as JMeter writes them, of a run that kept them (--log-requests)",
    extension: "jtl",
    way: FormatWriter::Picked { runs: write, study: None, compared: None },
};

/// Writes one line for each request or transaction in the log.
fn write(views: &[View<'_>], out: &mut dyn io::Write) -> Result<(), ReportError> {
    if let Some(view) = views.iter().find(|view| measured_requests(view).next().is_none()) {
        return Err(ReportError::NoRequestLog { run: view.run.id.clone() });
    }
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(HEADER).map_err(to_io_error)?;
    for view in views {
        let labels: Vec<String> = view.steps.iter().map(|step| cell(step.name)).collect();
        for (step, request) in measured_requests(view) {
            let label = labels.get(usize::from(step)).map_or("", String::as_str);
            let unit = view.run.new.units.get(usize::from(step)).copied().unwrap_or_default();
            writer.write_record(line(view, label, unit, request)).map_err(to_io_error)?;
        }
    }
    Ok(writer.flush()?)
}

fn measured_requests<'a>(view: &'a View<'_>) -> impl Iterator<Item = (u16, &'a Sampled)> {
    let requests = view.run.requests();
    requests
        .filter(|(_, phase, _)| *phase == record::Phase::Measured)
        .map(|(step, _, request)| (step, request))
}

fn line(view: &View<'_>, label: &str, unit: Unit, request: &Sampled) -> [String; HEADER.len()] {
    let finish = &request.finish;
    let outcome = finish.outcome.name();
    let since_intended_ms = |ns: u64| ms(ns.saturating_sub(finish.intended_ns));
    let started_at_unix_ms = view.run.new.started_at_unix_ms.saturating_add_unsigned(ms(finish.intended_ns));
    let is_ok = finish.outcome == record::Outcome::Ok;
    let connections = view.run.ending.as_ref().and_then(|ending| ending.spread.as_ref());
    let threads = connections.map_or(0, |spread| spread.connections).to_string();
    [
        started_at_unix_ms.to_string(),
        since_intended_ms(finish.finished_ns).to_string(),
        label.to_owned(),
        if finish.status == 0 || unit.counts_tries() {
            outcome.to_owned()
        } else {
            finish.status.to_string()
        },
        outcome.to_owned(),
        format!("connection {}", request.connection),
        String::new(),
        is_ok.to_string(),
        if is_ok { String::new() } else { outcome.to_owned() },
        request.received_bytes.to_string(),
        request.sent_bytes.to_string(),
        threads.clone(),
        threads,
        url(view),
        finish.first_byte_ns.map_or(0, since_intended_ms).to_string(),
        "0".to_owned(),
        ms(request.connect_ns).to_string(),
    ]
}

/// URL in the title, or else the value that JMeter writes without one.
fn url(view: &View<'_>) -> String {
    let title = visible(&view.run.new.title);
    let is_url = |word: &&str| SCHEMES.iter().any(|scheme| word.starts_with(scheme));
    title.split(' ').find(is_url).unwrap_or("null").to_owned()
}

/// Converts to whole milliseconds, rounded.
fn ms(ns: u64) -> u64 {
    ns / 1_000_000 + u64::from(ns % 1_000_000 >= 500_000)
}
