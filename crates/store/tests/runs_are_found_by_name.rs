//! Names of runs, prefixes of names, and the list of runs.

use crate::sample;
use evidence::{Level, RunId, RunState, Verdict};
use record::Phase;
use store::{Store, StoreError};

fn begin_at(store: &Store, seconds_later: i64) -> RunId {
    let mut new = sample::new_run();
    new.started_at_unix_ms += seconds_later * 1_000;
    store.begin(&new).unwrap()
}

#[test]
fn unique_prefix_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("s")).unwrap();
    assert!(matches!(store.find("last"), Err(StoreError::Empty { .. })));
    // The clock was ahead at first.
    let early = begin_at(&store, 60);
    let first = begin_at(&store, 0);
    let second = begin_at(&store, 1);

    assert_eq!(store.find("last").unwrap(), second);
    assert_eq!(store.runs(1).unwrap()[0].id, second);
    assert_eq!(store.find("20261121-1426").unwrap(), early);
    assert_eq!(store.find(first.as_str()).unwrap(), first);
    assert_eq!(store.find(&format!(" {} ", second.as_str().to_uppercase())).unwrap(), second);
    assert_eq!(store.find("20261121-142502").unwrap(), second);
    match store.find("20261121-1425").unwrap_err() {
        StoreError::Ambiguous { candidates, more, .. } => {
            let expected = [&second, &first].map(RunId::to_string);
            assert_eq!((candidates, more), (expected.to_vec(), false));
        }
        other => panic!("{other}"),
    }
    for text in ["2027", "%", "20261121-14250_", "'", "first"] {
        assert!(matches!(store.find(text), Err(StoreError::UnknownRun { .. })), "{text}");
    }
}

#[test]
fn long_list_of_candidates_is_truncated() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("s")).unwrap();
    let ids: std::collections::BTreeSet<_> = (0..40).map(|_| begin_at(&store, 0)).collect();
    assert_eq!(ids.len(), 40, "names of one second differ");
    let error = store.find("2026").unwrap_err();
    assert!(error.to_string().ends_with(", and others\n  help: write more of the name"), "{error}");
    assert!(matches!(error, StoreError::Ambiguous { candidates, more: true, .. } if candidates.len() == 8));
}

#[test]
fn list_is_newest_first_with_the_state_of_each_run() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("s")).unwrap();
    let older = begin_at(&store, 0);
    let newer = begin_at(&store, 60);
    store.keep_second(&older, 0, &[sample::interval(0, Phase::WarmUp, 0)]).unwrap();
    store.keep_second(&older, 0, &[sample::interval(2, Phase::Measured, 0)]).unwrap();
    store.keep_second(&older, 1, &[sample::interval(2, Phase::Measured, 0)]).unwrap();
    store.finish(&older, &sample::ending()).unwrap();

    let runs = store.runs(10).unwrap();
    assert_eq!(runs.iter().map(|run| run.id.clone()).collect::<Vec<_>>(), [newer, older]);
    assert_eq!((runs[0].state, runs[0].validity, runs[0].sent), (RunState::Running, None, 0));
    assert_eq!((runs[1].state, runs[1].validity), (RunState::Ended(Verdict::Degraded), Some(Level::Suspect)));
    assert_eq!((runs[1].sent, runs[1].ok), (100, 20));
    assert_eq!(store.runs(1).unwrap().len(), 1);
}
