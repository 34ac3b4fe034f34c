//! Tables of workloads, identical to those of the original tools.

mod pgbench;
mod sbtest;
mod studies;
mod tpcc;

pub(crate) use pgbench::create_words;

use sql::Engine;
use sql::workload::{Tables, Workload};

use crate::options::Options;
use crate::rows::Content;

/// A table, from its creation to its last index.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    /// Name of the table.
    pub(crate) name: String,
    /// Statements that create it.
    pub(crate) create: Vec<String>,
    /// Number of columns.
    pub(crate) columns: u16,
    /// Kind of its rows.
    pub(crate) content: Content,
    /// Number of rows.
    pub(crate) rows: u64,
    /// True if its rows are in partitions.
    pub(crate) is_partitioned: bool,
    /// Column that numbers rows from 1 without gaps. `None` if there is none.
    pub(crate) key: Option<&'static str>,
    /// Steps after its rows are written.
    pub(crate) indexes: Vec<FinalStep>,
    /// Steps after all tables have their indexes.
    pub(crate) references: Vec<FinalStep>,
}

/// A step that is done once, after rows are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FinalStep {
    /// Name of the index or constraint.
    pub(crate) name: String,
    /// Statement that creates it.
    pub(crate) statement: String,
    /// True if it makes [`Table::key`] the primary key.
    pub(crate) is_key: bool,
}

impl FinalStep {
    pub(crate) fn new(name: impl Into<String>, statement: impl Into<String>) -> Self {
        Self { name: name.into(), statement: statement.into(), is_key: false }
    }

    pub(crate) fn key(name: impl Into<String>, statement: impl Into<String>) -> Self {
        Self { is_key: true, ..Self::new(name, statement) }
    }
}

/// Tables of a workload.
pub(crate) fn of(workload: &Workload, engine: Engine, options: &Options) -> Vec<Table> {
    match workload.tables {
        Tables::Pgbench => pgbench::tables(engine, options),
        Tables::Sbtest => sbtest::tables(engine, options),
        Tables::SbtestEmpty => sbtest::empty_tables(engine, options),
        Tables::Postcodes => vec![studies::postcodes(engine, options, workload.name == "postcodes-insert")],
        Tables::Accounts => vec![studies::accounts(engine)],
        Tables::Tpcc => tpcc::tables(engine, options),
    }
}
