//! The processes of a system: how long a load waited for them to be steady, and which held its connections.

use evidence::{ConnectionsByProcess, SteadyStart};
use serde::Serialize;

use crate::text::visible;
use crate::units::decimal;
use crate::view::View;

/// Processes that have room in a line.
const PROCESSES_MAX: usize = 16;

/// Connections by process, for JSON.
#[derive(Serialize)]
pub(crate) struct ConnectionsObject {
    processes: Vec<ProcessObject>,
    readings: Vec<ReadingObject>,
}

#[derive(Serialize)]
struct ProcessObject {
    pid: u32,
    name: String,
    listens: bool,
}

#[derive(Serialize)]
struct ReadingObject {
    at_s: f64,
    connections: Vec<Option<u32>>,
}

impl ConnectionsObject {
    pub(crate) fn of(all: &ConnectionsByProcess) -> Self {
        let processes = all.processes.iter().map(|process| ProcessObject {
            pid: process.pid,
            name: visible(&process.name),
            listens: process.listens,
        });
        let readings = all.readings.iter().map(|reading| ReadingObject {
            at_s: reading.at_ns as f64 / 1e9,
            connections: reading.connections.clone(),
        });
        Self { processes: processes.collect(), readings: readings.collect() }
    }
}

/// Formats a fact: `16 and 16 in gunicorn 71 and 72, after 4.00 s`. `None` if nothing is known.
pub(crate) fn connections(view: &View<'_>) -> Option<String> {
    let all = view.run.ending.as_ref()?.connections_by_process.as_ref()?;
    let newest = all.readings.last()?;
    let held = all.processes.iter().zip(&newest.connections);
    let held = held.filter_map(|(process, held)| {
        Some(format!("{} in {} {}", (*held)?, visible(&process.name), process.pid))
    });
    let mut held: Vec<String> = held.collect();
    let more = held.len().saturating_sub(PROCESSES_MAX);
    held.truncate(PROCESSES_MAX);
    let more = if more > 0 { format!(", and {more} more processes") } else { String::new() };
    let after = decimal(newest.at_ns as f64 / 1e9, 2);
    (!held.is_empty()).then(|| format!("by process: {}{more} (after {after} s)", held.join(", ")))
}

/// Formats a fact: `steady after 0.31 s, 3 processes`. `None` if the load did not wait.
pub(crate) fn start(view: &View<'_>) -> Option<String> {
    let steady: &SteadyStart = view.run.ending.as_ref()?.steady_start.as_ref()?;
    let (waited, processes) = (decimal(steady.waited_s, 2), steady.processes);
    let noun = if processes == 1 { "process" } else { "processes" };
    Some(match steady.is_steady {
        true => format!("steady after {waited} s, {processes} {noun}"),
        false => format!(
            "not steady after {waited} s: {processes} {noun}, {} came or went, {} cores used",
            steady.changes,
            decimal(steady.cores_used, 2)
        ),
    })
}
