//! Stores rows of results in variables.

use crate::script::script_set::{Names, is_name};
use crate::script::statement::{Gather, Statement};
use crate::script::variables::Variables;

/// Rows of a reply. Only the last row of each result is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gathering {
    columns: Vec<Column>,
    /// Concatenated values of the last row.
    bytes: Vec<u8>,
    /// End of each value in `bytes`. `None` for NULL.
    ends: Vec<Option<usize>>,
    rows: u64,
    /// Number of rows of the last complete result.
    rows_before: u64,
    /// True if a result has begun but not ended.
    is_open: bool,
    /// Column to be stored with a name that is not valid for a variable.
    illegal: Option<String>,
    name: Vec<u8>,
}

/// Destination of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Stored(u16),
    /// Variable that no script reads.
    Unread,
    /// The name is not valid for a variable.
    Illegal,
}

impl Gathering {
    pub(crate) fn start(&mut self) {
        (self.rows, self.rows_before, self.is_open, self.illegal) = (0, 0, false, None);
        self.columns.clear();
        self.start_row();
    }

    fn start_row(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    pub(crate) fn column(&mut self, number: u16, name: &[u8], statement: &Statement, names: &Names) {
        self.is_open = true;
        if number == 0 {
            self.columns.clear();
        }
        self.name.clear();
        self.name.extend_from_slice(statement.prefix.as_bytes());
        self.name.extend_from_slice(name);
        let known = std::str::from_utf8(&self.name).ok().and_then(|name| names.find(name));
        let column = match known {
            _ if !is_name(&self.name) => {
                self.illegal.get_or_insert_with(|| String::from_utf8_lossy(&self.name).into_owned());
                Column::Illegal
            }
            Some(slot) => Column::Stored(slot),
            None => Column::Unread,
        };
        self.columns.push(column);
    }

    pub(crate) fn value(&mut self, column: u16, value: Option<&[u8]>) {
        if column == 0 {
            self.start_row();
        }
        self.bytes.extend_from_slice(value.unwrap_or_default());
        self.ends.push(value.map(|_| self.bytes.len()));
    }

    pub(crate) fn end_row(&mut self) {
        self.is_open = true;
        self.rows += 1;
    }

    /// Ends a result. `\aset` stores the last row of each result immediately.
    pub(crate) fn end_result(&mut self, gather: Gather, variables: &mut Variables) -> Result<(), String> {
        (self.rows_before, self.rows, self.is_open) = (self.rows, 0, false);
        match gather {
            Gather::Last if self.rows_before > 0 => self.store(variables),
            _ => Ok(()),
        }
    }

    /// Ends the reply.
    pub(crate) fn end(&mut self, gather: Gather, variables: &mut Variables) -> Result<(), String> {
        if self.is_open {
            self.end_result(gather, variables)?;
        }
        match (gather, self.rows_before) {
            (Gather::Last, _) => Ok(()),
            (Gather::One, 1) => self.store(variables),
            (Gather::One, rows) => Err(format!("expected one row, got {rows}")),
        }
    }

    fn store(&mut self, variables: &mut Variables) -> Result<(), String> {
        if self.columns.contains(&Column::Illegal) {
            let name = self.illegal.take().unwrap_or_default();
            return Err(format!("error storing into variable {name}"));
        }
        let mut from = 0;
        for (column, end) in self.columns.iter().zip(&self.ends) {
            // As in pgbench, NULL becomes an empty text.
            let to = end.unwrap_or(from);
            if let Column::Stored(slot) = column {
                variables.set_text(*slot, &self.bytes[from..to]);
            }
            from = to;
        }
        Ok(())
    }
}
