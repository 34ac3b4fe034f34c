//! The tables of workloads, as the tools that had them first make them.

mod pgbench;
mod sbtest;
mod studies;

use sql::Engine;
use sql::workload::{Tables, Workload};

use crate::options::Options;
use crate::rows::Content;

/// A table, from nothing to its last index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    /// Its name.
    pub(crate) name: String,
    /// What creates it.
    pub(crate) create: Vec<String>,
    /// How many values a row has.
    pub(crate) columns: u16,
    /// What is in it.
    pub(crate) content: Content,
    /// How many rows.
    pub(crate) rows: u64,
    /// Whether its rows are in other tables, its partitions.
    pub(crate) is_partitioned: bool,
    /// The column that numbers rows from 1, without a gap.
    pub(crate) key: Option<&'static str>,
    /// What comes when its rows are there.
    pub(crate) indexes: Vec<Finish>,
    /// What comes when all tables have their indexes.
    pub(crate) references: Vec<Finish>,
}

/// Something that is done once, after rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finish {
    /// The name of the index or the constraint.
    pub(crate) name: String,
    /// How it comes about.
    pub(crate) statement: String,
    /// Whether it makes [`Table::key`] the primary key.
    pub(crate) is_key: bool,
}

impl Finish {
    fn new(name: impl Into<String>, statement: impl Into<String>) -> Self {
        Self { name: name.into(), statement: statement.into(), is_key: false }
    }

    fn key(name: impl Into<String>, statement: impl Into<String>) -> Self {
        Self { is_key: true, ..Self::new(name, statement) }
    }
}

/// The tables of a workload.
pub(crate) fn of(workload: &Workload, engine: Engine, options: &Options) -> Vec<Table> {
    match workload.tables {
        Tables::Pgbench => pgbench::tables(engine, options),
        Tables::Sbtest => sbtest::tables(engine, options),
        Tables::SbtestEmpty => sbtest::empty_tables(engine, options),
        Tables::Postcodes => vec![studies::postcodes(engine, options, workload.name == "postcodes-insert")],
        Tables::Accounts => vec![studies::accounts(engine)],
    }
}
