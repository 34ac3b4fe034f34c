//! Executes a plan: writes rows, builds indexes, updates statistics, and verifies the number of rows.

use std::iter;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::client::{Batch, Client, Database};
use crate::count;
use crate::databases;
use crate::error::Error;
use crate::marks::{self, Marks};
use crate::plan::{Chunk, Plan};
use crate::queue::work;
use crate::statistics::Statistics;
use crate::tables::{FinalStep, Table};

/// Receiver of progress.
pub trait Observer: Sync {
    /// Reports the number of written rows, including those of earlier calls, and the total. A chunk that fails later may be
    /// counted.
    fn rows(&self, _rows: u64, _rows_all: u64) {}

    /// Reports the start of a stage, with a short description.
    fn stage(&self, _words: &str) {}

    /// Returns true to stop. Completed work remains, and another call continues from there.
    fn should_stop(&self) -> bool {
        false
    }
}

/// Ignores progress.
impl Observer for () {}

/// Result of a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// Tables with the number of rows that were counted.
    pub tables: Vec<(String, u64)>,
    /// Number of rows that existed from an earlier call.
    pub rows_before: u64,
    /// Further facts for comparisons: session settings, and the order of steps.
    pub notes: Vec<String>,
}

/// Creates and fills the tables of a plan, or continues an interrupted call.
///
/// # Errors
///
/// If other tables with these names exist, an earlier call had other options, the connection breaks, the server rejects a
/// statement, or rows are missing at the end.
pub fn run(plan: &Plan, database: &Database, observer: &impl Observer) -> Result<Loaded, Error> {
    if plan.engine != database.engine {
        let (planned, found) = (plan.engine, database.engine);
        return Err(Error::Options(format!(
            "the tables are planned for {planned:?}, and the database is {found:?}"
        )));
    }
    let numbers = AtomicU32::new(0);
    let open = || database.open(numbers.fetch_add(1, Ordering::Relaxed));
    let mut control = open()?;
    let marks = marks::begin(&mut *control, plan)?;
    let load = Loader { plan, marks: &marks, open: &open, idle: Mutex::default(), observer };
    let rows_before = load.rows()?;
    load.indexes()?;
    load.references(&mut *control)?;
    let statistics_note = load.update_statistics()?;
    marks::end(&mut *control)?;
    let connections =
        if plan.jobs == 1 { "1 connection".to_owned() } else { format!("{} connections", plan.jobs) };
    let notes = iter::once(format!("rows over {connections}")).chain(statistics_note).collect();
    let tables = plan.tables.iter().map(|table| (table.name.clone(), table.rows)).collect();
    Ok(Loaded { tables, rows_before, notes })
}

struct Loader<'a, Open, Watching> {
    plan: &'a Plan,
    marks: &'a Marks,
    open: &'a Open,
    idle: Mutex<Vec<Box<dyn Client>>>,
    observer: &'a Watching,
}

impl<Open, Watching> Loader<'_, Open, Watching>
where
    Open: Fn() -> Result<Box<dyn Client>, Error> + Sync,
    Watching: Observer,
{
    /// Processes items over connections, using open ones first.
    fn work<T: Send>(
        &self,
        items: impl Iterator<Item = T> + Send,
        run: impl Fn(&mut dyn Client, T) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let open = || {
            let client = idle().pop();
            client.map_or_else(self.open, Ok)
        };
        work(
            self.plan.jobs,
            items,
            open,
            |client| idle().push(client),
            |client, item| run(&mut **client, item),
        )
    }

    /// Writes all rows. Returns the number of rows that existed before.
    fn rows(&self) -> Result<u64, Error> {
        let rows_all = self.plan.rows();
        let (done, todo): (Vec<Chunk>, Vec<Chunk>) =
            self.plan.chunks().partition(|chunk| self.marks.has(&chunk.mark));
        let before = done.iter().map(|chunk| chunk.rows.end - chunk.rows.start).sum();
        let rows = AtomicU64::new(before);
        self.observer.stage("rows");
        self.observer.rows(before, rows_all);
        self.work(todo.into_iter(), |client, chunk| {
            let table = &self.plan.tables[chunk.table];
            let mut written = |count| {
                let now = rows.fetch_add(count, Ordering::Relaxed) + count;
                self.observer.rows(now, rows_all);
                !self.observer.should_stop()
            };
            let is_done = client.load(&batch(table, &chunk), &mut written)?;
            if is_done {
                Ok(())
            } else {
                Err(Error::Stopped { rows: rows.load(Ordering::Relaxed), rows_all })
            }
        })?;
        Ok(before)
    }

    /// Builds indexes, concurrently for different tables.
    fn indexes(&self) -> Result<(), Error> {
        self.observer.stage("indexes");
        let tables = self.plan.tables.iter().filter(|table| !table.indexes.is_empty());
        self.work(tables, |client, table| {
            table.indexes.iter().try_for_each(|index| self.finish(client, table, index))
        })
    }

    fn references(&self, client: &mut dyn Client) -> Result<(), Error> {
        let mut all =
            self.plan.tables.iter().flat_map(|table| table.references.iter().map(move |one| (table, one)));
        all.try_for_each(|(table, reference)| self.finish(client, table, reference))
    }

    /// Performs a step that is done once, and marks it as completed.
    fn finish(&self, client: &mut dyn Client, table: &Table, finish: &FinalStep) -> Result<(), Error> {
        let doing = &format!("making {}", finish.name);
        if self.observer.should_stop() {
            let rows = self.plan.rows();
            return Err(Error::Stopped { rows, rows_all: rows });
        }
        let mark = format!("made {}", finish.name);
        if databases::of(self.plan.engine).commits_implicitly {
            if !marks::has_index(client, &table.name, &finish.name)? {
                client.query(&finish.statement, doing)?;
            }
        } else if !self.marks.has(&mark) {
            client.query("BEGIN", doing)?;
            client.query(&finish.statement, doing)?;
            if let (Some(key), true) = (table.key, finish.is_key && self.plan.is_counted_by_key(table)) {
                count::by_key(client, table, key)?;
            }
            client.query(&marks::mark(&mark), doing)?;
            client.query("COMMIT", doing)?;
        }
        Ok(())
    }

    /// Updates statistics of the tables, and returns a note if the server rejects that. Meanwhile counts rows that no key has counted.
    fn update_statistics(&self) -> Result<Option<String>, Error> {
        self.observer.stage("statistics, and counting");
        let statistics = Statistics::new(self.plan.engine);
        let tasks = self.plan.tables.iter().flat_map(|table| [(table, false), (table, true)]);
        let tasks = tasks.filter(|&(table, is_count)| !is_count || !self.plan.is_counted_by_key(table));
        // The largest first, so that the others run next to it.
        let mut tasks: Vec<_> = tasks.collect();
        tasks.sort_by_key(|(table, _)| std::cmp::Reverse(table.rows));
        self.work(tasks.into_iter(), |client, (table, is_count)| {
            if is_count { count::by_reading(client, table) } else { statistics.update(client, &table.name) }
        })?;
        Ok(statistics.note())
    }
}

fn batch<'a>(table: &'a Table, chunk: &'a Chunk) -> Batch<'a> {
    Batch {
        table: &table.name,
        target: &table.name,
        columns: table.columns,
        content: &table.content,
        rows: chunk.rows.clone(),
        is_whole: chunk.is_whole,
        mark: Some(&chunk.mark),
    }
}
