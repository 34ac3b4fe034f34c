//! Several stores write to one file at once, from its creation on.

use crate::sample;
use std::collections::BTreeSet;
use std::thread;

use evidence::{RunId, StudyEnding, StudyId, StudyState, Verdict};
use record::Phase;
use store::Store;

#[test]
fn concurrent_writers_keep_their_whole_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let write = || -> RunId {
        let store = Store::open(&path).unwrap();
        let id = store.begin(&sample::new_run()).unwrap();
        for second in 0..30 {
            store.keep_second(&id, 0, &[sample::interval(second, Phase::Measured, second)]).unwrap();
        }
        store.finish(&id, &sample::ending()).unwrap();
        id
    };
    let ids: Vec<RunId> = thread::scope(|scope| {
        let writers: Vec<_> = (0..6).map(|_| scope.spawn(write)).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 6);
    let store = Store::open_existing(&path).unwrap();
    for id in &ids {
        let run = store.load(id).unwrap();
        assert_eq!(run.seconds().count(), 30);
        assert_eq!(run.total(0, Phase::Measured).unwrap().counts.sent, 30 * 50);
    }
}

#[test]
fn concurrent_studies_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let new = sample::new_study();
    let write = || -> StudyId {
        let store = Store::open(&path).unwrap();
        let id = store.begin_study(&new).unwrap();
        for place in &new.planned {
            let run = sample::begin_at(&store, &id, place);
            for second in 0..10 {
                store.keep_readings(&run, second, &sample::readings(second)).unwrap();
            }
            store.finish(&run, &sample::ending()).unwrap();
        }
        store
            .finish_study(&id, &StudyEnding { ended_at_unix_ms: 0, verdict: Verdict::Complete, why: None })
            .unwrap();
        id
    };
    let ids: Vec<StudyId> = thread::scope(|scope| {
        let writers: Vec<_> = (0..4).map(|_| scope.spawn(write)).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 4);
    let store = Store::open_existing(&path).unwrap();
    for id in &ids {
        let study = store.load_study(id).unwrap();
        assert_eq!((study.runs.len(), study.state), (6, StudyState::Complete));
        for run in &study.runs {
            assert_eq!(run.readings().count(), 10 * sample::readings(0).len());
            assert_eq!(run.new.place.as_ref().map(|(study, _)| study), Some(id));
        }
    }
}

#[test]
fn reader_sees_a_run_grow() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let writer = Store::open(&path).unwrap();
    let reader = Store::open_existing(&path).unwrap();
    let id = writer.begin(&sample::new_run()).unwrap();
    for second in 0..3 {
        assert_eq!(reader.load(&id).unwrap().seconds().count() as u64, second);
        writer.keep_second(&id, 0, &[sample::interval(second, Phase::Measured, 0)]).unwrap();
    }
}
