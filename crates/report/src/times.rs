//! Response, service time and lateness of one run, side by side.

use record::PRINTED;

use crate::durations::{self, Durations};
use crate::figures::Figures;
use crate::table::Table;
use crate::units::{TimeUnit, count};

const LATENESS: &str = "lateness";

/// A row per figure, a column per kind of time. Where samples are too few, the last column says how many it takes.
pub(crate) fn table(figures: &Figures) -> Table {
    let percentiles = PRINTED.map(durations::name);
    let names = ["min", "mean"].into_iter().chain(percentiles.iter().map(String::as_str)).chain(["max"]);
    let mut table = Table::of_names("", names.map(str::to_owned));
    let mut kinds = vec![
        ("response", &figures.response.all),
        ("service", &figures.service.all),
        (LATENESS, &figures.lateness.all),
    ];
    if figures.response.ok.count < figures.response.all.count {
        kinds.push(("response of ok", &figures.response.ok));
    }
    // Response and service time are read against each other; lateness may be a thousand times less.
    let shared =
        unit(&kinds.iter().filter(|(head, _)| *head != LATENESS).map(|(_, one)| *one).collect::<Vec<_>>());
    for (head, durations) in &kinds {
        let unit = if *head == LATENESS { unit(&[durations]) } else { shared };
        table.column(head, unit.name, cells(durations, unit));
    }
    let lacks = |place: usize| kinds.iter().any(|(_, durations)| durations.percentiles_ns[place].is_none());
    if (0..PRINTED.len()).any(lacks) {
        let needed = PRINTED.iter().enumerate().map(|(place, percentile)| {
            let samples = count(durations::samples_needed(*percentile));
            if lacks(place) { format!("(needs {samples} samples)") } else { String::new() }
        });
        table.column("", "", [String::new(), String::new()].into_iter().chain(needed).chain([String::new()]));
    }
    table
}

/// The unit for figures that share a column.
pub(crate) fn unit(column: &[&Durations]) -> TimeUnit {
    let largest =
        |of: fn(&Durations) -> Option<f64>| column.iter().filter_map(|one| of(one)).fold(0.0, f64::max);
    TimeUnit::fitting(largest(Durations::middle_ns), largest(|one| one.max_ns))
}

/// A figure in a table, or why there is none.
pub(crate) fn cell(durations: &Durations, ns: Option<f64>, unit: TimeUnit) -> String {
    match ns {
        Some(ns) => unit.write(ns),
        None if durations.count == 0 => "n/a".to_owned(),
        None => "–".to_owned(),
    }
}

fn cells(durations: &Durations, unit: TimeUnit) -> impl Iterator<Item = String> {
    let figures = [durations.min_ns, durations.mean_ns].into_iter().chain(durations.percentiles_ns);
    figures.chain([durations.max_ns]).map(move |ns| cell(durations, ns, unit))
}
