//! Drawings of the best configurations: every run, and the median run over time.

use evidence::EvidenceError;
use evidence::Unit;
use judge::comparison::axis_of_runs;
use record::MinMedianMax;

use super::answer::winner;
use super::{LoadView, StudyView, VariantRow, name};
use crate::item::Escape;
use crate::over_time::{OverTime, milliseconds, range};
use crate::spark;
use crate::table::Table;
use crate::text::sanitize;
use crate::units::{decimal, rate};

/// Maximum number of rows that are drawn.
const ROWS_MAX: usize = 8;
/// Maximum number of characters of a row's name.
const NAME_CHARACTERS_MAX: usize = 40;
/// Width of the axis for runs in columns.
const AXIS_COLUMNS: usize = 24;

/// Drawings and their legend.
pub(super) struct RunDrawings {
    pub(super) table: Table,
    pub(super) legend: String,
}

const LEGEND: &str = "Each run is a point: • one, : two, ● more.";
const OVER_TIME: &str =
    "Over time: the median run of each configuration, without warm-up; bars start at zero.";

/// Table with a row of drawings for the best configuration of each system. If there is only one system, it has rows for its configurations,
/// as many as fit. `None` if there is nothing to draw.
pub(super) fn of_load(
    view: &StudyView<'_>,
    load: &LoadView<'_>,
    escape: Escape,
) -> Result<Option<RunDrawings>, EvidenceError> {
    let best_rows: Vec<usize> = load.best_rows().map(|best| best.row).collect();
    let is_alone = best_rows.len() < 2;
    let ranked = load.ranking.iter().filter(|ranked| is_alone || ranked.is_best).map(|ranked| ranked.row);
    let rows: Vec<usize> = ranked.take(ROWS_MAX).collect();
    let runs: Vec<Option<usize>> = rows.iter().map(|row| median_run(view, &load.rows[*row])).collect();
    let mut over_time = Vec::with_capacity(rows.len());
    for run in &runs {
        over_time.push(match run {
            Some(run) => OverTime::of(&(view.load_run)(&view.runs[*run].run.id)?)?,
            None => None,
        });
    }
    let winner = winner(load);
    let names = rows.iter().map(|row| {
        let star = match winner {
            None => "",
            Some(winner) if winner == *row => "★ ",
            Some(_) => "  ",
        };
        format!("{star}{}", escape(&sanitize(&name(load.rows[*row].place), NAME_CHARACTERS_MAX)))
    });
    let mut table = Table::of_names("", names);
    let has_runs = draw_runs(view, load, &rows, &mut table);
    let has_time = draw(&over_time, &mut table);
    fairness(view, &runs, &mut table);
    let said = [(has_runs, LEGEND), (has_time, OVER_TIME)].into_iter().filter(|(is_drawn, _)| *is_drawn);
    let legend = said.map(|(_, words)| words).collect::<Vec<_>>().join(" ");
    Ok((has_runs || has_time).then_some(RunDrawings { table, legend }))
}

/// Draws every run of each row on one axis. Returns whether any row has more than one run.
fn draw_runs(view: &StudyView<'_>, load: &LoadView<'_>, rows: &[usize], table: &mut Table) -> bool {
    let Some(by) = &view.metric else { return false };
    let metric = by.metric;
    let figures =
        |row: usize| load.rows[row].shown().filter_map(|run| crate::metric::read(by, &view.runs[run]));
    if rows.iter().all(|row| figures(*row).count() < 2) {
        return false;
    }
    let matters = by.min_effect(&view.study.new.compare);
    let Some(ends) = axis_of_runs(rows.iter().flat_map(|row| figures(*row)), matters) else { return false };
    let range = format!("{}–{}", metric.kind.writer()(ends[0]), metric.kind.writer()(ends[1]));
    let draw = |row: &usize| spark::points(figures(*row), ends, AXIS_COLUMNS);
    table.drawings(&format!("every run: {}", by.label()), &range, rows.iter().map(draw));
    true
}

/// Draws one run of each row over time. Returns whether there is any.
fn draw(over_time: &[Option<OverTime>], table: &mut Table) -> bool {
    let known = over_time.iter().flatten();
    if known.clone().next().is_none() {
        return false;
    }
    let time = OverTime::time(known);
    let drawn = |figures: fn(&OverTime) -> &[Option<f64>]| {
        over_time.iter().map(move |one| one.as_ref().map_or(String::new(), |one| spark::bars(figures(one))))
    };
    let ranges = |write: fn(f64) -> String, figures: &dyn Fn(&OverTime) -> Vec<Option<f64>>| {
        let cell =
            |one: &Option<OverTime>| one.as_ref().map_or("–".to_owned(), |one| range(&figures(one), write));
        over_time.iter().map(cell).collect::<Vec<_>>()
    };
    table.drawings("ok/s", "over time", drawn(|one| &one.ok_per_s));
    table.column("", "least–most", ranges(rate, &|one| one.ok_per_s.clone()));
    let bars =
        over_time.iter().map(|one| one.as_ref().map_or(String::new(), |one| spark::bars(one.times_ms(time))));
    table.drawings(&format!("{} of response", time.name()), "over time", bars);
    table.column("ms", "least–most", ranges(milliseconds, &|one| one.times_ms(time).to_vec()));
    true
}

/// Adds a column that shows how evenly the connections of these runs were served.
fn fairness(view: &StudyView<'_>, runs: &[Option<usize>], table: &mut Table) {
    let spread = |run: &Option<usize>| view.runs[(*run)?].run.ending.as_ref()?.spread.as_ref();
    if runs.iter().all(|run| spread(run).is_none()) {
        return;
    }
    let cell = |run: &Option<usize>| match spread(run) {
        Some(spread) => {
            let MinMedianMax { min, median, max } = spread.requests;
            [min, median, max].map(|replies| decimal(replies, 0)).join(" / ")
        }
        None => "–".to_owned(),
    };
    let replies = match view.noun().unit {
        Unit::Requests => "replies by connection",
        Unit::Transactions => "transactions by connection",
    };
    table.column(replies, "min / median / max", runs.iter().map(cell));
}

/// Index in [`StudyView::runs`] of the median run by the metric, the lower one of two.
pub(crate) fn median_run(view: &StudyView<'_>, row: &VariantRow<'_>) -> Option<usize> {
    let by = view.metric.as_ref()?;
    let mut runs: Vec<(f64, usize)> =
        row.shown().filter_map(|run| Some((crate::metric::read(by, &view.runs[run])?, run))).collect();
    runs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let middle = runs.len().checked_sub(1)? / 2;
    runs.get(middle).map(|(_, run)| *run)
}
