//! Files that are missing, foreign, newer, altered or out of reach: a clear word, and no change to them.

use crate::sample;
use std::fs;
use std::path::Path;

use rusqlite::Connection;
use store::{Store, StoreError};

#[test]
fn a_missing_file_is_not_made_by_a_reader() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    assert!(matches!(Store::open_existing(&path), Err(StoreError::Missing { .. })));
    assert!(!path.exists());
}

#[test]
fn files_of_other_programs_stay_as_they_are() {
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
fn a_newer_version_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    alter(&path, "PRAGMA user_version = 19");
    let error = Store::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 19, known: 18, .. }), "{error}");
    assert!(error.to_string().contains("use the newer Tenbin"), "{error}");
}

#[test]
fn tables_with_other_definitions_are_damage() {
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
fn tables_of_the_owner_beside_ours_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    alter(&path, "CREATE VIEW mine AS SELECT id FROM run; CREATE TABLE remarks (run, remark)");
    Store::open(&path).unwrap().begin(&sample::new_run()).unwrap();
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Store::open(&file.join("below/s")).unwrap_err();
    assert!(matches!(error, StoreError::Folder { .. }), "{error}");
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    // Not even root may create files there.
    let error = Store::open(Path::new("/proc/self/fdinfo/s")).unwrap_err();
    assert!(matches!(error, StoreError::NotWritable { .. }), "{error}");
    assert!(error.to_string().contains("--store"), "{error}");
}

#[test]
fn a_folder_in_place_of_the_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = Store::open(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::NotWritable { .. }), "{error}");
}

#[test]
fn a_file_that_was_removed_or_replaced_is_said_to_be_gone() {
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
