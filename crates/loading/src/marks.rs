//! Progress marks, which are stored in the database itself.

use std::collections::HashSet;

use sql::Engine;

use crate::client::Client;
use crate::databases;
use crate::error::Error;
use crate::plan::Plan;

/// Table that stores the requested options and the completed items. It is dropped once all is done.
pub const MARKS: &str = "tenbin_loading";

/// Name of the mark that stores the requested options.
const ASKED: &str = "asked";

/// Completed items.
#[derive(Debug, Default)]
pub(crate) struct Marks(HashSet<String>);

impl Marks {
    /// True if an item is completed.
    pub(crate) fn has(&self, mark: &str) -> bool {
        self.0.contains(mark)
    }
}

/// Statement that marks an item as completed. Marks contain no quotes.
pub(crate) fn mark(mark: &str) -> String {
    format!("INSERT INTO {MARKS} (item, said) VALUES ('{mark}', '')")
}

/// Creates the tables, or determines the progress of an earlier call.
pub(crate) fn begin(client: &mut dyn Client, plan: &Plan) -> Result<Marks, Error> {
    if plan.fresh {
        drop_all(client, plan)?;
    }
    if table_exists(client, plan.engine, MARKS)? {
        let doing = "reading what is done";
        let rows = client.query(&format!("SELECT item, said FROM {MARKS}"), doing)?;
        let mut asked = None;
        let mut marks = Marks::default();
        for row in rows {
            match <[Option<String>; 2]>::try_from(row) {
                Ok([Some(item), said]) if item == ASKED => asked = said,
                Ok([Some(item), _]) => _ = marks.0.insert(item),
                _ => {}
            }
        }
        match asked {
            Some(asked) if asked == plan.asked() => {
                create_missing(client, plan)?;
                return Ok(marks);
            }
            Some(before) => return Err(Error::Different { before, now: plan.asked().to_owned() }),
            // The earlier call was interrupted before it created anything else.
            None => {}
        }
    }
    reject_existing_tables(client, plan)?;
    create(client, plan)?;
    Ok(Marks::default())
}

/// Removes the marks after everything is done.
pub(crate) fn end(client: &mut dyn Client) -> Result<(), Error> {
    client.query(&format!("DROP TABLE {MARKS}"), "removing the marks").map(|_| ())
}

/// Two queries: whether marks exist, with a row if so, and the options of the call that left them.
pub fn mark_queries(engine: Engine) -> [String; 2] {
    let asked = format!("SELECT said FROM {MARKS} WHERE item = '{ASKED}'");
    [(databases::of(engine).find_table)(MARKS), asked]
}

fn drop_all(client: &mut dyn Client, plan: &Plan) -> Result<(), Error> {
    let doing = "dropping tables";
    let names: Vec<&str> = plan.tables().into_iter().chain([MARKS]).collect();
    for statement in (databases::of(plan.engine).drop_tables)(&names) {
        client.query(&statement, doing)?;
    }
    Ok(())
}

fn reject_existing_tables(client: &mut dyn Client, plan: &Plan) -> Result<(), Error> {
    let mut tables = Vec::new();
    for name in plan.tables() {
        if table_exists(client, plan.engine, name)? {
            tables.push(name.to_owned());
        }
    }
    if tables.is_empty() { Ok(()) } else { Err(Error::Exists { tables }) }
}

fn table_exists(client: &mut dyn Client, engine: Engine, table: &str) -> Result<bool, Error> {
    let sql = (databases::of(engine).find_table)(table);
    Ok(!client.query(&sql, "looking for tables")?.is_empty())
}

fn create(client: &mut dyn Client, plan: &Plan) -> Result<(), Error> {
    let doing = "creating tables";
    let marks = format!(
        "CREATE TABLE IF NOT EXISTS {MARKS} (item VARCHAR(150) NOT NULL PRIMARY KEY, said VARCHAR(500) NOT NULL)"
    );
    let asked = format!("INSERT INTO {MARKS} (item, said) VALUES ('{ASKED}', '{}')", plan.asked());
    let tables = plan.tables.iter().flat_map(|table| &table.create);
    // Some databases commit after each CREATE. The options are stored first, so that all later tables can be attributed to this crate.
    let is_whole = !databases::of(plan.engine).commits_implicitly;
    if is_whole {
        client.query("BEGIN", doing)?;
    }
    for statement in [&marks, &asked].into_iter().chain(tables) {
        client.query(statement, doing)?;
    }
    if is_whole {
        client.query("COMMIT", doing)?;
    }
    Ok(())
}

/// Creates tables that are missing because an earlier call was interrupted between two of them.
fn create_missing(client: &mut dyn Client, plan: &Plan) -> Result<(), Error> {
    if !databases::of(plan.engine).commits_implicitly {
        return Ok(());
    }
    for table in &plan.tables {
        if !table_exists(client, plan.engine, &table.name)? {
            for statement in &table.create {
                client.query(statement, "creating tables")?;
            }
        }
    }
    Ok(())
}

/// True if an index exists, for databases that cannot create it together with its mark.
pub(crate) fn has_index(client: &mut dyn Client, table: &str, index: &str) -> Result<bool, Error> {
    let sql = format!(
        "SELECT 1 FROM information_schema.statistics WHERE table_schema = database() AND table_name = '{table}' \
         AND index_name = '{index}' LIMIT 1"
    );
    Ok(!client.query(&sql, "looking for indexes")?.is_empty())
}
