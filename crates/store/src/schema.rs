//! Schema: creates and migrates the tables, and recognizes files that are stores.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// SQLite application ID, "tenb", by which `file` and other programs recognize the format.
const APPLICATION_ID: i64 = 0x7465_6e62;

/// Migrations from an empty file to version 1, from 1 to 2, and so on. A released migration never changes.
const MIGRATIONS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
    include_str!("schema/6.sql"),
    include_str!("schema/7.sql"),
    include_str!("schema/8.sql"),
    include_str!("schema/9.sql"),
    include_str!("schema/10.sql"),
    include_str!("schema/11.sql"),
    include_str!("schema/12.sql"),
    include_str!("schema/13.sql"),
    include_str!("schema/14.sql"),
    include_str!("schema/15.sql"),
    include_str!("schema/16.sql"),
    include_str!("schema/17.sql"),
    include_str!("schema/18.sql"),
    include_str!("schema/19.sql"),
    include_str!("schema/20.sql"),
    include_str!("schema/21.sql"),
    include_str!("schema/22.sql"),
];

/// Version that this program writes.
pub(crate) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Kind of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// A store of the current version, possibly after a migration, or a new one.
    Ours,
    /// A file of another program.
    Foreign,
    /// A store of an earlier version that is read-only.
    Older,
    /// A store of a later version.
    Newer(i64),
    /// A file with the header of a store, but with other tables.
    Altered,
}

/// Creates the tables in an empty file, or migrates a store of a known version to the current one. Leaves any other file alone.
pub(crate) fn create_or_migrate(connection: &Connection) -> rusqlite::Result<FileKind> {
    // Reads all header fields in one snapshot, because another process may be creating the tables.
    let snapshot = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    let kind = recognize(&snapshot)?;
    if kind != FileKind::Ours || version(&snapshot)? == VERSION {
        return Ok(kind);
    }
    drop(snapshot);
    if connection.is_readonly("main")? {
        return Ok(FileKind::Older);
    }
    // Another process may have been faster, so this checks again under the lock.
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let kind = recognize(&transaction)?;
    if kind == FileKind::Ours {
        for migration in &MIGRATIONS[version(&transaction)? as usize..] {
            transaction.execute_batch(migration)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
        transaction.commit()?;
    }
    Ok(kind)
}

fn recognize(connection: &Connection) -> rusqlite::Result<FileKind> {
    let id: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version = version(connection)?;
    let objects: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (id, version) {
        (0, 0) if objects == 0 => FileKind::Ours,
        (APPLICATION_ID, 1..=VERSION) if has_expected_tables(connection, version)? => FileKind::Ours,
        (APPLICATION_ID, newer) if newer > VERSION => FileKind::Newer(newer),
        (APPLICATION_ID, _) => FileKind::Altered,
        _ => FileKind::Foreign,
    })
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Returns whether every table and index of a version exists exactly as this program creates it. Otherwise, a file
/// could replace one by a view or a virtual table, and make a query run forever.
fn has_expected_tables(connection: &Connection, version: i64) -> rusqlite::Result<bool> {
    let model = Connection::open_in_memory()?;
    MIGRATIONS[..version as usize].iter().try_for_each(|migration| model.execute_batch(migration))?;
    let mut expected = model.prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL")?;
    let mut found = connection
        .prepare("SELECT count(*) FROM sqlite_schema WHERE type = ?1 AND name = ?2 AND sql = ?3")?;
    let mut rows = expected.query([])?;
    while let Some(row) = rows.next()? {
        let (kind, name, sql): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        if found.query_row((kind, name, sql), |row| row.get::<_, i64>(0))? != 1 {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn released_migrations_never_change() {
        // Even a comment is part of a table's definition, and a file with another definition is not a store.
        let known = [
            0x513b_c6cd,
            0xd555_d3d7,
            0xac10_e74a,
            0x6731_53b9,
            0xb29a_b999,
            0x6aa2_9c80,
            0x8fe7_18d3,
            0x5695_603d,
            0x35e3_12e5,
            0x105a_17f0,
            0xf6b3_41ba,
            0x79c1_789a,
            0x7c75_5bac,
            0x942f_0d5c,
            0x74b6_aa09,
            0x6ff3_41a3,
            0x63ef_1d00,
            0x36e0_9046,
            0xd31f_05ee,
            0xbaa6_4ec0,
            0xf2cb_dcc0,
            0x3083_4b15,
        ];
        let found: Vec<u32> = MIGRATIONS.iter().map(|step| crc32fast::hash(step.as_bytes())).collect();
        assert_eq!(found, known);
    }
}
