//! Tables for the page: the words and figures of the other formats.

use super::document::{Cell, Head, Table, TableRow};
use crate::table;

/// Subject of a table row.
#[derive(Clone, Copy, Default)]
pub(super) struct RowSubject {
    /// Index in the rows of the load. `None` if the table row is about no single one.
    pub(super) row: Option<usize>,
    pub(super) is_winner: bool,
}

/// Converts a table. `about` has the subjects of its rows, in order.
pub(super) fn of(table: table::Table, about: &[RowSubject]) -> Table {
    let heads = table.heads.into_iter().map(|table::Head { lines: [text, unit], is_left, .. }| Head {
        text,
        unit,
        is_left,
    });
    let rows = table.rows.into_iter().enumerate().map(|(place, cells)| {
        let RowSubject { row, is_winner } = about.get(place).copied().unwrap_or_default();
        TableRow { cells: cells.into_iter().map(cell).collect(), is_winner, row }
    });
    Table { heads: heads.collect(), rows: rows.collect(), names: table.names }
}

fn cell(table::Cell { text, value }: table::Cell) -> Cell {
    // Stars and indentation are for formats that cannot highlight a row.
    let text = text.trim_start_matches("★ ").trim_start().to_owned();
    Cell { text, value: value.filter(|value| value.is_finite()) }
}
