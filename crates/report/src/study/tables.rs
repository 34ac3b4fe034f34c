//! Tables of a study.

use judge::Eligibility;
use judge::results::Spread;

use super::answer::winner;
use super::rows::{RowStep, VariantRow};
use super::{LoadView, StudyView};
use crate::durations::Durations;
use crate::figures::Figures;
use crate::item::Escape;
use crate::noun::Noun;
use crate::own_figures;
use crate::statements::{self, StatementLine};
use crate::system::whole;
use crate::table::{Cell, Table};
use crate::text::sanitize;
use crate::times;
use crate::transactions::whole_ns;
use crate::units::{count, decimal, mebibytes, percent_of, percent_with, rate};

/// Reads a figure of a row.
type Figure = fn(&VariantRow<'_>) -> Option<f64>;

/// Maximum number of characters of a name.
const NAME_CHARACTERS_MAX: usize = 24;
/// Maximum number of characters of a statement.
const STATEMENT_CHARACTERS_MAX: usize = 30;
/// Max number of parameters that get a separate column.
const PARAMETERS_MAX: usize = 5;

/// Table of all figures of a load, with a row per variant.
pub(crate) fn summary(view: &StudyView<'_>, load: &LoadView<'_>, escape: Escape) -> Table {
    let winner = winner(load);
    let mut table = of_names("response time", load, escape, |row| winner == Some(row));
    let rows = || load.rows.iter();
    table.column(
        "runs",
        "valid",
        rows().map(|row| {
            let valid = row.count(Eligibility::Valid);
            Cell { text: format!("{valid}/{}", row.planned), value: Some(valid as f64) }
        }),
    );
    let notes: Vec<String> = (0..load.rows.len()).map(|row| note(load, row, escape)).collect();
    if rows().all(|row| row.figures.is_none()) {
        table.words("note", notes);
        return table;
    }
    table.column("errors", "", rows().map(|row| Cell::figure(row.error_share, percent_of)));
    // The metric of the study is the first column.
    match view.metric.as_ref() {
        Some(by) if by.metric.name != "throughput" => {
            let write = by.metric.kind.writer();
            spread(&mut table, &by.label(), "by run", rows().map(|row| row.metric), write);
            table.column("ok/s", "", rows().map(|row| median_cell(row.throughput)));
        }
        _ => spread(&mut table, "ok/s", "", rows().map(|row| row.throughput), rate),
    }
    own_columns(&mut table, view, load);
    let response: Vec<Option<&Durations>> =
        rows().map(|row| row.figures.as_ref().map(|figures| &figures.response.all)).collect();
    times::columns(&mut table, &response);
    if rows().any(|row| row.figures.as_ref().is_some_and(|figures| figures.counts.rejected > 0)) {
        table.column(view.noun().answers, "/s", rows().map(|row| median_cell(row.answers)));
    }
    let kb = |figure: Option<f64>| Cell::figure(figure, rate);
    table.column("received", "KB/s", rows().map(|row| kb(row.medians.received_kb_per_s)));
    table.column("sent", "KB/s", rows().map(|row| kb(row.medians.sent_kb_per_s)));
    outcomes(&mut table, load);
    let mut used = |head: &str,
                    below: &str,
                    figure: fn(&VariantRow<'_>) -> Option<f64>,
                    write: &dyn Fn(f64) -> String| {
        if rows().any(|row| figure(row).is_some()) {
            table.column(head, below, rows().map(|row| Cell::figure(figure(row), write)));
        }
    };
    let cores = |cores| decimal(cores, 2);
    used("system", "cores", |row| row.medians.system_cores_used, &cores);
    used("generator", "cores", |row| row.medians.generator_cores_used, &cores);
    used("system", view.noun().us_per_one, |row| row.medians.system_us_per_request, &|us| decimal(us, 1));
    used("switches", "/MB", |row| row.medians.system_switches_per_mb, &|switches| decimal(switches, 1));
    used("memory", "MiB", |row| row.medians.rss_peak_bytes, &|bytes| mebibytes(whole(bytes)));
    let any = |figure: fn(&VariantRow<'_>) -> Option<f64>| rows().any(|row| figure(row) > Some(0.0));
    let (queue, swap): (Figure, Figure) =
        (|row| row.medians.listen_queue_peak, |row| row.medians.swap_peak_bytes);
    if any(queue) {
        used("queue", "to accept", queue, &|waiting| count(whole(waiting)));
    }
    if any(swap) {
        used("swapped", "MiB", swap, &|bytes| mebibytes(whole(bytes)));
    }
    if notes.iter().any(|note| !note.is_empty()) {
        table.words("note", notes);
    }
    table
}

/// Table with a row per variant and step. `None` if there is only one step.
pub(crate) fn steps(noun: &Noun, load: &LoadView<'_>, escape: Escape) -> Option<Table> {
    if load.rows.iter().all(|row| row.steps.len() < 2) {
        return None;
    }
    let each = || load.rows.iter().flat_map(|row| row.steps.iter().map(move |step| (row, step)));
    let rows: Vec<&VariantRow<'_>> = each().map(|(row, _)| row).collect();
    let mut table = names(&format!("{}s", noun.step), &load.rows, &rows, escape, |_| false);
    table.name(noun.step, each().map(|(_, step)| short(step.name, escape)));
    let figures: Vec<&Figures> = each().map(|(_, step)| &step.figures).collect();
    table.column(
        "errors",
        "",
        figures.iter().map(|figures| Cell::figure(crate::metric::error_share(figures), percent_of)),
    );
    times::columns(
        &mut table,
        &figures.iter().map(|figures| Some(&figures.response.all)).collect::<Vec<_>>(),
    );
    Some(table)
}

/// Title, and table with a row per variant and statement. `None` if no statement was measured.
pub(crate) fn statements(load: &LoadView<'_>, escape: Escape) -> Option<(&'static str, Table)> {
    let each =
        load.rows.iter().flat_map(|row| row.steps.iter().flat_map(of_step).map(move |line| (row, line)));
    let (rows, lines): (Vec<&VariantRow<'_>>, Vec<StatementLine<'_>>) = each.unzip();
    // Users who log in once do so before the measured time, so their log-in statements have no samples.
    if lines.iter().all(|line| line.figures.service.all.count == 0) {
        return None;
    }
    let heads = statements::heads(&lines);
    let mut table = names(heads.many, &load.rows, &rows, escape, |_| false);
    if load.rows.iter().any(|row| row.steps.len() > 1) {
        table.name(heads.step, lines.iter().map(|line| short(line.step, escape)));
    }
    table.name(heads.one, lines.iter().map(|line| statements::name(line, STATEMENT_CHARACTERS_MAX, escape)));
    statements::columns(&mut table, &lines);
    Some((heads.title, table))
}

fn of_step<'a>(step: &'a RowStep<'_>) -> impl Iterator<Item = StatementLine<'a>> {
    let whole_ns = whole_ns(&step.figures, step.statements.iter().map(|(_, figures)| figures));
    step.statements.iter().map(move |(name, figures)| StatementLine {
        step: step.name,
        of_step: &step.figures,
        whole_ns,
        name,
        figures,
    })
}

/// Table of core utilization, with a row per variant and a column per core. `None` if it was not sampled.
pub(super) fn cores(view: &StudyView<'_>, load: &LoadView<'_>, escape: Escape) -> Option<Table> {
    let cores = super::cores::of_load(view, load)?;
    let mut table = of_names("core busy", load, escape, |_| false);
    for (name, shares) in cores {
        let head = short(name.strip_prefix("core").unwrap_or(name), escape);
        table.column(
            &head,
            "",
            shares.into_iter().map(|share| Cell::figure(share, |share| percent_with(share, 0))),
        );
    }
    Some(table)
}

/// Table of the names of all rows of a load. Rows for which `has_star` is true get a star.
fn of_names(head: &str, load: &LoadView<'_>, escape: Escape, has_star: impl Fn(usize) -> bool) -> Table {
    names(head, &load.rows, &load.rows.iter().collect::<Vec<_>>(), escape, has_star)
}

/// Names of systems and configurations. If the systems share parameters, each one has a column; otherwise one column has the whole
/// configuration.
pub(super) fn names(
    head: &str,
    all: &[VariantRow<'_>],
    rows: &[&VariantRow<'_>],
    escape: Escape,
    has_star: impl Fn(usize) -> bool,
) -> Table {
    let any_star = (0..rows.len()).any(&has_star);
    let star = |row: usize| match (any_star, has_star(row)) {
        (false, _) => "",
        (true, true) => "★ ",
        (true, false) => "  ",
    };
    let system = |(place, row): (usize, &&VariantRow<'_>)| {
        format!("{}{}", star(place), short(&row.place.system, escape))
    };
    let mut table = Table::of_names(head, rows.iter().enumerate().map(system));
    match shared_knobs(all) {
        Some(knobs) => {
            for knob in knobs {
                let value = |row: &&VariantRow<'_>| {
                    let found = row.place.knobs.iter().find(|(name, _)| name == knob);
                    found.map_or("–".to_owned(), |(_, value)| short(value, escape))
                };
                table.name(&short(knob, escape), rows.iter().map(value));
            }
        }
        None => table.name(
            "configuration",
            rows.iter().map(|row| match row.place.variant.as_str() {
                "" => "–".to_owned(),
                variant => short(variant, escape),
            }),
        ),
    }
    table
}

/// Parameters of all rows, if the rows with parameters have one in common. `None` otherwise. Systems may lack some parameters.
fn shared_knobs<'a>(rows: &'a [VariantRow<'_>]) -> Option<Vec<&'a str>> {
    let with_knobs = || rows.iter().filter(|row| !row.place.knobs.is_empty());
    let mut knobs: Vec<&str> = Vec::new();
    for (knob, _) in with_knobs().flat_map(|row| &row.place.knobs) {
        if !knobs.contains(&knob.as_str()) {
            knobs.push(knob);
        }
    }
    let has = |row: &VariantRow<'_>, knob: &str| row.place.knobs.iter().any(|(name, _)| name == knob);
    let is_common = |knob: &&str| with_knobs().all(|row| has(row, knob));
    (knobs.is_empty() || knobs.len() <= PARAMETERS_MAX && knobs.iter().any(is_common)).then_some(knobs)
}

/// Adds columns of the plan's own figures, except the one by which variants are compared.
fn own_columns(table: &mut Table, view: &StudyView<'_>, load: &LoadView<'_>) {
    let by = view.metric.as_ref().and_then(|by| by.own.as_ref());
    let own = own_figures::columns(view, &load.rows.iter().collect::<Vec<_>>()).into_iter();
    for column in own.filter(|column| Some(&column.figure) != by) {
        let write = column.figure.metric().kind.writer();
        spread(table, &column.figure.label(), "", column.rows.into_iter(), write);
    }
}

/// Adds columns with the median over runs, and with the range if there are several runs.
fn spread(
    table: &mut Table,
    head: &str,
    below: &str,
    spreads: impl Iterator<Item = Option<Spread>>,
    write: fn(f64) -> String,
) {
    let spreads: Vec<Option<Spread>> = spreads.collect();
    table.column(
        head,
        below,
        spreads.iter().map(|spread| Cell::figure(spread.map(|spread| spread.median), write)),
    );
    if spreads.iter().flatten().any(|spread| spread.count > 1) {
        let range = |spread: &Option<Spread>| match spread {
            Some(spread) if spread.min == spread.max => Cell::figure(Some(spread.min), write),
            Some(spread) => Cell {
                text: format!("{}–{}", write(spread.min), write(spread.max)),
                value: Some(spread.min),
            },
            None => "–".to_owned().into(),
        };
        table.column("by run", "min–max", spreads.iter().map(range));
    }
}

/// Adds a column for each kind of error that occurred, and for transactions that took several tries.
fn outcomes(table: &mut Table, load: &LoadView<'_>) {
    type Kind = (&'static str, fn(&Figures) -> u64);
    let kinds: [Kind; 5] = [
        ("retried", |figures| figures.tries.map_or(0, |tries| tries.retried)),
        ("rejected", |figures| figures.counts.rejected),
        ("failed", |figures| figures.counts.failed),
        ("timed out", |figures| figures.counts.timed_out),
        ("not sent", |figures| figures.counts.not_sent),
    ];
    for (head, kind) in kinds {
        let cells = load.rows.iter().map(|row| row.figures.as_ref().map(kind));
        if cells.clone().flatten().any(|kind| kind > 0) {
            table.column(head, "", cells.map(|kind| kind.map_or("–".to_owned().into(), Cell::count)));
        }
    }
}

/// Short notes on a row. Long ones are below the tables.
pub(super) fn note(load: &LoadView<'_>, place: usize, escape: Escape) -> String {
    let row = &load.rows[place];
    let mut notes = Vec::new();
    let mut several = |eligibility: Eligibility, word: &str| match row.count(eligibility) {
        0 => {}
        some if some == row.runs.len() => notes.push(word.to_owned()),
        some => notes.push(format!("{some} {word}")),
    };
    several(Eligibility::Failed, "failed");
    several(Eligibility::Invalid, "invalid");
    several(Eligibility::CutShort, "cut short");
    if row.runs.is_empty() {
        notes.push("not run yet".to_owned());
    }
    if let Some(ranked) = load.ranking.iter().find(|ranked| ranked.row == place)
        && ranked.has_more_errors
    {
        notes.push("more errors".to_owned());
    }
    escape(&notes.join(", "))
}

fn short(text: &str, escape: Escape) -> String {
    escape(&sanitize(text, NAME_CHARACTERS_MAX))
}

fn median_cell(spread: Option<Spread>) -> Cell {
    Cell::figure(spread.map(|spread| spread.median), rate)
}
