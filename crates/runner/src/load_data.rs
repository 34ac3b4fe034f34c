//! Creates the tables of a workload in any supported database.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use judge::words::{Share, percent};
use loading::{Database, DatabaseLocation, Loaded, Options, SqlText};
use plan::Fault;
use progress::{Filling, RunEvent, Stream};
use sql::workload;

use crate::consent::PublicLoads;
use crate::databases::database_addresses;
use crate::own_data;
use crate::prepare::Refusal;
use crate::record_loading::load_records;
use crate::stopper::{StopLevel, Stopper};
use crate::stretching;

/// Interval between two progress events.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// Callback for progress: rows written, total rows, and a description of the current step.
pub type Progress<'a> = &'a (dyn Fn(u64, u64, &str) + Sync);

/// Reason why tables could not be filled.
#[derive(Debug, thiserror::Error)]
pub enum FillError {
    /// The database cannot be reached, or the workload does not exist.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The tables could not be created, or differ from the requested ones.
    #[error(transparent)]
    Loading(#[from] loading::Error),
    /// Records were not inserted into a store.
    #[error("{0}")]
    Records(String),
}

struct LoadingProgress<'a> {
    stopper: &'a Stopper,
    is_stopped: AtomicBool,
    tell: Progress<'a>,
    rows_all: u64,
}

impl loading::Observer for LoadingProgress<'_> {
    fn rows(&self, rows: u64, rows_all: u64) {
        (self.tell)(rows, rows_all, "");
    }

    fn stage(&self, words: &str) {
        (self.tell)(0, self.rows_all, words);
    }

    fn should_stop(&self) -> bool {
        if self.stopper.level() != StopLevel::Go {
            self.is_stopped.store(true, Ordering::Relaxed);
        }
        self.is_stopped.load(Ordering::Relaxed)
    }
}

/// Creates and fills the tables of a workload, or resumes an earlier call that was cut off.
pub fn fill(
    database: &plan::Database,
    workload: &str,
    options: &Options,
    stopper: &Stopper,
    tell: Progress<'_>,
) -> Result<Loaded, FillError> {
    let Some(workload) = workload::find_for_tables(workload) else {
        let way_out = "write one of those that `tenbin prepare --help` lists";
        return Err(Refusal::Plan(Fault::new("--workload", "there is no such workload", way_out)).into());
    };
    let plan = loading::Plan::new(workload, database.engine, options)?;
    let place = place(database)?;
    let told = LoadingProgress { stopper, is_stopped: AtomicBool::new(false), tell, rows_all: plan.rows() };
    Ok(loading::run(&plan, &place, &told)?)
}

/// Runs statements on one connection. `file` is their source file, for errors.
pub fn run_sql(database: &plan::Database, file: Option<&str>, text: &str) -> Result<(), FillError> {
    let text = SqlText { file: file.map(str::to_owned), text: text.to_owned() };
    Ok(loading::run_sql(&[text], &place(database)?)?)
}

/// Address and log-in of a database.
pub(crate) fn place(database: &plan::Database) -> Result<Database, Refusal> {
    let login = stretching::shared(&database.login, loading::LOGIN_TIMEOUT);
    let place = match &database.file {
        Some((path, _)) => DatabaseLocation::File(path.clone()),
        None => {
            let (peer, _) = database_addresses(database, &PublicLoads::Refused)?;
            DatabaseLocation::Server { peer, login }
        }
    };
    Ok(Database { engine: database.engine, place })
}

/// Creates the tables that a plan needs before its load, and publishes the progress.
pub(crate) fn fill_for(
    database: &plan::Database,
    tables: &plan::Tables,
    stopper: &Stopper,
    stream: &Stream,
) -> Result<Loaded, FillError> {
    let options = Options {
        scale: tables.scale,
        tables: tables.tables,
        table_size: tables.table_size,
        rows: tables.rows,
        fillfactor: tables.fillfactor,
        foreign_keys: tables.foreign_keys,
        unlogged: tables.unlogged,
        jobs: tables.jobs,
        seed: tables.seed,
        fresh: tables.drop,
        ..Options::default()
    };
    with_progress(stream, |tell| fill(database, tables.workload, &options, stopper, tell))
}

/// Runs the own statements of a plan before its load, fills its own tables, and publishes the progress.
pub(crate) fn fill_own_for(
    database: &plan::Database,
    own: &plan::OwnData,
    stopper: &Stopper,
    stream: &Stream,
) -> Result<Loaded, FillError> {
    with_progress(stream, |tell| fill_own(database, own, stopper, tell))
}

/// Runs own statements, and fills own tables.
pub fn fill_own(
    database: &plan::Database,
    own: &plan::OwnData,
    stopper: &Stopper,
    tell: Progress<'_>,
) -> Result<Loaded, FillError> {
    let data = own_data::convert(own)?;
    let place = place(database)?;
    let rows_all = data.tables.iter().map(|table| table.rows.count()).sum();
    let told = LoadingProgress { stopper, is_stopped: AtomicBool::new(false), tell, rows_all };
    Ok(loading::load_own_data(&data, &place, &told)?)
}

/// Inserts the records of a built-in workload before a load, and publishes the progress.
pub(crate) fn load_records_for(
    loading: &plan::RecordLoading,
    system: &plan::RunningSystem,
    public: &PublicLoads,
    stopper: &Stopper,
    stream: &Stream,
) -> Result<(), FillError> {
    with_progress(stream, |tell| load_records(loading, system, public, stopper, tell))
}

/// Fills tables on a separate thread, and publishes the progress.
fn with_progress<T: Send>(
    stream: &Stream,
    fill: impl FnOnce(Progress<'_>) -> Result<T, FillError> + Send,
) -> Result<T, FillError> {
    publish(stream, Filling::Begins);
    // Only this thread publishes, at most one state per interval.
    thread::scope(|scope| {
        let (teller, told) = mpsc::channel();
        let fill_and_tell = move || {
            let tell = |rows: u64, all: u64, words: &str| {
                let filling = match words {
                    "" => Filling::Rows { rows, rows_all: all },
                    step => Filling::Step(step.to_owned()),
                };
                // Sending fails if the receiver was dropped.
                let _ = teller.send(filling);
            };
            fill(&tell)
        };
        let builder = thread::Builder::new().name("fill".to_owned());
        let filling = builder.spawn_scoped(scope, fill_and_tell).map_err(loading::Error::thread)?;
        loop {
            match told.recv_timeout(PROGRESS_INTERVAL) {
                Ok(first) => {
                    publish(stream, told.try_iter().last().unwrap_or(first));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        filling.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Publishes progress without a run, which has no name yet.
fn publish(stream: &Stream, filling: Filling) {
    stream.publish(None, RunEvent::Filling(filling));
}

/// Formats the progress: rows written and total rows.
pub fn format_rows(rows: u64, rows_all: u64) -> String {
    format!(
        "{rows} of {rows_all} rows ({})",
        percent(Share::of_count(rows, rows_all).map_or(1.0, Share::get), 0)
    )
}
