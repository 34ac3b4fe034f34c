//! Parts of steps: the share of its step's time that each statement of a transaction, or each redirected request, took.

use crate::durations::{self, Durations, TableSize};
use crate::figures::Figures;
use crate::item::Escape;
use crate::table::{Cell, Table};
use crate::text::sanitize;
use crate::times;
use crate::transactions::{percent_of_time, share_of_time, whole_ns};
use crate::view::{Statement, StepView, View};

/// Maximum numbers of characters of a statement, and of a step's name.
const STATEMENT_CHARACTERS_MAX: usize = 40;
const NAME_CHARACTERS_MAX: usize = 24;

/// A statement and its transaction, or a request and the step that was redirected to it.
pub(crate) struct StatementLine<'a> {
    pub(crate) step: &'a str,
    pub(crate) of_step: &'a Figures,
    /// Time of all transactions of the step.
    pub(crate) whole_ns: Option<f64>,
    pub(crate) name: &'a str,
    pub(crate) figures: &'a Figures,
}

/// Table with a row for each statement of a run. `None` if no statement was measured separately.
pub(crate) fn of_run(view: &View<'_>, escape: Escape) -> Option<Table> {
    let lines: Vec<StatementLine<'_>> = view.steps.iter().flat_map(of_step).collect();
    if lines.is_empty() {
        return None;
    }
    let heads = heads(&lines);
    let mut table = match view.steps.len() {
        1 => {
            Table::of_names(heads.many, lines.iter().map(|line| name(line, STATEMENT_CHARACTERS_MAX, escape)))
        }
        _ => {
            let steps = lines.iter().map(|line| escape(&sanitize(line.step, NAME_CHARACTERS_MAX)));
            let mut table = Table::of_names(heads.step, steps);
            table.name(heads.one, lines.iter().map(|line| name(line, STATEMENT_CHARACTERS_MAX, escape)));
            table
        }
    };
    columns(&mut table, &lines);
    Some(table)
}

/// Names of parts and of their steps.
pub(crate) struct Heads {
    /// Title above the table.
    pub(crate) title: &'static str,
    pub(crate) many: &'static str,
    pub(crate) one: &'static str,
    pub(crate) step: &'static str,
}

/// Names for these lines.
pub(crate) fn heads(lines: &[StatementLine<'_>]) -> Heads {
    match lines.iter().all(|line| line.of_step.unit.has_planned_statements()) {
        true => Heads { title: "Statements", many: "statements", one: "statement", step: "transaction" },
        false => Heads { title: "Parts of steps", many: "parts", one: "part", step: "step" },
    }
}

fn of_step<'a>(step: &'a StepView<'_>) -> impl Iterator<Item = StatementLine<'a>> {
    let whole_ns = whole_ns(&step.figures, step.statements.iter().map(|statement| &statement.figures));
    step.statements.iter().map(move |Statement { name, figures, .. }| StatementLine {
        step: step.name,
        of_step: &step.figures,
        whole_ns,
        name,
        figures,
    })
}

/// Formats a statement on one line of at most `characters_max` columns, escaped.
pub(crate) fn name(line: &StatementLine<'_>, characters_max: usize, escape: Escape) -> String {
    let one_line = line.name.split_whitespace().collect::<Vec<_>>().join(" ");
    escape(&sanitize(&one_line, characters_max))
}

/// Adds the columns with the figures of these statements.
pub(crate) fn columns(table: &mut Table, lines: &[StatementLine<'_>]) {
    let times: Vec<&Durations> = lines.iter().map(|line| &line.figures.service.all).collect();
    let unit = times::unit(&times);
    table.column("samples", "", times.iter().map(|durations| Cell::count(durations.count)));
    let mut column = |head: &str, figure: &dyn Fn(&Durations) -> Option<f64>| {
        let cells = times.iter().map(|durations| times::cell(durations, figure(durations), unit));
        table.column(head, unit.name, cells);
    };
    column("mean", &|durations| durations.mean_ns);
    for percentile in TableSize::Parts.columns() {
        column(&durations::name(percentile), &|durations| durations.at(percentile));
    }
    let shares = lines.iter().map(|line| share_of_time(line.figures, line.whole_ns));
    table.column("of the", "time", shares.map(|share| Cell::figure(share, percent_of_time)));
    type Kind = (&'static str, fn(&Figures) -> u64);
    let kinds: [Kind; 3] = [
        ("rejected", |figures| figures.counts.rejected),
        ("failed", |figures| figures.counts.failed),
        ("timed out", |figures| figures.counts.timed_out),
    ];
    for (head, kind) in kinds {
        // Rejections always have a column, because their absence is informative.
        if head == "rejected" || lines.iter().any(|line| kind(line.figures) > 0) {
            table.column(head, "", lines.iter().map(|line| Cell::count(kind(line.figures))));
        }
    }
}
