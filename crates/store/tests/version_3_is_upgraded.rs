//! A file of version 3 is migrated without loss when it is opened.

use crate::sample::{self, newest_version, version};
use std::path::{Path, PathBuf};
use std::thread;

use evidence::{EvidenceError, Procedure, StudyEnding, StudyState, Verdict, stage};
use record::{Phase, Tally};
use rusqlite::Connection;
use store::{Store, StoreError};

const ALONE: &str = "20261121-142501-dpb9";
const OF_STUDY: &str = "20261121-142601-vx50";
const STUDY: &str = "s-20261121-142501-69g3";

fn version_3(folder: &Path) -> PathBuf {
    let path = folder.join("s");
    Connection::open(&path).unwrap().execute_batch(include_str!("version_3.sql")).unwrap();
    path
}

#[test]
fn runs_and_studies_are_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = version_3(folder.path());
    assert_eq!(version(&path), 3);
    let store = Store::open_existing(&path).unwrap();
    assert_eq!(version(&path), newest_version());

    let run = store.load(&ALONE.parse().unwrap()).unwrap();
    let mut new = sample::new_sql_run();
    (new.title, new.system_version) = ("http://127.0.0.1:8080/".to_owned(), Some("puma 8.0.0".to_owned()));
    assert_eq!(run.new, new);
    assert_eq!(
        run.ending,
        Some(sample::ending_before_distortions()),
        "what was not measured then is not known now"
    );
    assert_eq!(run.total(0, Phase::Measured).unwrap(), by_seconds(2, 20, run.total(0, Phase::Measured)));
    assert_eq!(run.total(1, Phase::Measured).unwrap(), by_seconds(3, 300_000, run.total(1, Phase::Measured)));
    assert_eq!(run.total(3, Phase::Measured).unwrap(), by_seconds(3, 7, run.total(3, Phase::Measured)));
    assert_eq!((run.seconds().count(), run.requests().count()), (3, 9));
    assert_eq!((run.readings().count(), run.gates().len()), (2, 3));

    let study = store.load_study(&STUDY.parse().unwrap()).unwrap();
    let of_study: Vec<&str> = study.runs.iter().map(|run| run.id.as_str()).collect();
    let mut new = sample::new_study();
    (new.question, new.loads) = (None, Vec::new());
    assert_eq!((of_study, &study.new), (vec![OF_STUDY], &new));
    assert_eq!(study.new.compare.procedure, Procedure::Blocks);
    assert!(study.new.planned.iter().all(|place| place.stage == stage::BLOCK && place.rate_per_s.is_none()));
    let ending = StudyEnding { ended_at_unix_ms: 0, verdict: Verdict::Partial, why: None };
    assert_eq!((study.state, study.ending), (StudyState::Interrupted, Some(ending)));
}

#[test]
fn study_is_resumed_and_ended() {
    let folder = tempfile::tempdir().unwrap();
    let path = version_3(folder.path());
    let store = Store::open(&path).unwrap();
    let id = STUDY.parse().unwrap();
    store.resume_study(&id, None).unwrap();
    for place in store.missing(&id).unwrap() {
        let run = sample::begin_at(&store, &id, &place);
        store.finish(&run, &sample::ending_with_signals()).unwrap();
    }
    store
        .finish_study(&id, &StudyEnding { ended_at_unix_ms: 9, verdict: Verdict::Complete, why: None })
        .unwrap();
    let study = store.load_study(&id).unwrap();
    assert_eq!((study.state, study.runs.len()), (StudyState::Complete, 6));
    store.keep_ceiling("shape", "layout", 5.0, 0).unwrap();
    drop(store);
    assert_eq!(Store::open_existing(&path).unwrap().ceiling("shape", "layout").unwrap(), Some(5.0));
}

#[test]
fn concurrent_openers_migrate_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = version_3(folder.path());
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| assert_eq!(Store::open(&path).unwrap().runs(9).unwrap().len(), 2));
        }
    });
}

#[test]
fn changed_tables_of_version_3_are_damage() {
    for sql in [
        "ALTER TABLE place ADD COLUMN stage TEXT",
        "CREATE TABLE x (y); DROP TABLE gate",
        "DROP INDEX run_by_place",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = version_3(folder.path());
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let error = Store::open(&path).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{sql}: {error}");
        assert_eq!(version(&path), 3, "{sql}");
    }
}

/// Returns the stored tally. Version 3 did not count requests that ended within the window, so they are derived from
/// whole seconds.
fn by_seconds(second: u64, shift_ns: u64, read: Result<Tally, EvidenceError>) -> Tally {
    Tally { window: read.unwrap().window, ..sample::interval(second, Phase::Measured, shift_ns).tally }
}
