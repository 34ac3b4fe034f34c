//! Plan of a load: tables, their rows in chunks, and later steps.

use std::ops::Range;

use sql::Engine;
use sql::workload::{Tables, Workload};

use crate::databases;
use crate::error::Error;
use crate::options::{Options, PartitionMethod};
use crate::tables::{self, Table};

/// Number of rows of a chunk, which is written in one transaction together with its mark.
const CHUNK_ROWS: u64 = 100_000;
/// Maximum number of rows of a table that is written in one transaction, on databases that can freeze rows. Writing it takes
/// seconds, so little is lost if it is interrupted.
const WHOLE_ROWS_MAX: u64 = 10_000_000;
/// Maximum number of chunks of a table, which limits the number of marks.
const CHUNKS_MAX: u64 = 2_000;

const SCALE_MAX: u32 = 200_000_000;
const TABLES_MAX: u32 = 10_000;
const PARTITIONS_MAX: u32 = 10_000;
const ROWS_MAX: u64 = 10_000_000;
const JOBS_MAX: u32 = 256;

/// Tables of a workload on one kind of database.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub(crate) engine: Engine,
    pub(crate) tables: Vec<Table>,
    pub(crate) jobs: u32,
    pub(crate) fresh: bool,
    asked: String,
}

/// Rows of one table that are written in one transaction together with their mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Index of the table in the plan.
    pub(crate) table: usize,
    /// Range of the rows, from 0.
    pub(crate) rows: Range<u64>,
    /// True if the chunk has all rows of the table, which no other session has read before.
    pub(crate) is_whole: bool,
    /// Name of its mark.
    pub(crate) mark: String,
}

impl Plan {
    /// Plans the tables of a workload with these options.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] if the options are invalid, or not supported by the database.
    pub fn new(workload: &Workload, engine: Engine, options: &Options) -> Result<Self, Error> {
        check(engine, options)?;
        check_workload(workload, engine, options)?;
        let writers_max = databases::of(engine).writers_max;
        let jobs = writers_max.map_or(options.jobs, |max| max.min(options.jobs));
        let tables = tables::of(workload, engine, options);
        Ok(Self { engine, tables, jobs, fresh: options.fresh, asked: asked(workload, options) })
    }

    /// Names of the tables, in the order of creation.
    pub fn tables(&self) -> Vec<&str> {
        self.tables.iter().map(|table| table.name.as_str()).collect()
    }

    /// Number of rows over all tables.
    pub fn rows(&self) -> u64 {
        self.tables.iter().map(|table| table.rows).sum()
    }

    /// The options on one line. An incomplete load is only resumed with equal options.
    pub fn asked(&self) -> &str {
        &self.asked
    }

    /// True if all rows of a table are written in one transaction. A partitioned table cannot have frozen rows.
    fn is_whole(&self, table: &Table) -> bool {
        databases::of(self.engine).freezes_rows && !table.is_partitioned && table.rows <= WHOLE_ROWS_MAX
    }

    /// True if building the key of a table counts its rows.
    pub(crate) fn is_counted_by_key(&self, table: &Table) -> bool {
        databases::of(self.engine).freezes_rows
            && !table.is_partitioned
            && table.indexes.iter().any(|index| index.is_key)
    }

    /// All chunks. They do not depend on the number of connections.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = Chunk> {
        self.tables.iter().enumerate().flat_map(|(number, table)| {
            let is_whole = self.is_whole(table);
            let size =
                if is_whole { table.rows.max(1) } else { CHUNK_ROWS.max(table.rows.div_ceil(CHUNKS_MAX)) };
            (0..table.rows.div_ceil(size)).map(move |chunk| Chunk {
                table: number,
                rows: chunk * size..table.rows.min((chunk + 1) * size),
                is_whole,
                mark: if is_whole {
                    format!("all rows of {}", table.name)
                } else {
                    format!("rows of {} {chunk}", table.name)
                },
            })
        })
    }
}

fn check_workload(workload: &Workload, engine: Engine, options: &Options) -> Result<(), Error> {
    if !workload.runs_on(engine) {
        let known: Vec<&str> = workload.engines().map(|engine| engine.name()).collect();
        return Err(Error::Options(format!(
            "{} is for {}: take another database",
            workload.name,
            known.join(" and ")
        )));
    }
    let size = workload.variables.iter().find(|variable| variable.name == "table_size");
    match size.filter(|size| !(size.least..=size.most).contains(&options.table_size)) {
        Some(size) => Err(Error::Options(format!(
            "--table-size of {} may be {} to {}, and is {}",
            workload.name, size.least, size.most, options.table_size
        ))),
        None => Ok(()),
    }
}

fn check(engine: Engine, options: &Options) -> Result<(), Error> {
    let range = |name: &str, value: u64, least: u64, most: u64| match value {
        value if (least..=most).contains(&value) => Ok(()),
        value => Err(Error::Options(format!("{name} may be {least} to {most}, and is {value}"))),
    };
    range("--scale", options.scale.into(), 1, SCALE_MAX.into())?;
    range("--tables", options.tables.into(), 1, TABLES_MAX.into())?;
    range("--table-size", options.table_size.into(), 1, i32::MAX as u64)?;
    range("--fillfactor", options.fillfactor.into(), 10, 100)?;
    range("--partitions", options.partitions.into(), 0, PARTITIONS_MAX.into())?;
    range("--rows", options.rows.unwrap_or(0), 0, ROWS_MAX)?;
    range("--jobs", options.jobs.into(), 1, JOBS_MAX.into())?;
    let of_pgbench = [
        ("--fillfactor", options.fillfactor != 100),
        ("--partitions", options.partitions != 0),
        ("--foreign-keys", options.foreign_keys),
        ("--unlogged-tables", options.unlogged),
    ];
    match of_pgbench.iter().find(|(_, is_asked)| *is_asked && !databases::of(engine).has_pgbench_options) {
        Some((name, _)) => {
            let known = databases::with_pgbench_options();
            Err(Error::Options(format!("{name} is for {known} only: leave it out")))
        }
        // The partitioned table itself is logged, and may not refer to unlogged tables.
        None if options.partitions != 0 && options.foreign_keys && options.unlogged => {
            let what = "--partitions, --foreign-keys and --unlogged-tables exclude one another: leave one of them out";
            Err(Error::Options(what.to_owned()))
        }
        None => Ok(()),
    }
}

/// Whether the options in the marks of an earlier call belong to these tables.
pub fn is_marked_for(asked: &str, tables: Tables) -> bool {
    let name = match tables {
        Tables::Pgbench => "pgbench",
        Tables::Sbtest | Tables::SbtestEmpty => "sbtest",
        Tables::Postcodes => "postcodes-",
        Tables::Accounts => "sign-up",
        Tables::Tpcc => "tpcc",
    };
    asked.starts_with(name)
}

fn asked(workload: &Workload, options: &Options) -> String {
    let Options { scale, tables, table_size, rows, fillfactor, partitions, seed, .. } = options;
    match workload.tables {
        Tables::Pgbench => {
            let method = match options.partition_method {
                PartitionMethod::Range => "range",
                PartitionMethod::Hash => "hash",
            };
            let mut asked = format!("pgbench, scale {scale}, fillfactor {fillfactor}");
            if *partitions > 0 {
                asked.push_str(&format!(", {partitions} partitions by {method}"));
            }
            for (word, is_asked) in
                [(", foreign keys", options.foreign_keys), (", unlogged", options.unlogged)]
            {
                asked.push_str(if is_asked { word } else { "" });
            }
            asked
        }
        Tables::Sbtest => format!("sbtest, {tables} tables of {table_size} rows, seed {seed}"),
        Tables::SbtestEmpty => format!("sbtest, {tables} empty tables"),
        Tables::Postcodes => {
            let rows = rows.map_or_else(|| "the usual".to_owned(), |rows| rows.to_string());
            format!("{}, {rows} rows, seed {seed}", workload.name)
        }
        Tables::Accounts => "sign-up".to_owned(),
        Tables::Tpcc => format!("tpcc, {scale} warehouses of {table_size} items, seed {seed}"),
    }
}

#[cfg(test)]
mod tests {
    use sql::workload;

    use super::*;

    fn plan(engine: Engine, options: &Options) -> Result<Plan, Error> {
        Plan::new(workload::find("tpcb-like").unwrap(), engine, options)
    }

    #[test]
    fn chunks_cover_every_row_once() {
        let options = Options { scale: 3, ..Options::default() };
        let plan_of_one = plan(Engine::PostgreSql, &Options { jobs: 1, ..options.clone() }).unwrap();
        let plan = plan(Engine::PostgreSql, &options).unwrap();
        let chunks: Vec<_> = plan.chunks().collect();
        assert_eq!(chunks, plan_of_one.chunks().collect::<Vec<_>>());
        for (number, table) in plan.tables.iter().enumerate() {
            let mut next = 0;
            for chunk in chunks.iter().filter(|chunk| chunk.table == number) {
                assert_eq!(chunk.rows.start, next);
                next = chunk.rows.end;
            }
            assert_eq!(next, table.rows, "{}", table.name);
        }
        assert_eq!(plan.rows(), 300_033);
    }

    #[test]
    fn table_is_one_chunk_if_rows_can_be_frozen() {
        let accounts = |engine, options: Options| {
            let plan = plan(engine, &options).unwrap();
            let chunks = plan.chunks().filter(|chunk| plan.tables[chunk.table].name == "pgbench_accounts");
            chunks.map(|chunk| chunk.is_whole).collect::<Vec<_>>()
        };
        let of_scale = |scale| Options { scale, ..Options::default() };
        assert_eq!(accounts(Engine::PostgreSql, of_scale(100)), [true]);
        assert_eq!(accounts(Engine::PostgreSql, of_scale(101)), [false; 101]);
        assert_eq!(accounts(Engine::MySql, of_scale(2)), [false; 2]);
        assert_eq!(accounts(Engine::PostgreSql, Options { partitions: 2, ..of_scale(2) }), [false; 2]);
    }

    #[test]
    fn number_of_marks_is_limited() {
        let options = Options { scale: 20_000, ..Options::default() };
        assert!(plan(Engine::PostgreSql, &options).unwrap().chunks().count() < 2100);
    }

    #[test]
    fn marks_belong_to_one_kind_of_tables() {
        for workload in workload::WORKLOADS {
            let asked = asked(workload, &Options::default());
            for other in workload::WORKLOADS {
                let is_sbtest = |tables| matches!(tables, Tables::Sbtest | Tables::SbtestEmpty);
                let is_same =
                    workload.tables == other.tables || is_sbtest(workload.tables) && is_sbtest(other.tables);
                assert_eq!(is_marked_for(&asked, other.tables), is_same, "{asked}, {}", other.name);
            }
        }
    }

    #[test]
    fn invalid_options_are_rejected_with_a_message() {
        for (engine, options, word) in [
            (Engine::PostgreSql, Options { scale: 0, ..Options::default() }, "--scale"),
            (Engine::PostgreSql, Options { jobs: 0, ..Options::default() }, "--jobs"),
            (Engine::PostgreSql, Options { fillfactor: 5, ..Options::default() }, "--fillfactor"),
            (Engine::MySql, Options { partitions: 2, ..Options::default() }, "--partitions"),
            (Engine::Sqlite, Options { unlogged: true, ..Options::default() }, "--unlogged"),
            (
                Engine::PostgreSql,
                Options { partitions: 2, foreign_keys: true, unlogged: true, ..Options::default() },
                "exclude one another",
            ),
        ] {
            let said = plan(engine, &options).unwrap_err().to_string();
            assert!(said.contains(word), "{said}");
        }
    }
}
