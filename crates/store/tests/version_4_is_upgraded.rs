//! A file of version 4 is migrated without loss when it is opened.

use crate::sample::{self, newest_version, version};
use std::path::{Path, PathBuf};

use evidence::Procedure;
use record::{Phase, Tally};
use rusqlite::Connection;
use store::{Store, StoreError};

const ALONE: &str = "20261121-142501-dpb9";
const STUDY: &str = "s-20261121-142501-69g3";

fn version_4(folder: &Path) -> PathBuf {
    let path = folder.join("s");
    Connection::open(&path).unwrap().execute_batch(include_str!("version_4.sql")).unwrap();
    path
}

fn number(path: &Path, query: &str) -> i64 {
    Connection::open(path).unwrap().query_row(query, [], |row| row.get(0)).unwrap()
}

#[test]
fn old_runs_load_without_checksums_and_new_ones_have_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = version_4(folder.path());
    assert_eq!(number(&path, "PRAGMA user_version"), 4);
    let store = Store::open_existing(&path).unwrap();
    assert_eq!(version(&path), newest_version());
    let run = store.load(&ALONE.parse().unwrap()).unwrap();
    // Version 4 did not count requests that ended within the window, so they are derived from whole seconds.
    let total = run.total(0, Phase::Measured).unwrap();
    let expected = sample::interval(2, Phase::Measured, 20).tally;
    assert_eq!(total, Tally { window: total.window, ..expected });
    assert_eq!((run.seconds().count(), run.readings().count()), (3, 2));
    let study = store.load_study(&STUDY.parse().unwrap()).unwrap();
    assert_eq!(
        study.new.compare.procedure,
        Procedure::Duel { pilot_blocks: 3, looks_early: false, slices: None }
    );
    assert_eq!(store.ceiling("shape", "layout").unwrap(), Some(5.0));

    let checked = "SELECT (SELECT count(checksum) FROM part) + (SELECT count(checksum) FROM readings)";
    assert_eq!(number(&path, checked), 0);
    let id = store.begin(&sample::new_run()).unwrap();
    store.keep_second(&id, 0, &[sample::interval(0, Phase::Measured, 5)]).unwrap();
    store.keep_readings(&id, 0, &sample::readings(0)).unwrap();
    assert_eq!(number(&path, checked), 2);
    store.load(&id).unwrap();
}

#[test]
fn changed_tables_of_version_4_are_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = version_4(folder.path());
    Connection::open(&path).unwrap().execute_batch("ALTER TABLE part ADD COLUMN checksum INTEGER").unwrap();
    let error = Store::open_existing(&path).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}
