//! `tenbin prepare URL --workload NAME`: creates the tables or records of a built-in workload.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use clap::Args;
use plan::{Database, Fault, OwnData, RecordLayout, RecordLoading, RecordShape, RunningSystem, units};
use runner::{FillError, Loaded, LoadingError, LoadingOptions, PartitionMethod, PublicLoads, Stopper};

use crate::arguments::url_argument;
use crate::commands::list_faults;
use crate::exit::{BadArguments, Exit};
use crate::{output, signals};

/// Min time between two updates of the progress on a terminal.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// Arguments of `tenbin prepare`.
#[derive(Args, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct PrepareFlags {
    /// Database: postgres://USER@HOST/DATABASE, mysql://…, or sqlite:PATH; for ycsb workloads also redis://…, memcached://…, and mongodb://…
    ///
    /// Put a password into PGPASSWORD, ~/.pgpass, MYSQL_PWD, or the variable of the store, such as REDISCLI_AUTH.
    #[arg(value_parser = url_argument)]
    url: String,
    /// Workload: tpcb-like, select-only, oltp-read-write, tpcc-like, postcodes-read, sign-up, ...
    ///
    /// Also simple-update, the other oltp workloads of sysbench, bulk-insert, postcodes-insert, and ycsb-a to ycsb-f.
    #[arg(long, value_name = "NAME")]
    workload: String,
    /// Scale factor of pgbench's tables: 100,000 accounts each; warehouses of tpcc-like
    #[arg(short, long, value_name = "N", default_value = "1")]
    scale: String,
    /// Number of tables of the oltp workloads
    #[arg(long, value_name = "N", default_value = "1")]
    tables: String,
    /// Rows per table of the oltp workloads; items of tpcc-like; records of the ycsb workloads
    #[arg(long, visible_alias = "keys", value_name = "N", default_value = "10000")]
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
    let asked = read(flags).map_err(|faults| BadArguments(list_faults(&faults, "nothing was sent")))?;
    let stopper = Stopper::default();
    let received_signals = signals::listen(stopper.clone())?;
    received_signals.mark_run_started();
    let started_at = Instant::now();
    let line = ProgressLine::default();
    let show_progress = |rows: u64, all: u64, words: &str| line.show(rows, all, words);
    let loaded = match &asked {
        PrepareRequest::Tables(database, options) => {
            runner::fill(database, &flags.workload, options, &stopper, &show_progress)
        }
        PrepareRequest::Rows(database, own) => runner::fill_own(database, own, &stopper, &show_progress),
        PrepareRequest::Records(system, loading) => {
            let public = PublicLoads::default();
            runner::load_records(loading, system, &public, &stopper, &show_progress).map(|()| Loaded {
                tables: vec![("records".to_owned(), loading.shape.records)],
                rows_before: 0,
                notes: Vec::new(),
            })
        }
    };
    line.clear();
    let loaded = match loaded {
        Ok(loaded) => loaded,
        Err(FillError::Loading(error @ LoadingError::Options(_))) => {
            return Err(BadArguments(format!("{error}\n1 error; nothing was sent")).into());
        }
        Err(FillError::Refused(refusal)) => return Err(refusal.into()),
        Err(error) => {
            output::print_error(&error.into());
            return Ok(received_signals.exit().unwrap_or(Exit::CouldNotRun));
        }
    };
    let mut text = String::new();
    for (table, rows) in &loaded.tables {
        text += &match &asked {
            PrepareRequest::Records(..) => format!("{rows} {table}\n"),
            PrepareRequest::Tables(..) | PrepareRequest::Rows(..) => format!("{table}: {rows} rows\n"),
        };
    }
    for note in &loaded.notes {
        text += &format!("note: {note}\n");
    }
    text += &format!("{} in {:.1} s\n", asked.shown(), started_at.elapsed().as_secs_f64());
    output::lines(&text)?;
    Ok(received_signals.exit().unwrap_or(Exit::Ok))
}

/// Data to create.
enum PrepareRequest {
    /// Tables of a workload.
    Tables(Database, LoadingOptions),
    /// Records as rows of a table.
    Rows(Database, OwnData),
    /// Records of a store.
    Records(RunningSystem, RecordLoading),
}

impl PrepareRequest {
    /// URL without secrets.
    fn shown(&self) -> String {
        match self {
            Self::Tables(database, _) | Self::Rows(database, _) => database.shown.clone(),
            Self::Records(system, _) => plan::without_credentials(&system.url),
        }
    }
}

fn read(flags: &PrepareFlags) -> Result<PrepareRequest, Vec<Fault>> {
    let mut faults = Vec::new();
    let is_of_records = plan::find_ycsb(&flags.workload).is_some();
    let is_store = is_of_records && !plan::has_tables_of_records(&flags.url);
    let database = match is_store {
        true => {
            faults.extend(plan::url_fault(&flags.url));
            None
        }
        false => Database::read(&flags.url).map_err(|more| faults.extend(more)).ok(),
    };
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
    if is_store && flags.drop {
        let help = "remove it, and remove the records with a command of the store, such as FLUSHDB";
        faults.push(Fault::new("--drop", "records of a store are not dropped", help));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let shape = RecordShape { records: options.table_size.into(), ..RecordShape::default() };
    Ok(match database {
        Some(database) if is_of_records => {
            let own = shape.own_data(options.jobs, options.seed, options.unlogged, options.fresh);
            PrepareRequest::Rows(database, own)
        }
        Some(database) => PrepareRequest::Tables(database, options),
        None => {
            let system = RunningSystem { url: flags.url.clone(), ..RunningSystem::default() };
            PrepareRequest::Records(
                system,
                RecordLoading { shape, jobs: options.jobs, layout: RecordLayout::default() },
            )
        }
    })
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
            "" => runner::format_rows(rows, rows_all),
            words => words.to_owned(),
        };
        output::show_line(&line);
    }

    fn clear(&self) {
        if self.0.lock().is_ok_and(|last| last.is_some()) {
            output::erase_line();
        }
    }
}
