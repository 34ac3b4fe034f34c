//! `tenbin prepare URL --workload NAME`: creates the tables of a built-in workload.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use clap::Args;
use plan::{Database, Fault, units};
use runner::{FillError, LoadingError, LoadingOptions, PartitionMethod, Stopper};

use crate::commands::listed;
use crate::exit::{BadArguments, Exit};
use crate::{output, signals};

/// Min time between two updates of the progress on a terminal.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// Arguments of `tenbin prepare`.
#[derive(Args, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct PrepareFlags {
    /// Database: postgres://USER@HOST/DATABASE, mysql://…, or sqlite:PATH
    ///
    /// Put a password into PGPASSWORD, ~/.pgpass, or MYSQL_PWD.
    url: String,
    /// Workload: tpcb-like, select-only, oltp-read-write, tpcc-like, postcodes-read, sign-up, ...
    ///
    /// Also simple-update, the other oltp workloads of sysbench, bulk-insert, and postcodes-insert.
    #[arg(long, value_name = "NAME")]
    workload: String,
    /// Scale factor of pgbench's tables: 100,000 accounts each; warehouses of tpcc-like
    #[arg(short, long, value_name = "N", default_value = "1")]
    scale: String,
    /// Number of tables of the oltp workloads
    #[arg(long, value_name = "N", default_value = "1")]
    tables: String,
    /// Rows per table of the oltp workloads; items of tpcc-like
    #[arg(long, value_name = "N", default_value = "10000")]
    table_size: String,
    /// Rows of the workload's own table, if it has one
    #[arg(long, value_name = "N")]
    rows: Option<String>,
    /// Connections that load rows; SQLite has one
    #[arg(short, long, value_name = "N", default_value = "4")]
    jobs: String,
    /// Drop existing tables of these names first
    ///
    /// Without it, an interrupted load is resumed.
    #[arg(long, visible_alias = "fresh")]
    drop: bool,
    /// Seed of random rows
    #[arg(long, value_name = "N", default_value = "1")]
    seed: String,
    /// Fill factor of pages, in percent
    #[arg(short = 'F', long, value_name = "PERCENT", default_value = "100", help_heading = "PostgreSQL")]
    fillfactor: String,
    /// Partitions of pgbench's accounts; 0 is a plain table
    #[arg(long, value_name = "N", default_value = "0", help_heading = "PostgreSQL")]
    partitions: String,
    /// Partitioning of accounts: range or hash
    #[arg(long, value_name = "METHOD", default_value = "range", help_heading = "PostgreSQL")]
    partition_method: String,
    /// Add foreign keys between pgbench's tables
    #[arg(long, help_heading = "PostgreSQL")]
    foreign_keys: bool,
    /// Create unlogged tables
    #[arg(long, help_heading = "PostgreSQL")]
    unlogged_tables: bool,
}

/// Creates the tables, and reports their sizes.
pub(crate) fn run(flags: &PrepareFlags) -> anyhow::Result<Exit> {
    let (database, options) =
        read(flags).map_err(|faults| BadArguments(listed(&faults, "nothing was sent")))?;
    let stopper = Stopper::default();
    let heard = signals::listen(stopper.clone())?;
    heard.run_begins();
    let begun = Instant::now();
    let line = ProgressLine::default();
    let loaded = runner::fill(&database, &flags.workload, &options, &stopper, &|rows, all, words| {
        line.show(rows, all, words);
    });
    line.clear();
    let loaded = match loaded {
        Ok(loaded) => loaded,
        Err(FillError::Loading(error @ LoadingError::Options(_))) => {
            return Err(BadArguments(format!("{error}\n1 error; nothing was sent")).into());
        }
        Err(FillError::Refused(refusal)) => return Err(refusal.into()),
        Err(FillError::Loading(error)) => {
            output::complain(&error.into());
            return Ok(heard.exit().unwrap_or(Exit::CouldNotRun));
        }
    };
    let mut text = String::new();
    for (table, rows) in &loaded.tables {
        text += &format!("{table}: {rows} rows\n");
    }
    for note in &loaded.notes {
        text += &format!("note: {note}\n");
    }
    text += &format!("{} in {:.1} s\n", database.shown, begun.elapsed().as_secs_f64());
    output::lines(&text)?;
    Ok(heard.exit().unwrap_or(Exit::Ok))
}

fn read(flags: &PrepareFlags) -> Result<(Database, LoadingOptions), Vec<Fault>> {
    let mut faults = Vec::new();
    let database = Database::read(&flags.url).map_err(|more| faults.extend(more)).ok();
    let mut number = |flag: &str, text: &str, least: u64, most: u64| {
        let count = units::count(text).and_then(|count| match count {
            count if (least..=most).contains(&count) => Ok(count),
            count => Err(format!("{count} is not between {least} and {most}")),
        });
        count.unwrap_or_else(|what| {
            faults.push(Fault::new(flag, what, "correct the value, or leave it out"));
            least
        })
    };
    let small = u64::from(u32::MAX);
    let mut options = LoadingOptions {
        scale: number("--scale", &flags.scale, 1, 21_474) as u32,
        tables: number("--tables", &flags.tables, 1, 1_000) as u32,
        table_size: number("--table-size", &flags.table_size, 1, i32::MAX as u64) as u32,
        rows: flags.rows.as_deref().map(|rows| number("--rows", rows, 0, small)),
        fillfactor: number("--fillfactor", &flags.fillfactor, 10, 100) as u8,
        partitions: number("--partitions", &flags.partitions, 0, 10_000) as u32,
        partition_method: PartitionMethod::Range,
        foreign_keys: flags.foreign_keys,
        unlogged: flags.unlogged_tables,
        jobs: number("--jobs", &flags.jobs, 1, 256) as u32,
        seed: number("--seed", &flags.seed, 0, u64::MAX),
        fresh: flags.drop,
    };
    match flags.partition_method.as_str() {
        "range" => {}
        "hash" => options.partition_method = PartitionMethod::Hash,
        other => {
            let what = format!("{other:?} is not known");
            faults.push(Fault::new("--partition-method", what, "write range or hash"));
        }
    }
    plan::known_workload(&flags.workload).map_err(|fault| faults.push(fault)).ok();
    database.filter(|_| faults.is_empty()).map(|database| (database, options)).ok_or(faults)
}

/// Progress on a terminal, with the time of the last update. Elsewhere, nothing is shown.
#[derive(Default)]
struct ProgressLine(Mutex<Option<Instant>>);

impl ProgressLine {
    fn show(&self, rows: u64, rows_all: u64, words: &str) {
        if !output::is_watched() {
            return;
        }
        let Ok(mut last) = self.0.lock() else { return };
        let is_new = words.is_empty() && last.is_some_and(|last| last.elapsed() < PROGRESS_INTERVAL);
        if is_new {
            return;
        }
        *last = Some(Instant::now());
        let line = match words {
            "" => runner::rows_words(rows, rows_all),
            words => words.to_owned(),
        };
        output::show_line(&line);
    }

    fn clear(&self) {
        if self.0.lock().is_ok_and(|last| last.is_some()) {
            output::wipe_line();
        }
    }
}
