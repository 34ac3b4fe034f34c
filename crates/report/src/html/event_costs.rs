//! Costs of events over all blocks of a study, for the page: the figures of the terminal's tables, block by block.

use judge::event_cost::{Difference, Figure, Pooled};
use judge::results::Repeated;

use super::document::{BlockCost, CostFigure, CostRow, EventCauses, EventCosts, PooledEvent, RowCost};
use super::{bottlenecks, of_run};
use crate::event_causes;
use crate::event_costs::{REQUEST_SECONDS, cell, signed, with_interval, written};
use crate::study::event_costs::{differences, of_row};
use crate::study::{LoadView, StudyPieces, StudyView, VariantRow};
use crate::text::sanitize;
use crate::units::{count, decimal, duration};
use crate::view::View;

/// Maximum number of rows of variants over all events of a load, to limit the size of the page.
const ROWS_MAX: usize = 240;
const NAME_CHARACTERS_MAX: usize = 120;

/// Costs of each event of a load, sorted by name. `None` without an event.
pub(super) fn of_load(
    view: &StudyView<'_>,
    page: &StudyPieces<'_>,
    load: &LoadView<'_>,
) -> Option<EventCosts> {
    let costs: Vec<Vec<Pooled<'_>>> = load.rows.iter().map(|row| of_row(view, row)).collect();
    let differences = differences(view, load);
    let rows = || costs.iter().enumerate().flat_map(|(row, all)| all.iter().map(move |of| (row, of)));
    let mut names: Vec<&str> = rows().map(|(_, of)| of.name).collect();
    names.sort_unstable();
    names.dedup();
    let mut rows_left = ROWS_MAX;
    let of_event = |name: &&str| {
        let mine: Vec<(usize, &Pooled<'_>)> = rows().filter(|(_, of)| of.name == *name).collect();
        if mine.len() > rows_left {
            return None;
        }
        rows_left -= mine.len();
        // Classes in which nothing was lost are omitted. The total is always shown.
        let occurred = |figure: &Figure| match figure {
            Figure::LostAs(_) => mine.iter().any(|(_, of)| of.any(*figure)),
            _ => true,
        };
        let figures: Vec<Figure> = Figure::all().into_iter().filter(occurred).collect();
        let apart: Vec<&Difference<'_>> = differences.iter().filter(|of| of.name == *name).collect();
        Some(PooledEvent {
            name: sanitize(name, NAME_CHARACTERS_MAX),
            rows: mine.iter().map(|(row, of)| cost_row(*row, of, page, load)).collect(),
            from: apart.first().map(|of| of.from),
            figures: figures.into_iter().map(|figure| cost_figure(figure, &mine, &apart)).collect(),
            sentences: apart.iter().map(|of| sentence(of, page, load)).collect(),
            causes: row_causes(view, load, name),
        })
    };
    let events: Vec<PooledEvent> = names.iter().filter_map(of_event).collect();
    let left_out = names.len() - events.len();
    (!names.is_empty()).then_some(EventCosts { events, left_out })
}

/// Causes in each row in which the event cost something.
fn row_causes(view: &StudyView<'_>, load: &LoadView<'_>, name: &str) -> Vec<EventCauses> {
    let of_row = |(place, row): (usize, &VariantRow<'_>)| {
        let views: Vec<&View<'_>> = row.shown().map(|run| &view.runs[run]).collect();
        Some(causes(place, &event_causes::pooled(&views, name)?))
    };
    load.rows.iter().enumerate().filter_map(of_row).collect()
}

/// Converts causes for the page.
pub(super) fn causes(row: usize, found: &judge::EventCauses) -> EventCauses {
    EventCauses {
        row,
        causes: bottlenecks::causes(&found.causes, of_run::text),
        about: of_run::sentence(&of_run::text(&event_causes::about(found))),
    }
}

fn cost_row(row: usize, of: &Pooled<'_>, page: &StudyPieces<'_>, load: &LoadView<'_>) -> CostRow {
    let words = cost_sentences(of).into_iter().map(|words| format!("{}: {words}", page.row(load, row)));
    CostRow {
        row,
        runs: of.runs_known(),
        runs_unknown: of.runs.len() - of.runs_known(),
        not_recovered: of.not_recovered(),
        words: words.collect(),
    }
}

/// Formats the cost: number of runs, and medians over them.
fn cost_sentences(of: &Pooled<'_>) -> Vec<String> {
    let all = of.runs_known();
    let write = |figure: Figure| {
        of.over(figure).map_or_else(|| "n/a".to_owned(), |over| written(figure, over.middle))
    };
    let in_runs = |figure| {
        let runs = of.values(figure).filter(|(_, value)| value.is_some_and(|value| value > 0.0)).count();
        (runs > 0)
            .then(|| if runs == all { "in every run".to_owned() } else { format!("in {runs} of {all} runs") })
    };
    let mut words = Vec::new();
    if all > 0 {
        let when = of.at_s.map(|at| format!("began {} s after the warm-up", decimal(at.middle, 1)));
        let took = of.took_ns.map(|took| format!("took {}", duration(took.middle)));
        let lost = match in_runs(Figure::Lost) {
            None => "lost no request".to_owned(),
            Some(runs) => format!("lost requests {runs}, median {}", write(Figure::Lost)),
        };
        let outage = match in_runs(Figure::Outage) {
            None => "no outage".to_owned(),
            Some(runs) => format!("outage {runs}, median {}", write(Figure::Outage)),
        };
        let back = match (of.not_recovered(), in_runs(Figure::Recovery)) {
            (0, None) => "no recovery needed".to_owned(),
            (0, Some(runs)) => format!("recovery {runs}, median {}", write(Figure::Recovery)),
            (runs, _) => format!("not seen back to usual in {runs} of {all} runs"),
        };
        words.push(
            [when, took].into_iter().flatten().chain([lost, outage, back]).collect::<Vec<_>>().join("; ")
                + ".",
        );
    }
    let unknown = of.runs.len() - all;
    if unknown > 0 {
        let why = of.why_unknown.map_or_else(String::new, |why| format!(": {}", sanitize(why, 300)));
        words.push(format!("cost unknown in {} of {}{why}.", count(unknown as u64), runs(of.runs.len())));
    }
    words
}

fn runs(number: usize) -> String {
    if number == 1 { "1 run".to_owned() } else { format!("{number} runs") }
}

fn cost_figure(figure: Figure, rows: &[(usize, &Pooled<'_>)], apart: &[&Difference<'_>]) -> CostFigure {
    let (title, unit) = words(figure);
    CostFigure {
        title,
        unit,
        rows: rows
            .iter()
            .map(|(row, of)| RowCost {
                row: *row,
                text: cell(of, figure).text,
                verdict: None,
                blocks: of.values(figure).map(|(block, value)| block_cost(figure, block, value)).collect(),
                ..RowCost::of(figure, of.over(figure))
            })
            .collect(),
        differences: apart
            .iter()
            .map(|of| RowCost {
                row: of.row,
                text: with_interval(of.over(figure), |apart| signed(figure, apart)).text,
                verdict: Some(verdict(of.over(figure))),
                blocks: of.by_block(figure).map(|(block, value)| block_cost(figure, block, value)).collect(),
                ..RowCost::of(figure, of.over(figure))
            })
            .collect(),
    }
}

/// Title of a figure, and key of its unit.
fn words(figure: Figure) -> (String, &'static str) {
    match figure {
        Figure::Lost => ("Lost requests".to_owned(), "count"),
        Figure::STALE_REUSE => ("Stale reuse, not in the sum: no client can avoid it".to_owned(), "count"),
        Figure::LostAs(class) => (format!("Lost requests: {}", class.replace('_', " ")), "count"),
        Figure::Outage => ("Outage".to_owned(), "ms"),
        Figure::Recovery => ("Recovery".to_owned(), "ms"),
        Figure::Worst => ("Worst response".to_owned(), "ms"),
        Figure::ExcessWaiting => ("Excess waiting".to_owned(), REQUEST_SECONDS),
    }
}

/// Converts a figure to the unit of the page.
fn in_unit(figure: Figure, value: f64) -> f64 {
    match figure {
        Figure::Lost | Figure::LostAs(_) => value,
        Figure::Outage | Figure::Recovery | Figure::Worst => value / 1e6,
        Figure::ExcessWaiting => value / 1e9,
    }
}

fn block_cost(figure: Figure, block: u32, value: Option<f64>) -> BlockCost {
    BlockCost { block, value: value.map(|value| in_unit(figure, value)) }
}

impl RowCost {
    fn of(figure: Figure, over: Option<Repeated>) -> Self {
        let ends = over.and_then(|over| over.interval);
        Self {
            row: 0,
            middle: over.map(|over| in_unit(figure, over.middle)),
            low: ends.map(|[low, _]| in_unit(figure, low)),
            high: ends.map(|[_, high]| in_unit(figure, high)),
            text: String::new(),
            verdict: None,
            blocks: Vec::new(),
        }
    }
}

/// Verdict on a difference, which is shown if its interval excludes 0.
fn verdict(apart: Option<Repeated>) -> &'static str {
    match apart.map(|apart| apart.interval) {
        Some(Some([low, _])) if low > 0.0 => "more",
        Some(Some([_, high])) if high < 0.0 => "less",
        Some(Some(_)) => "no difference shown",
        Some(None) => "no interval",
        None => "unknown",
    }
}

fn sentence(of: &Difference<'_>, page: &StudyPieces<'_>, load: &LoadView<'_>) -> String {
    let (own, from) = (page.row(load, of.row), page.row(load, of.from));
    let parts = [
        ("lost requests", Figure::Lost),
        ("outage", Figure::Outage),
        ("recovery", Figure::Recovery),
        ("worst response", Figure::Worst),
    ];
    let part = |(name, figure): (&str, Figure)| {
        let over = of.over(figure);
        let by = with_interval(over, |apart| signed(figure, apart)).text;
        match verdict(over) {
            "unknown" => format!("{name} unknown"),
            verdict => format!("{name} {by}, {verdict}"),
        }
    };
    format!("{own} − {from}: {}.", parts.map(part).join("; "))
}
