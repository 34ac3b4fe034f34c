//! Response time, service time, and send delay of one run, side by side.

use record::{PRINTED, Percentile};

use crate::durations::{self, Durations, TableSize};
use crate::figures::Figures;
use crate::item::Escape;
use crate::table::{Cell, Table};
use crate::text::sanitize;
use crate::units::{TimeUnit, count, duration, rate};
use crate::view::View;

const SEND_DELAY: &str = "send delay";

/// Table with a row per figure and a column per kind of time. If samples are too few, the last column has the number that is
/// needed.
pub(crate) fn table(figures: &Figures) -> Table {
    let mut table = Table::of_names("", durations::figures(&figures.response.all).map(|(name, _)| name));
    let mut kinds = vec![
        ("response", &figures.response.all),
        ("service", &figures.service.all),
        (SEND_DELAY, &figures.lateness.all),
    ];
    if figures.is_of_tool {
        kinds.truncate(1);
    } else if figures.response.ok.count < figures.response.all.count {
        kinds.push(("response of ok", &figures.response.ok));
    }
    // Response and service time share a unit, to be comparable. The send delay may be a thousand times shorter.
    let shared =
        unit(&kinds.iter().filter(|(head, _)| *head != SEND_DELAY).map(|(_, one)| *one).collect::<Vec<_>>());
    for (head, durations) in &kinds {
        let unit = if *head == SEND_DELAY { unit(&[durations]) } else { shared };
        table.column(head, unit.name, cells(durations, unit));
    }
    // A kind of time without samples has `n/a` already, and needs no number.
    let is_asked = |of: &Durations| of.count > 0 || figures.response.all.count == 0;
    let lacks = |place: usize| kinds.iter().any(|(_, of)| is_asked(of) && of.percentiles_ns[place].is_none());
    // More samples do not add figures that a tool does not report.
    if !figures.is_of_tool && (0..PRINTED.len()).any(lacks) {
        let needed = PRINTED.iter().enumerate().map(|(place, percentile)| {
            let samples = percentile.samples_to_print().filter(|_| lacks(place));
            samples.map_or_else(String::new, |samples| format!("(needs {} samples)", count(samples)))
        });
        table.column("", "", [String::new(), String::new()].into_iter().chain(needed).chain([String::new()]));
    }
    table
}

/// Adds the columns of a summary: samples, mean, percentiles, min, and max. Rows without measurements have dashes.
pub(crate) fn columns(table: &mut Table, rows: &[Option<&Durations>]) {
    let unit = unit(&rows.iter().copied().flatten().collect::<Vec<_>>());
    let samples = rows.iter().map(|durations| match durations {
        Some(durations) => Cell::count(durations.count),
        None => "–".to_owned().into(),
    });
    table.column("samples", "", samples);
    let mut column = |head: &str, figure: &dyn Fn(&Durations) -> Option<f64>| {
        let of_row = |durations: &Option<&Durations>| match durations {
            Some(durations) => cell(durations, figure(durations), unit),
            None => "–".to_owned().into(),
        };
        table.column(head, unit.name, rows.iter().map(of_row));
    };
    column("mean", &|durations| durations.mean_ns);
    for percentile in TableSize::Summary.columns() {
        column(&durations::name(percentile), &|durations| durations.at(percentile));
    }
    column("min", &|durations| durations.min_ns);
    column("max", &|durations| durations.max_ns);
}

/// Table with a row per step. `None` if there is only one step.
pub(crate) fn steps(view: &View<'_>, escape: Escape) -> Option<Table> {
    if view.steps.len() < 2 {
        return None;
    }
    let names = view.steps.iter().map(|step| escape(&sanitize(step.name, 40)));
    let noun = view.noun();
    let mut table = Table::of_names(&format!("{}s", noun.step), names);
    let response: Vec<&Durations> = view.steps.iter().map(|step| &step.figures.response.all).collect();
    let unit = unit(&response);
    table.column("samples", "", response.iter().map(|durations| Cell::count(durations.count)));
    let mut column = |head: &str, figure: &dyn Fn(&Durations) -> Option<f64>| {
        let cells = response.iter().map(|durations| cell(durations, figure(durations), unit));
        table.column(head, unit.name, cells);
    };
    column("mean", &|durations| durations.mean_ns);
    for percentile in TableSize::Steps.columns() {
        column(&durations::name(percentile), &|durations| durations.at(percentile));
    }
    column("max", &|durations| durations.max_ns);
    let rates = view.steps.iter().map(|step| Cell::figure_or_na(step.figures.answers_per_s(), rate));
    table.column(noun.answers, "/s", rates);
    table.column("not ok", "", view.steps.iter().map(|step| Cell::count(step.figures.error_count())));
    Some(table)
}

/// Formats mean, p99 if there are enough samples, and max. `None` without samples.
pub(crate) fn summary_words(durations: &Durations) -> Option<String> {
    let p99 = durations.at(Percentile::P99).map_or_else(String::new, |ns| format!(", p99 {}", duration(ns)));
    let (mean_ns, max_ns) = (durations.mean_ns?, durations.max_ns?);
    Some(format!("mean {}{p99}, max {}", duration(mean_ns), duration(max_ns)))
}

/// Unit for figures that share a column.
pub(crate) fn unit(column: &[&Durations]) -> TimeUnit {
    let largest =
        |of: fn(&Durations) -> Option<f64>| column.iter().filter_map(|one| of(one)).fold(0.0, f64::max);
    let least = column.iter().filter_map(|one| one.typical_ns()).fold(f64::INFINITY, f64::min);
    TimeUnit::fitting(least, largest(Durations::typical_ns), largest(|one| one.max_ns))
}

/// Cell with a duration, `n/a` without samples, or a dash with too few.
pub(crate) fn cell(durations: &Durations, ns: Option<f64>, unit: TimeUnit) -> Cell {
    match ns {
        Some(ns) => Cell { text: unit.write(ns), value: Some(ns) },
        None if durations.count == 0 => "n/a".to_owned().into(),
        None => "–".to_owned().into(),
    }
}

fn cells(durations: &Durations, unit: TimeUnit) -> impl Iterator<Item = Cell> {
    durations::figures(durations).map(move |(_, ns)| cell(durations, ns, unit))
}
