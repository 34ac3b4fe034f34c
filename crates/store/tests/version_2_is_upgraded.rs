//! A file of version 2 is migrated without loss when it is opened.

use crate::sample::{self, newest_version, version};
use std::path::{Path, PathBuf};
use std::thread;

use evidence::{EvidenceError, StepPart, Unit};
use record::{Phase, Tally};
use rusqlite::Connection;
use store::{Store, StoreError};

const ALONE: &str = "20261121-142501-7agb";
const OF_STUDY: &str = "20261121-142601-qfm0";
const STUDY: &str = "s-20261121-142501-bh3f";

fn version_2(folder: &Path) -> PathBuf {
    let path = folder.join("s");
    Connection::open(&path).unwrap().execute_batch(include_str!("version_2.sql")).unwrap();
    path
}

#[test]
fn runs_and_studies_are_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = version_2(folder.path());
    assert_eq!(version(&path), 2);
    let store = Store::open_existing(&path).unwrap();
    assert_eq!(version(&path), newest_version());

    let run = store.load(&ALONE.parse().unwrap()).unwrap();
    let mut new = sample::new_run();
    (new.title, new.system_version) = ("http://127.0.0.1:8080/".to_owned(), Some("puma 8.0.0".to_owned()));
    assert_eq!(run.new, new);
    assert_eq!((run.new.unit(), run.new.parts_of(0).count()), (Unit::Requests, 0));
    assert_eq!(run.ending, Some(sample::ending_before_distortions()));
    assert_eq!(run.total(0, Phase::Measured).unwrap(), by_seconds(2, 20, run.total(0, Phase::Measured)));
    assert_eq!(run.total(1, Phase::Measured).unwrap(), by_seconds(3, 300_000, run.total(1, Phase::Measured)));
    assert_eq!((run.seconds().count(), run.requests().count()), (3, 9));
    assert_eq!((run.readings().count(), run.gates().len()), (4, 3));

    let study = store.load_study(&STUDY.parse().unwrap()).unwrap();
    let of_study: Vec<&str> = study.runs.iter().map(|run| run.id.as_str()).collect();
    assert_eq!((of_study, study.new.planned.len()), (vec![OF_STUDY], sample::new_study().planned.len()));
    assert_eq!(
        study.runs[0].total(0, Phase::Measured).unwrap(),
        sample::interval(2, Phase::Measured, 20).tally
    );
}

#[test]
fn migrated_file_accepts_transactions() {
    let folder = tempfile::tempdir().unwrap();
    let path = version_2(folder.path());
    let store = Store::open(&path).unwrap();
    let new = sample::new_sql_run();
    let id = store.begin(&new).unwrap();
    store.keep_second(&id, 2, &[sample::interval(0, Phase::Measured, 0)]).unwrap();
    store.finish(&id, &sample::ending()).unwrap();
    let run = store.load(&id).unwrap();
    assert_eq!((&run.new, run.new.unit()), (&new, Unit::Transactions));
    assert_eq!(run.new.parts[1], StepPart { name: "COMMIT".to_owned(), of: 1 });
    drop(store);
    Store::open_existing(&path).unwrap();
}

#[test]
fn concurrent_openers_migrate_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = version_2(folder.path());
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| assert_eq!(Store::open(&path).unwrap().runs(9).unwrap().len(), 2));
        }
    });
}

#[test]
fn changed_tables_of_version_2_are_damage() {
    for sql in ["ALTER TABLE step ADD COLUMN unit TEXT", "DROP TABLE gate", "DROP INDEX run_by_place"] {
        let folder = tempfile::tempdir().unwrap();
        let path = version_2(folder.path());
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let error = Store::open(&path).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{sql}: {error}");
        assert_eq!(version(&path), 2, "{sql}");
    }
}

/// Returns the stored tally. Version 2 did not count requests that ended within the window, so they are derived from
/// whole seconds.
fn by_seconds(second: u64, shift_ns: u64, read: Result<Tally, EvidenceError>) -> Tally {
    Tally { window: read.unwrap().window, ..sample::interval(second, Phase::Measured, shift_ns).tally }
}
