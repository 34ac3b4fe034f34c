//! Rows of all tables, and how they are written.

mod copy;
mod digits;
mod draw;
mod insert;
mod pgbench;
mod postcodes;
mod sbtest;

use std::ops::Range;

pub(crate) use copy::CopyRows;
pub(crate) use digits::push_decimal;
pub(crate) use insert::InsertRows;
pub(crate) use pgbench::{ACCOUNTS, TELLERS};
pub(crate) use postcodes::ROWS as POSTCODES;

/// Who takes the values of rows, in the order of columns. Texts have no tab, no line break, no backslash and no quote in them.
pub(crate) trait Sink {
    /// A row of so many values begins.
    fn begin_row(&mut self, columns: u16);
    /// A value of four bytes.
    fn int(&mut self, value: i32);
    /// A value of eight bytes.
    fn big(&mut self, value: i64);
    /// A text.
    fn text(&mut self, value: &[u8]);
    /// Nothing.
    fn null(&mut self);
    /// The row is complete.
    fn end_row(&mut self);
}

/// What the rows of a table are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// There are none.
    Nothing,
    /// Of `pgbench_accounts`.
    Accounts {
        /// Whether `aid` has eight bytes.
        is_big: bool,
        /// Whether the server does not fill up `char` columns with blanks.
        needs_blanks: bool,
    },
    /// Of `pgbench_tellers`.
    Tellers,
    /// Of `pgbench_branches`.
    Branches,
    /// Of `sbtest<number>`, which has so many rows.
    Sbtest {
        /// What values are drawn from.
        seed: u64,
        /// Which table, from 1.
        number: u32,
        /// How many rows it has.
        size: u32,
    },
    /// Of `tenbin_postcodes`, of which there are so many in all.
    Postcodes {
        /// What values are drawn from.
        seed: u64,
        /// How many there are.
        rows: u64,
    },
}

impl Content {
    /// Writes rows, counted from 0.
    pub(crate) fn write(&self, rows: Range<u64>, sink: &mut impl Sink) {
        match *self {
            Self::Nothing => {}
            Self::Accounts { is_big, needs_blanks } => pgbench::accounts(rows, is_big, needs_blanks, sink),
            Self::Tellers => pgbench::tellers(rows, sink),
            Self::Branches => pgbench::branches(rows, sink),
            Self::Sbtest { seed, number, size } => sbtest::rows(rows, seed, number, size, sink),
            Self::Postcodes { seed, rows: all } => postcodes::rows(rows, seed, all, sink),
        }
    }

    /// Rows that are written at once: some 256 KiB of text.
    pub(crate) fn rows_at_once(&self) -> u64 {
        match self {
            Self::Accounts { needs_blanks: false, .. } | Self::Tellers | Self::Branches | Self::Nothing => {
                10_000
            }
            Self::Accounts { .. } | Self::Sbtest { .. } | Self::Postcodes { .. } => 1_200,
        }
    }
}
