//! Verifies that all rows are there.

use crate::client::Client;
use crate::error::Error;
use crate::tables::Table;

/// Counts the rows by reading them. If they have a unique number, also checks the first and the last.
pub(crate) fn by_reading(client: &mut dyn Client, table: &Table) -> Result<(), Error> {
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
    compare(client, table, &sql, &expected)
}

/// Reads the row count that PostgreSQL stored when it built the primary key, in the transaction that did. It read and counted all
/// rows for it, and found no duplicate number. So with numbers from 1 to the expected count, no row is missing. The count is stored
/// in four bytes with seven digits. Precision beyond that comes from the COPY commands, whose rows were counted when they were
/// received.
pub(crate) fn by_key(client: &mut dyn Client, table: &Table, key: &str) -> Result<(), Error> {
    let name = &table.name;
    let sql = format!(
        "SELECT reltuples::bigint, (SELECT min({key}) FROM {name}), (SELECT max({key}) FROM {name}) \
         FROM pg_class WHERE oid = '{name}'::regclass"
    );
    compare(client, table, &sql, &[table.rows as f32 as u64, 1, table.rows])
}

fn compare(client: &mut dyn Client, table: &Table, sql: &str, expected: &[u64]) -> Result<(), Error> {
    let answer = client.query(sql, &format!("counting {}", table.name))?;
    let found: Vec<String> = answer.into_iter().flatten().map(Option::unwrap_or_default).collect();
    let expected: Vec<String> = expected.iter().map(u64::to_string).collect();
    if found == expected {
        return Ok(());
    }
    let words = |numbers: &[String]| match numbers {
        [rows, first, last] => format!("{rows} rows from {first} to {last}"),
        rows => format!("{} rows", rows.join(" ")),
    };
    Err(Error::Wrong { table: table.name.clone(), found: words(&found), expected: words(&expected) })
}
