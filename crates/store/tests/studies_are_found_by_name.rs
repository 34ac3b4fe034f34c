//! Names of studies, prefixes of names, and the list of studies.

use crate::sample;
use evidence::{NewStudy, StudyEnding, StudyId, StudyState, Verdict};
use store::{Store, StoreError};

fn begin_at(store: &Store, seconds_later: i64) -> StudyId {
    let mut new = sample::new_study();
    new.started_at_unix_ms += seconds_later * 1_000;
    store.begin_study(&new).unwrap()
}

#[test]
fn unique_prefix_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("s")).unwrap();
    assert!(matches!(store.find_study("last"), Err(StoreError::NoStudies { .. })));
    // The last study is the one that was stored last, regardless of the clock.
    let later_by_its_clock = begin_at(&store, 60);
    let first = begin_at(&store, 0);
    let second = begin_at(&store, 1);
    let run = store.begin(&sample::new_run()).unwrap();

    for text in ["last", "s-last", " S-LAST "] {
        assert_eq!(store.find_study(text).unwrap(), second);
    }
    assert_eq!(store.find_study(later_by_its_clock.as_str()).unwrap(), later_by_its_clock);
    assert_eq!(store.find_study(first.as_str()).unwrap(), first);
    assert_eq!(store.find_study("s-20261121-142502").unwrap(), second);
    match store.find_study("s-20261121-1425").unwrap_err() {
        StoreError::Ambiguous { candidates, more, .. } => {
            assert_eq!((candidates, more), ([&second, &first].map(StudyId::to_string).to_vec(), false));
        }
        other => panic!("{other}"),
    }
    for text in ["s-2027", "%", "2026", run.as_str(), "'"] {
        assert!(matches!(store.find_study(text), Err(StoreError::UnknownStudy { .. })), "{text}");
    }
    assert!(matches!(store.find(first.as_str()), Err(StoreError::UnknownRun { .. })));
    assert_eq!(store.find("last").unwrap(), run);
}

#[test]
fn list_is_newest_first_with_the_progress_of_each_study() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("s")).unwrap();
    let older = begin_at(&store, 0);
    let newer = begin_at(&store, 60);
    let NewStudy { title, question, planned, .. } = sample::new_study();
    for place in &planned {
        // Repeats each place, because a repeated place counts once.
        for _ in 0..2 {
            let run = sample::begin_at(&store, &older, place);
            store.finish(&run, &sample::ending()).unwrap();
        }
    }
    let run = sample::begin_at(&store, &newer, &planned[4]);
    store
        .finish_study(&older, &StudyEnding { ended_at_unix_ms: 0, verdict: Verdict::Complete, why: None })
        .unwrap();

    let studies = store.studies().unwrap();
    assert_eq!(studies.iter().map(|study| &study.id).collect::<Vec<_>>(), [&newer, &older]);
    let listed = |place: usize| {
        let study = &studies[place];
        (study.planned, study.done, study.state, study.verdict)
    };
    assert_eq!(listed(0), (6, 0, StudyState::Running, None));
    assert_eq!(listed(1), (6, 6, StudyState::Complete, Some(Verdict::Complete)));
    assert_eq!((&studies[1].title, &studies[1].question), (&title, &question));

    let of_run = store.runs(99).unwrap().into_iter().find(|listed| listed.id == run).unwrap();
    assert_eq!(of_run.place, Some((newer, planned[4].clone())));
}
