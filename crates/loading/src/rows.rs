//! Rows of all tables, and their output formats.

mod copy;
mod digits;
mod draw;
mod insert;
mod own;
mod pgbench;
mod postcodes;
mod sbtest;
mod tpcc;

use std::ops::Range;
use std::sync::Arc;

pub(crate) use copy::CopyRows;
pub(crate) use digits::push_decimal;
pub(crate) use insert::InsertRows;
pub use own::{DrawnColumn, OwnRows};
pub(crate) use pgbench::{ACCOUNTS, TELLERS};
pub(crate) use postcodes::ROWS as POSTCODES;
pub(crate) use tpcc::TpccTable;

/// Receiver of the values of rows, in column order.
pub(crate) trait Sink {
    /// Begins a row with this number of values.
    fn begin_row(&mut self, columns: u16);
    /// Adds a 4-byte integer.
    fn int(&mut self, value: i32);
    /// Adds an 8-byte integer.
    fn big_int(&mut self, value: i64);
    /// Adds a text without a tab, line break, backslash, or quote.
    fn text(&mut self, value: &[u8]);
    /// Adds any text.
    fn any_text(&mut self, value: &[u8]);
    /// Adds NULL.
    fn null(&mut self);
    /// Ends the row.
    fn end_row(&mut self);
}

/// Kind of rows of a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    /// No rows.
    Nothing,
    /// Rows of `pgbench_accounts`.
    Accounts {
        /// True if `aid` has eight bytes.
        is_big: bool,
        /// True if the server does not pad `char` columns with blanks.
        needs_blanks: bool,
    },
    /// Rows of `pgbench_tellers`.
    Tellers,
    /// Rows of `pgbench_branches`.
    Branches,
    /// Rows of `sbtest<number>`.
    Sbtest {
        /// Seed of random values.
        seed: u64,
        /// Number of the table, from 1.
        number: u32,
        /// Number of rows of the table.
        size: u32,
    },
    /// Rows of `tenbin_postcodes`.
    Postcodes {
        /// Seed of random values.
        seed: u64,
        /// Number of rows of the table.
        rows: u64,
    },
    /// Rows of a table that a plan defines.
    Own(Arc<OwnRows>),
    /// Rows of a table in the shape of TPC-C.
    Tpcc {
        /// The table.
        table: TpccTable,
        /// Seed of random values.
        seed: u64,
        /// Number of items.
        items: u64,
    },
}

impl Content {
    /// Writes a range of rows, counted from 0.
    pub(crate) fn write(&self, rows: Range<u64>, sink: &mut impl Sink) {
        match self.clone() {
            Self::Nothing => {}
            Self::Accounts { is_big, needs_blanks } => pgbench::accounts(rows, is_big, needs_blanks, sink),
            Self::Tellers => pgbench::tellers(rows, sink),
            Self::Branches => pgbench::branches(rows, sink),
            Self::Sbtest { seed, number, size } => sbtest::rows(rows, seed, number, size, sink),
            Self::Tpcc { table, seed, items } => tpcc::rows(rows, table, seed, items, sink),
            Self::Postcodes { seed, rows: all } => postcodes::rows(rows, seed, all, sink),
            Self::Own(own) => own.write(rows, sink),
        }
    }

    /// Number of rows per write: about 256 KiB of text.
    pub(crate) fn rows_at_once(&self) -> u64 {
        match self {
            Self::Accounts { needs_blanks: false, .. } | Self::Tellers | Self::Branches | Self::Nothing => {
                10_000
            }
            Self::Accounts { .. } | Self::Sbtest { .. } | Self::Postcodes { .. } | Self::Tpcc { .. } => 1_200,
            Self::Own(own) => own.rows_at_once(),
        }
    }

    /// Name of the file with the rows. `None` if there is no file.
    pub(crate) fn file(&self) -> Option<String> {
        match self {
            Self::Own(own) => own.file().map(str::to_owned),
            _ => None,
        }
    }

    /// File and line of a row, counted from 0. `None` if there is no file.
    pub(crate) fn place(&self, row: u64) -> Option<String> {
        match self {
            Self::Own(own) => own.place(row),
            _ => None,
        }
    }
}
