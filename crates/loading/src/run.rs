//! From a plan to tables: rows, then indexes, then what the planner needs to know, then a last look.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use sql::Engine;

use crate::client::{Client, Database};
use crate::error::Error;
use crate::marks::{self, Marks};
use crate::plan::{Chunk, Plan};
use crate::queue::work;
use crate::tables::{Finish, Table};

/// Who is told how far it is.
pub trait Observer: Sync {
    /// So many rows of so many are written. Those of earlier calls count; a chunk that fails may be counted too far.
    fn rows(&self, _rows: u64, _rows_all: u64) {}

    /// Another part of the work begins, in a few words.
    fn stage(&self, _words: &str) {}

    /// Whether to stop; what is done remains, and another call goes on from there.
    fn wants_stop(&self) -> bool {
        false
    }
}

/// Nobody is told.
impl Observer for () {}

/// What there is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// Tables, each with the rows that were counted in it.
    pub tables: Vec<(String, u64)>,
    /// Rows that were there from an earlier call.
    pub rows_before: u64,
    /// What was done besides, for those who compare: settings of sessions, the order of things.
    pub notes: Vec<String>,
}

/// Makes the tables of a plan, or goes on where an earlier call was cut off.
///
/// # Errors
///
/// When there are other tables of these names, an earlier call had other options, the connection breaks, the server refuses, or
/// rows are missing at the end.
pub fn run(plan: &Plan, database: &Database, observer: &impl Observer) -> Result<Loaded, Error> {
    if plan.engine != database.engine() {
        let (planned, found) = (plan.engine, database.engine());
        return Err(Error::Options(format!(
            "the tables are planned for {planned:?}, and the database is {found:?}"
        )));
    }
    let numbers = AtomicU32::new(0);
    let open = || database.open(numbers.fetch_add(1, Ordering::Relaxed));
    let mut control = open()?;
    let marks = marks::begin(&mut *control, plan)?;
    let load = Loading { plan, marks: &marks, open: &open, observer };
    let rows_before = load.rows()?;
    let mut notes = load.indexes()?;
    load.references(&mut *control)?;
    load.tidy()?;
    marks::end(&mut *control)?;
    notes.insert(0, format!("rows over {} connections", plan.jobs));
    let tables = plan.tables.iter().map(|table| (table.name.clone(), table.rows)).collect();
    Ok(Loaded { tables, rows_before, notes })
}

struct Loading<'a, Open, Watching> {
    plan: &'a Plan,
    marks: &'a Marks,
    open: &'a Open,
    observer: &'a Watching,
}

impl<Open, Watching> Loading<'_, Open, Watching>
where
    Open: Fn() -> Result<Box<dyn Client>, Error> + Sync,
    Watching: Observer,
{
    /// Writes all rows; how many were there before.
    fn rows(&self) -> Result<u64, Error> {
        let rows_all = self.plan.rows();
        let (done, todo): (Vec<Chunk>, Vec<Chunk>) =
            self.plan.chunks().partition(|chunk| self.marks.has(&chunk.mark));
        let before = done.iter().map(|chunk| chunk.rows.end - chunk.rows.start).sum();
        let rows = AtomicU64::new(before);
        self.observer.stage("rows");
        self.observer.rows(before, rows_all);
        work(self.plan.jobs, todo.into_iter(), self.open, |client, chunk| {
            let table = &self.plan.tables[chunk.table];
            let mut written = |count| {
                let now = rows.fetch_add(count, Ordering::Relaxed) + count;
                self.observer.rows(now, rows_all);
                !self.observer.wants_stop()
            };
            let is_done = client.load(table, &chunk, &mut written)?;
            if is_done {
                Ok(())
            } else {
                Err(Error::Stopped { rows: rows.load(Ordering::Relaxed), rows_all })
            }
        })?;
        Ok(before)
    }

    /// Builds indexes, those of different tables side by side.
    fn indexes(&self) -> Result<Vec<String>, Error> {
        self.observer.stage("indexes");
        let mut notes = Vec::new();
        let memory = index_memory_mib(self.plan);
        if let Some(mib) = memory {
            notes.push(format!("maintenance_work_mem of {mib} MB for sessions that build indexes"));
        }
        let tables = self.plan.tables.iter().filter(|table| !table.indexes.is_empty());
        work(self.plan.jobs, tables, self.open, |client, table| {
            if let Some(mib) = memory {
                client.query(&format!("SET maintenance_work_mem = '{mib}MB'"), "setting up a connection")?;
            }
            table.indexes.iter().try_for_each(|index| self.finish(&mut **client, table, index))
        })?;
        Ok(notes)
    }

    fn references(&self, client: &mut dyn Client) -> Result<(), Error> {
        let mut all =
            self.plan.tables.iter().flat_map(|table| table.references.iter().map(move |one| (table, one)));
        all.try_for_each(|(table, reference)| self.finish(client, table, reference))
    }

    /// Something that is done once, and marked with it.
    fn finish(&self, client: &mut dyn Client, table: &Table, finish: &Finish) -> Result<(), Error> {
        let doing = &format!("making {}", finish.name);
        if self.observer.wants_stop() {
            let rows = self.plan.rows();
            return Err(Error::Stopped { rows, rows_all: rows });
        }
        let mark = format!("made {}", finish.name);
        if self.plan.engine == Engine::MySql {
            if !marks::has_index(client, &table.name, &finish.name)? {
                client.query(&finish.statement, doing)?;
            }
        } else if !self.marks.has(&mark) {
            for statement in ["BEGIN", &finish.statement, &marks::mark(&mark), "COMMIT"] {
                client.query(statement, doing)?;
            }
        }
        Ok(())
    }

    /// Has the server look at its new tables, and counts their rows meanwhile.
    fn tidy(&self) -> Result<(), Error> {
        self.observer.stage("statistics, and counting");
        let tasks = self.plan.tables.iter().flat_map(|table| [(table, false), (table, true)]);
        // The largest first: the others fit beside it.
        let mut tasks: Vec<_> = tasks.collect();
        tasks.sort_by_key(|(table, _)| std::cmp::Reverse(table.rows));
        work(self.plan.jobs, tasks.into_iter(), self.open, |client, (table, is_count)| {
            if is_count {
                count(&mut **client, table)
            } else {
                analyze(&mut **client, self.plan.engine, table)
            }
        })
    }
}

/// Enough for the index of the largest table, within bounds; `None` where that is not a setting.
fn index_memory_mib(plan: &Plan) -> Option<u64> {
    const BYTES_OF_ROW: u64 = 48;
    let largest = plan.tables.iter().map(|table| table.rows).max().unwrap_or(0);
    let wanted = largest.saturating_mul(BYTES_OF_ROW) >> 20;
    // The server's own default is 64 MB: less is never better.
    (plan.engine == Engine::PostgreSql && wanted > 64).then_some(wanted.min(512))
}

fn analyze(client: &mut dyn Client, engine: Engine, table: &Table) -> Result<(), Error> {
    let sql = match engine {
        Engine::PostgreSql => format!("VACUUM ANALYZE {}", table.name),
        Engine::MySql => format!("ANALYZE TABLE {}", table.name),
        Engine::Sqlite => format!("ANALYZE {}", table.name),
    };
    client.query(&sql, &format!("looking through {}", table.name)).map(|_| ())
}

/// Whether all rows are there: their number, and, where they are numbered without repetition, the first and the last.
fn count(client: &mut dyn Client, table: &Table) -> Result<(), Error> {
    let name = &table.name;
    let (sql, expected) = match table.key {
        Some(key) => (
            format!(
                "SELECT (SELECT count(*) FROM {name}), (SELECT min({key}) FROM {name}), (SELECT max({key}) FROM {name})"
            ),
            vec![table.rows, 1, table.rows],
        ),
        None => (format!("SELECT count(*) FROM {name}"), vec![table.rows]),
    };
    let answer = client.query(&sql, &format!("counting {name}"))?;
    let found: Vec<String> = answer.into_iter().flatten().map(Option::unwrap_or_default).collect();
    let expected: Vec<String> = expected.iter().map(u64::to_string).collect();
    if found == expected {
        return Ok(());
    }
    let words = |numbers: &[String]| match numbers {
        [rows, first, last] => format!("{rows} rows from {first} to {last}"),
        rows => format!("{} rows", rows.join(" ")),
    };
    Err(Error::Wrong { table: name.clone(), found: words(&found), expected: words(&expected) })
}
