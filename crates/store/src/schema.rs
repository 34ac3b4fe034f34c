//! The tables: how they are made, and how a file is recognised as ours.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// "tenb", so that `file` and other programs can tell the format.
const APPLICATION_ID: i64 = 0x7465_6e62;

/// What takes an empty file to version 1, 1 to 2, and so on. A step that was released never changes.
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
];

/// The version that this program writes.
pub(crate) const VERSION: i64 = MIGRATIONS.len() as i64;

/// What a file turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// Empty, or of a known version: now of ours.
    Ours,
    /// Another program's.
    Foreign,
    /// Of an earlier version, and it may not be written.
    Older,
    /// Ours, but of a later version.
    Newer(i64),
    /// Ours by its header, with other tables.
    Altered,
}

/// Brings a file to the current version, unless it is not ours to change.
pub(crate) fn settle(connection: &Connection) -> rusqlite::Result<FileKind> {
    // All header fields of one instant: another process may be making the tables right now.
    let snapshot = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    let kind = recognise(&snapshot)?;
    if kind != FileKind::Ours || version(&snapshot)? == VERSION {
        return Ok(kind);
    }
    drop(snapshot);
    if connection.is_readonly("main")? {
        return Ok(FileKind::Older);
    }
    // Another process may have been faster: look again under the lock.
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let kind = recognise(&transaction)?;
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

fn recognise(connection: &Connection) -> rusqlite::Result<FileKind> {
    let id: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version = version(connection)?;
    let objects: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (id, version) {
        (0, 0) if objects == 0 => FileKind::Ours,
        (APPLICATION_ID, 1..=VERSION) if has_our_tables(connection, version)? => FileKind::Ours,
        (APPLICATION_ID, newer) if newer > VERSION => FileKind::Newer(newer),
        (APPLICATION_ID, _) => FileKind::Altered,
        _ => FileKind::Foreign,
    })
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Whether every table and index of a version is there exactly as this program makes it. Otherwise a file could put a view or a
/// virtual table in its place, and let a query run for ever.
fn has_our_tables(connection: &Connection, version: i64) -> rusqlite::Result<bool> {
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
    fn no_step_changes_once_stores_were_made_with_it() {
        // Even a comment is part of the text of a table, and a file whose tables have another text is not ours.
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
            0xf614_4437,
        ];
        let found: Vec<u32> = MIGRATIONS.iter().map(|step| crc32fast::hash(step.as_bytes())).collect();
        assert_eq!(found, known);
    }
}
