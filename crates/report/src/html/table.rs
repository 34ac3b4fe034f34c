//! Tables for the page: the same words and figures as in every other format.

use super::document::{Cell, Head, Table, TableRow};
use crate::table;

/// What a row of a table is about.
#[derive(Clone, Copy, Default)]
pub(super) struct About {
    /// A place in the rows of the load.
    pub(super) row: Option<usize>,
    pub(super) is_winner: bool,
}

/// A table whose rows are about `about`, in the same order.
pub(super) fn of(table: table::Table, about: &[About]) -> Table {
    let heads = table.heads.into_iter().map(|table::Head { lines: [text, unit], is_left, .. }| Head {
        text,
        unit,
        is_left,
    });
    let rows = table.rows.into_iter().enumerate().map(|(place, cells)| {
        let About { row, is_winner } = about.get(place).copied().unwrap_or_default();
        TableRow { cells: cells.into_iter().map(cell).collect(), is_winner, row }
    });
    Table { heads: heads.collect(), rows: rows.collect(), names: table.names }
}

fn cell(table::Cell { text, value }: table::Cell) -> Cell {
    // Stars and indents are for formats that cannot mark a row.
    let text = text.trim_start_matches("★ ").trim_start().to_owned();
    Cell { text, value: value.filter(|value| value.is_finite()) }
}
