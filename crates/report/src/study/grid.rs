//! Grid of two parameters: a row for each value of one, a column for each value of the other.

use judge::comparison::Pair;

use super::{LoadView, StudyView, VariantRow, reference};
use crate::apart;
use crate::item::Escape;
use crate::table::{Cell, Table};
use crate::text::sanitize;

/// Max number of characters of a value.
const VALUE_CHARACTERS_MAX: usize = 24;
/// Max number of values of the parameter across.
const COLUMNS_MAX: usize = 8;

/// Title, and grid of a load by the metric of the study. `None` unless exactly two parameters differ, of one system.
pub(crate) fn of_load(view: &StudyView<'_>, load: &LoadView<'_>, escape: Escape) -> Option<(String, Table)> {
    let by = view.metric.as_ref()?;
    let first = load.rows.first()?;
    if load.rows.iter().any(|row| row.place.system != first.place.system) {
        return None;
    }
    let mut differing: Vec<(&str, Vec<&str>)> = Vec::new();
    for (at, (name, _)) in first.place.knobs.iter().enumerate() {
        let mut values: Vec<&str> = Vec::new();
        for row in &load.rows {
            let (known, value) = row.place.knobs.get(at)?;
            if known != name {
                return None;
            }
            if !values.contains(&value.as_str()) {
                values.push(value);
            }
        }
        if values.len() > 1 {
            differing.push((name, values));
        }
    }
    let [(down, rows), (across, columns)] = differing.try_into().ok()?;
    // The parameter with fewer values becomes the columns, because a screen is narrow.
    let is_turned = columns.len() > rows.len();
    let ((down, rows), (across, columns)) = match is_turned {
        true => ((across, columns), (down, rows)),
        false => ((down, rows), (across, columns)),
    };
    if columns.len() > COLUMNS_MAX {
        return None;
    }
    let short = |text: &str| escape(&sanitize(text, VALUE_CHARACTERS_MAX));
    let shown = |value: &str| if value.is_empty() { "\"\"".to_owned() } else { short(value) };
    let mut table = Table::of_names(&short(down), rows.iter().map(|value| shown(value)));
    for column in &columns {
        let cell = |value: &&str| {
            let row = load
                .rows
                .iter()
                .position(|row| has_value(row, down, value) && has_value(row, across, column));
            row.map_or_else(|| "not planned".to_owned().into(), |row| cell(view, load, row))
        };
        let cells: Vec<Cell> = rows.iter().map(cell).collect();
        table.column(&format!("{}={}", short(across), shown(column)), "", cells);
    }
    let from = match load.baseline {
        Some(row) => format!(", ratio to {}", escape(&sanitize(&super::row_name(load, row), 60))),
        None if load.best_rows().next().is_some() => ", best divided by it".to_owned(),
        None => String::new(),
    };
    let from = if by.scale() == judge::results::Scale::Difference { String::new() } else { from };
    let is_open = table.rows.iter().flatten().any(|cell| cell.text.ends_with("?)"));
    let open = if is_open { " (?: no verdict)" } else { "" };
    let under = if view.loads.len() > 1 {
        format!(" under {}", escape(&sanitize(load.name, VALUE_CHARACTERS_MAX)))
    } else {
        String::new()
    };
    Some((format!("{}{under}: median{from}{open}", view.metric_words()), table))
}

/// Whether a parameter of a row has the value `value`.
fn has_value(row: &VariantRow<'_>, name: &str, value: &str) -> bool {
    row.place.knobs.iter().any(|(known, own)| known == name && own == value)
}

/// Median of a row, and its ratio to the reference or the reason why it has none.
fn cell(view: &StudyView<'_>, load: &LoadView<'_>, row: usize) -> Cell {
    let Some((by, spread)) = view.metric.as_ref().zip(load.rows[row].metric) else {
        let note = super::tables::note(load, row, str::to_owned);
        return if note.is_empty() { "no figure".to_owned() } else { note }.into();
    };
    let figure = by.metric.kind.writer()(spread.median);
    let ratio = reference::apart(load, row).map(|(estimate, _, pair)| ratio(pair, estimate));
    let ratio = ratio.or_else(|| reference::why_no_ratio(load, row).map(|why| format!(" ({why})")));
    Cell { text: format!("{figure}{}", ratio.unwrap_or_default()), value: Some(spread.median) }
}

fn ratio(pair: &Pair, estimate: f64) -> String {
    let doubt = if reference::is_conclusive(pair) { "" } else { "?" };
    format!(" ({}{doubt})", apart::alone(&pair.by, estimate))
}
