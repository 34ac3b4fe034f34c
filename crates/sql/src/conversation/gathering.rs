//! Passes rows to a player's variables.

use crate::script::Player;
use wire::sql::RowSink;

/// Passes every row to a player.
pub(super) struct Gathering<'a>(pub(super) &'a mut Player);

impl RowSink for Gathering<'_> {
    fn needs_rows(&self) -> bool {
        true
    }

    fn column(&mut self, number: u16, name: &[u8]) {
        self.0.take_column(number, name);
    }

    fn value(&mut self, column: u16, value: Option<&[u8]>) {
        self.0.take_value(column, value);
    }

    fn finish_row(&mut self) {
        self.0.end_row();
    }
}
