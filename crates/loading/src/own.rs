//! Runs the statements of a plan, and fills its tables.
//!
//! Tables are filled after the last statement that creates one of them, so that later statements, such as indexes, find the rows.
//! An error leaves what was done before it; nothing is resumed.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use sql::{Engine, FileStatement};

use crate::client::{Batch, Client, Database};
use crate::databases;
use crate::error::Error;
use crate::queue::work;
use crate::rows::{Content, OwnRows};
use crate::run::{Loaded, Observer};
use crate::statistics::Statistics;

/// Number of rows of a transaction, on databases that cannot write a whole table frozen.
const CHUNK_ROWS: u64 = 100_000;
/// Length of a statement in an error, in characters.
const SHOWN_CHARS: usize = 60;

/// Statements and tables of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnData {
    /// Texts of SQL, in order.
    pub sql: Vec<SqlText>,
    /// Tables that are filled, in order.
    pub tables: Vec<OwnTable>,
    /// Maximum number of connections that fill tables, at least 1.
    pub jobs: u32,
    /// True to drop existing tables with the names that `sql` creates.
    pub fresh: bool,
}

/// A text of SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlText {
    /// Source file. `None` for a text of the plan.
    pub file: Option<String>,
    /// Text with one or several statements.
    pub text: String,
}

/// A table that is filled.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnTable {
    /// Name, as SQL writes it.
    pub name: String,
    /// Names of the columns, as SQL writes them.
    pub columns: Vec<String>,
    /// Rows of the table.
    pub rows: Arc<OwnRows>,
}

/// A statement, and its place for errors.
struct PlacedStatement<'a> {
    text: &'a str,
    place: String,
}

/// Runs the statements, and fills the tables.
///
/// # Errors
///
/// If tables exist that the statements create, the connection breaks, or the server rejects a statement or a row.
pub fn load_own_data(data: &OwnData, database: &Database, observer: &impl Observer) -> Result<Loaded, Error> {
    let engine = database.engine;
    let statements = planned(&data.sql, engine)?;
    let mut control = database.open(0)?;
    let control = &mut *control;
    let created: Vec<&str> =
        statements.iter().filter_map(|statement| sql::created_table(statement.text)).collect();
    drop_or_reject_existing(control, engine, &created, data.fresh)?;
    let is_filled = |name: &str| data.tables.iter().any(|table| is_same(&table.name, name));
    let last = statements.iter().rposition(|one| sql::created_table(one.text).is_some_and(is_filled));
    let filled_after = last.map_or(statements.len(), |last| last + 1);
    run_all(control, &statements[..filled_after], observer)?;
    fill_all(data, database, control, &created, observer)?;
    run_all(control, &statements[filled_after..], observer)?;
    observer.stage("statistics");
    let statistics = Statistics::new(engine);
    for table in &data.tables {
        statistics.update(control, &table.name)?;
    }
    let tables = data.tables.iter().map(|table| (table.name.clone(), table.rows.count())).collect();
    Ok(Loaded { tables, rows_before: 0, notes: statistics.note().into_iter().collect() })
}

/// Runs statements on one connection.
///
/// # Errors
///
/// If the connection breaks, or the server rejects a statement.
pub fn run_sql(texts: &[SqlText], database: &Database) -> Result<(), Error> {
    let statements = planned(texts, database.engine)?;
    let mut client = database.open(0)?;
    run_all(&mut *client, &statements, &())
}

fn planned(texts: &[SqlText], engine: Engine) -> Result<Vec<PlacedStatement<'_>>, Error> {
    let mut all = Vec::new();
    for text in texts {
        let place = |line: usize| text.file.as_ref().map(|file| format!("{file}, line {line}"));
        let found = sql::statements(&text.text, engine).map_err(|bad| Error::Statements {
            what: place(bad.line).map_or(bad.what.clone(), |place| format!("{place}: {}", bad.what)),
            help: bad.help,
        })?;
        let planned = |FileStatement { text, line }| {
            let place = place(line).unwrap_or_else(|| shortened(text));
            PlacedStatement { text, place }
        };
        all.extend(found.into_iter().map(planned));
    }
    Ok(all)
}

fn shortened(statement: &str) -> String {
    let words = statement.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

/// Whether two names refer to one table, regardless of case, quotes, and schema.
fn is_same(one: &str, other: &str) -> bool {
    fn plain(name: &str) -> impl Iterator<Item = char> + '_ {
        let last = name.rsplit('.').next().unwrap_or(name);
        last.chars().filter(|letter| !matches!(letter, '"' | '`' | '[' | ']')).flat_map(char::to_lowercase)
    }
    plain(one).eq(plain(other))
}

/// Drops the tables that the statements create, or rejects them.
fn drop_or_reject_existing(
    client: &mut dyn Client,
    engine: Engine,
    names: &[&str],
    is_fresh: bool,
) -> Result<(), Error> {
    let kind = databases::of(engine);
    if is_fresh && !names.is_empty() {
        for statement in (kind.drop_tables)(names) {
            client.query(&statement, "dropping tables")?;
        }
        return Ok(());
    }
    let mut tables = Vec::new();
    for name in names {
        let searched = name.replace('\'', "''");
        // PostgreSQL parses the name as SQL does; the others compare it with the name in their catalog.
        let searched = if kind.freezes_rows { searched } else { searched.replace(['"', '`'], "") };
        if !client.query(&(kind.find_table)(&searched), "looking for tables")?.is_empty() {
            tables.push((*name).to_owned());
        }
    }
    if tables.is_empty() { Ok(()) } else { Err(Error::OwnExists { tables }) }
}

fn run_all(
    client: &mut dyn Client,
    statements: &[PlacedStatement<'_>],
    observer: &impl Observer,
) -> Result<(), Error> {
    for statement in statements {
        if observer.should_stop() {
            return Err(Error::Stopped { rows: 0, rows_all: 0 });
        }
        observer.stage(&statement.place);
        client.query(statement.text, &statement.place)?;
    }
    Ok(())
}

/// Fills the tables, one after another because of foreign keys.
fn fill_all(
    data: &OwnData,
    database: &Database,
    control: &mut dyn Client,
    created: &[&str],
    observer: &impl Observer,
) -> Result<(), Error> {
    let kind = databases::of(database.engine);
    let rows_all = data.tables.iter().map(|table| table.rows.count()).sum();
    let fill =
        TableFiller { data, database, observer, rows_all, rows: AtomicU64::new(0), idle: Mutex::default() };
    for table in &data.tables {
        let is_own = created.iter().any(|name| is_same(name, &table.name));
        let any = format!("SELECT 1 FROM {} LIMIT 1", table.name);
        if !is_own && !control.query(&any, &format!("looking into {}", table.name))?.is_empty() {
            return Err(Error::HasRows { table: table.name.clone() });
        }
        let is_whole = match kind.may_truncate {
            Some(query) => {
                !control.query(&query(&table.name), &format!("looking at {}", table.name))?.is_empty()
            }
            None => false,
        };
        observer.stage(&format!("rows of {}", table.name));
        fill.table(table, is_whole)?;
    }
    Ok(())
}

struct TableFiller<'a, Watching> {
    data: &'a OwnData,
    database: &'a Database,
    observer: &'a Watching,
    rows_all: u64,
    rows: AtomicU64,
    idle: Mutex<Vec<Box<dyn Client>>>,
}

impl<Watching: Observer> TableFiller<'_, Watching> {
    fn table(&self, table: &OwnTable, is_whole: bool) -> Result<(), Error> {
        let (content, count) = (Content::Own(Arc::clone(&table.rows)), table.rows.count());
        let target = match table.columns.as_slice() {
            [] => table.name.clone(),
            columns => format!("{} ({})", table.name, columns.join(", ")),
        };
        let size = if is_whole { count.max(1) } else { CHUNK_ROWS };
        let batches = (0..count.div_ceil(size)).map(|chunk| Batch {
            table: &table.name,
            target: &target,
            columns: table.columns.len() as u16,
            content: &content,
            rows: chunk * size..count.min((chunk + 1) * size),
            is_whole,
            mark: None,
        });
        let jobs = databases::of(self.database.engine).writers_max.unwrap_or(self.data.jobs);
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let numbers = AtomicU32::new(0);
        let open = || {
            let client = idle().pop();
            client.map_or_else(|| self.database.open(numbers.fetch_add(1, Ordering::Relaxed)), Ok)
        };
        work(
            jobs.min(self.data.jobs).max(1),
            batches,
            open,
            |client| idle().push(client),
            |client, batch| self.batch(&mut **client, &batch),
        )
    }

    fn batch(&self, client: &mut dyn Client, batch: &Batch<'_>) -> Result<(), Error> {
        let mut written = |count| {
            let now = self.rows.fetch_add(count, Ordering::Relaxed) + count;
            self.observer.rows(now, self.rows_all);
            !self.observer.should_stop()
        };
        match client.load(batch, &mut written)? {
            true => Ok(()),
            false => Err(Error::Stopped { rows: self.rows.load(Ordering::Relaxed), rows_all: self.rows_all }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_table_may_differ_in_case_quotes_and_schema() {
        assert!(is_same("Items", "shop.\"items\"") && is_same("`t`", "t") && !is_same("t", "tt"));
    }

    #[test]
    fn statements_of_files_have_their_lines_and_others_their_beginning() {
        let text = |file: Option<&str>, text: &str| SqlText { file: file.map(Into::into), text: text.into() };
        let texts = [text(Some("s.sql"), "\nSELECT 1;"), text(None, "SELECT  2")];
        let places: Vec<String> =
            planned(&texts, Engine::Sqlite).unwrap().into_iter().map(|one| one.place).collect();
        assert_eq!(places, ["s.sql, line 2", "SELECT 2"]);
        let wrong = planned(&[text(Some("s.sql"), "\\d")], Engine::PostgreSql).err().unwrap().to_string();
        assert!(wrong.starts_with("s.sql, line 1: \\d is a command of psql"), "{wrong}");
    }
}
