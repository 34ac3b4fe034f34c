//! Missing, foreign, newer, altered, or inaccessible files give a clear error, and are not changed.

use crate::sample;
use std::fs;
use std::path::Path;

use rusqlite::Connection;
use store::{Store, StoreError};

#[test]
fn reader_does_not_create_a_missing_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    assert!(matches!(Store::open_existing(&path), Err(StoreError::Missing { .. })));
    assert!(!path.exists());
}

#[test]
fn foreign_files_are_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    fs::write(&text, "not a database, but a long enough text to have a header ".repeat(20)).unwrap();
    let database = folder.path().join("database");
    Connection::open(&database).unwrap().execute_batch("CREATE TABLE bread (butter)").unwrap();
    for path in [text, database] {
        let before = fs::read(&path).unwrap();
        let error = Store::open(&path).unwrap_err();
        assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

fn alter(path: &Path, sql: &str) {
    drop(Store::open(path).unwrap());
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(sql).unwrap();
}

#[test]
fn newer_version_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let newest = sample::newest_version();
    alter(&path, &format!("PRAGMA user_version = {}", newest + 1));
    let error = Store::open(&path).unwrap_err();
    let is_newer = |error: &StoreError| matches!(error, StoreError::Newer { found, known, .. } if (*found, *known) == (newest + 1, newest));
    assert!(is_newer(&error), "{error}");
    assert!(error.to_string().contains("use the newer Tenbin"), "{error}");
}

#[test]
fn changed_table_definitions_are_damage() {
    let endless = "DROP INDEX part_by_second; DROP TABLE status; DROP TABLE error; DROP TABLE request; DROP TABLE part; \
                   CREATE VIEW part AS WITH RECURSIVE endless (n) AS (SELECT 1 UNION ALL SELECT n FROM endless) \
                   SELECT * FROM endless";
    for (sql, name) in
        [(endless, "view"), ("DROP TABLE error", "missing"), ("PRAGMA user_version = -1", "version")]
    {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        alter(&path, sql);
        let error = Store::open(&path).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{name}: {error}");
    }
}

#[test]
fn additional_tables_are_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    alter(&path, "CREATE VIEW mine AS SELECT id FROM run; CREATE TABLE remarks (run, remark)");
    Store::open(&path).unwrap().begin(&sample::new_run()).unwrap();
}

#[test]
fn folder_that_cannot_be_created_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Store::open(&file.join("below/s")).unwrap_err();
    assert!(matches!(error, StoreError::Folder { .. }), "{error}");
}

#[test]
fn unwritable_place_is_reported() {
    // Even root cannot create files here.
    let error = Store::open(Path::new("/proc/self/fdinfo/s")).unwrap_err();
    assert!(matches!(error, StoreError::NotWritable { .. }), "{error}");
    assert!(error.to_string().contains("--store"), "{error}");
}

#[test]
fn folder_in_place_of_the_file_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let error = Store::open(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::NotWritable { .. }), "{error}");
}

#[test]
fn removed_or_replaced_file_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (path, moved) = (folder.path().join("s"), folder.path().join("moved"));
    let store = Store::open(&path).unwrap();
    store.begin(&sample::new_run()).unwrap();
    fs::rename(&path, &moved).unwrap();
    let error = store.begin(&sample::new_run()).unwrap_err();
    assert!(matches!(error, StoreError::Removed { .. }), "{error}");
    fs::copy(&moved, &path).unwrap();
    let error = store.begin(&sample::new_run()).unwrap_err();
    assert!(matches!(error, StoreError::Removed { .. }), "another file under its name: {error}");
    fs::rename(&moved, &path).unwrap();
    store.begin(&sample::new_run()).unwrap();
}
