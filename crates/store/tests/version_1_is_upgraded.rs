//! A file of version 1 is migrated without loss when it is opened.

use crate::sample::{self, newest_version, version};
use std::path::{Path, PathBuf};
use std::thread;

use evidence::{EvidenceError, RunState};
use record::{Phase, Tally};
use rusqlite::Connection;
use store::{Store, StoreError};

const ENDED: &str = "20261121-142501-mwtw";
const CUT_SHORT: &str = "20261121-142601-se1k";

fn version_1(folder: &Path) -> PathBuf {
    let path = folder.join("s");
    Connection::open(&path).unwrap().execute_batch(include_str!("version_1.sql")).unwrap();
    path
}

#[test]
fn runs_are_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = version_1(folder.path());
    assert_eq!(version(&path), 1);
    let store = Store::open_existing(&path).unwrap();
    assert_eq!(version(&path), newest_version());

    let run = store.load(&ENDED.parse().unwrap()).unwrap();
    let mut new = sample::new_run();
    (new.title, new.system_version) = ("http://127.0.0.1:8080/".to_owned(), None);
    assert_eq!(run.new, new);
    let mut ending = sample::ending_before_distortions();
    ending.not_available = Vec::new();
    assert_eq!(run.ending, Some(ending));
    assert_eq!(run.total(0, Phase::Measured).unwrap(), by_seconds(2, 20, run.total(0, Phase::Measured)));
    assert_eq!(run.total(1, Phase::Measured).unwrap(), by_seconds(3, 300_000, run.total(1, Phase::Measured)));
    assert_eq!((run.seconds().count(), run.requests().count()), (3, 9));
    assert_eq!((run.readings().count(), run.outputs().len(), run.gates().len()), (0, 0, 0));

    let states: Vec<_> =
        store.runs(9).unwrap().into_iter().map(|run| (run.id.to_string(), run.state)).collect();
    let expected = [(CUT_SHORT, RunState::Partial), (ENDED, RunState::Ended(evidence::Verdict::Degraded))];
    assert_eq!(states, expected.map(|(id, state)| (id.to_owned(), state)));
    assert!(store.studies().unwrap().is_empty());
}

#[test]
fn migrated_file_accepts_studies() {
    let folder = tempfile::tempdir().unwrap();
    let path = version_1(folder.path());
    let store = Store::open(&path).unwrap();
    let new = sample::new_study();
    let id = store.begin_study(&new).unwrap();
    let run = sample::begin_at(&store, &id, &new.planned[0]);
    store.keep_readings(&run, 0, &sample::readings(0)).unwrap();
    store.finish(&run, &sample::failed()).unwrap();
    assert_eq!(store.load_study(&id).unwrap().runs.len(), 1);
    store.delete_study(&id).unwrap();
    assert_eq!(store.runs(9).unwrap().len(), 2);
    drop(store);
    Store::open_existing(&path).unwrap();
}

#[test]
fn concurrent_openers_migrate_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = version_1(folder.path());
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| assert_eq!(Store::open(&path).unwrap().runs(9).unwrap().len(), 2));
        }
    });
}

#[test]
fn failed_migration_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = version_1(folder.path());
    // Creates the last table of the first migration in advance, so that the migration fails.
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE gate (keeper)").unwrap();
    let schema = || -> Vec<String> {
        let connection = Connection::open(&path).unwrap();
        let mut select = connection.prepare("SELECT coalesce(sql, '') FROM sqlite_schema").unwrap();
        select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let before = schema();
    assert!(Store::open(&path).is_err());
    assert_eq!((version(&path), schema()), (1, before));
}

#[test]
fn changed_tables_of_version_1_are_damage() {
    for sql in ["ALTER TABLE part ADD COLUMN more TEXT", "DROP TABLE status", "DROP INDEX run_by_start"] {
        let folder = tempfile::tempdir().unwrap();
        let path = version_1(folder.path());
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let error = Store::open(&path).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{sql}: {error}");
        assert_eq!(version(&path), 1, "{sql}");
    }
}

/// Returns the stored tally. Version 1 did not count requests that ended within the window, so they are derived from
/// whole seconds.
fn by_seconds(second: u64, shift_ns: u64, read: Result<Tally, EvidenceError>) -> Tally {
    Tally { window: read.unwrap().window, ..sample::interval(second, Phase::Measured, shift_ns).tally }
}
