//! A study, its places, and the data of its runs survive a round trip.

use crate::sample;
use evidence::{EvidenceError, NewRun, Output, Reading, RunId, StudyEnding, StudyState, Verdict};
use record::{Phase, Tally};
use store::{Store, StoreError};

const END: StudyEnding = StudyEnding {
    ended_at_unix_ms: sample::STARTED_AT_UNIX_MS + 60_000,
    verdict: Verdict::Degraded,
    why: None,
};

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("s")).unwrap();
    (folder, store)
}

#[test]
fn whole_study_survives_a_round_trip() {
    let (_folder, store) = store();
    let new = sample::new_study();
    let id = store.begin_study(&new).unwrap();
    // The order differs from the planned one.
    let mut runs: Vec<(u32, RunId)> = Vec::new();
    for place in new.planned.iter().rev() {
        let run = sample::begin_at(&store, &id, place);
        let ending = if place.position == 2 { sample::failed() } else { sample::ending() };
        store.finish(&run, &ending).unwrap();
        runs.push((place.position, run));
    }
    store.finish_study(&id, &END).unwrap();
    runs.sort();

    let study = store.load_study(&id).unwrap();
    assert_eq!(
        (&study.id, &study.new, study.ending.clone(), study.state),
        (&id, &new, Some(END), StudyState::Complete)
    );
    assert_eq!(study.superseded, []);
    assert_eq!(study.missing().count(), 0);
    for ((position, id), run) in runs.iter().zip(&study.runs) {
        assert_eq!(&run.id, id);
        assert_eq!(study.run(*position).map(|run| &run.id), Some(id));
        assert_eq!(run.new.place, Some((study.id.clone(), new.planned[*position as usize].clone())));
    }
    assert_eq!(study.runs.len(), 6);
    assert_eq!(study.runs[2].ending, Some(sample::failed()));
    assert!(study.run(6).is_none());
}

#[test]
fn runs_of_a_study_have_equal_totals_when_loaded_alone() {
    let (_folder, store) = store();
    let new = sample::new_study();
    let id = store.begin_study(&new).unwrap();
    let run = sample::begin_at(&store, &id, &new.planned[0]);
    for second in 0..5 {
        store.keep_second(&run, 0, &[sample::interval(second, Phase::WarmUp, second)]).unwrap();
        store.keep_second(&run, 1, &[sample::interval(second, Phase::Measured, second * 900_000)]).unwrap();
        store.keep_readings(&run, second, &sample::readings(second)).unwrap();
    }
    store.keep_gates(&run, &sample::gates()).unwrap();
    store.finish(&run, &sample::ending()).unwrap();

    let study = store.load_study(&id).unwrap();
    let (of_study, alone) = (&study.runs[0], store.load(&run).unwrap());
    for step in [0, 1] {
        for phase in Phase::ALL {
            assert_eq!(of_study.total(step, phase).unwrap(), alone.total(step, phase).unwrap());
        }
    }
    assert_ne!(of_study.total(1, Phase::Measured).unwrap(), Tally::default());
    assert_eq!((of_study.new.clone(), of_study.ending.clone()), (alone.new.clone(), alone.ending.clone()));
    assert_eq!(of_study.readings().collect::<Vec<_>>(), alone.readings().collect::<Vec<_>>());
    assert_eq!(of_study.gates(), alone.gates());
    // The seconds of the run are not loaded, which must not look as if there were none.
    let seconds: Vec<_> = of_study.seconds().collect();
    assert!(matches!(seconds[..], [Err(EvidenceError::SummedUp { .. })]));
    assert_eq!(alone.seconds().count(), 11);
}

#[test]
fn monitored_data_survives_a_round_trip() {
    let (_folder, store) = store();
    let run = store.begin(&sample::new_run()).unwrap();
    let more = [Reading { label: "core7".to_owned(), ..sample::readings(0)[0].clone() }];
    store.keep_readings(&run, 7, &sample::readings(7)).unwrap();
    store.keep_readings(&run, 3, &sample::readings(3)).unwrap();
    store.keep_readings(&run, 3, &more).unwrap();
    store.keep_readings(&run, 4, &[]).unwrap();
    let text = b"\x1b[2J\xff\0 listening";
    store.keep_output(&run, "app", text, 12).unwrap();
    store.keep_output(&run, "nginx", b"", 0).unwrap();
    store.keep_gates(&run, &sample::gates()[..1]).unwrap();
    store.keep_gates(&run, &sample::gates()).unwrap();

    let run = store.load(&run).unwrap();
    let expected = [(3, sample::readings(3)), (3, more.to_vec()), (7, sample::readings(7))];
    let expected =
        expected.into_iter().flat_map(|(second, all)| all.into_iter().map(move |one| (second, one)));
    let found = run.readings().map(|reading| {
        let (subject, metric) = (reading.subject.to_owned(), reading.metric.to_owned());
        (reading.second, Reading { subject, metric, label: reading.label.to_owned(), value: reading.value })
    });
    assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    let output = |process: &str, text: &[u8], dropped_bytes| Output {
        process: process.to_owned(),
        text: text.to_vec(),
        dropped_bytes,
    };
    assert_eq!(run.outputs(), [output("app", text, 12), output("nginx", b"", 0)]);
    assert_eq!(run.gates(), sample::gates());
}

#[test]
fn values_that_no_reader_could_use_are_rejected_completely() {
    let (_folder, store) = store();
    let run = store.begin(&sample::new_run()).unwrap();
    let mut readings = sample::readings(0);
    readings[3].value = f64::INFINITY;
    let mut gates = sample::gates();
    gates[1].observed = Some(f64::NAN);
    let mut study = sample::new_study();
    study.compare.matters = f64::NAN;
    let mut twice = sample::new_study();
    twice.planned[1].position = 0;
    let refused = [
        store.keep_readings(&run, 0, &readings),
        store.keep_readings(&run, u64::MAX, &sample::readings(0)),
        store.keep_gates(&run, &gates),
        store.keep_output(&run, "app", &vec![b'x'; (1 << 20) + 1], 0),
        store.keep_output(&run, "app", b"", u64::MAX),
        store.begin_study(&study).map(drop),
        store.begin_study(&twice).map(drop),
    ];
    for (place, answer) in refused.into_iter().enumerate() {
        assert!(matches!(answer, Err(StoreError::Unstorable { .. })), "{place}: {answer:?}");
    }
    let kept = store.load(&run).unwrap();
    assert_eq!((kept.readings().count(), kept.gates().len(), kept.outputs().len()), (0, 0, 0));
    assert!(store.studies().unwrap().is_empty());
}

#[test]
fn empty_study_survives_a_round_trip() {
    let (_folder, store) = store();
    let mut new = sample::new_study();
    (new.planned, new.question) = (Vec::new(), None);
    let id = store.begin_study(&new).unwrap();
    store.finish_study(&id, &END).unwrap();
    let study = store.load_study(&id).unwrap();
    assert_eq!((study.new, study.runs.len(), study.state), (new, 0, StudyState::Complete));
}

#[test]
fn only_planned_runs_belong_to_a_study() {
    let (_folder, store) = store();
    let new = sample::new_study();
    let id = store.begin_study(&new).unwrap();
    let begin = |study: &evidence::StudyId, place: &evidence::StudyPlace| {
        store.begin(&NewRun { place: Some((study.clone(), place.clone())), ..sample::new_run() })
    };
    let mut elsewhere = new.planned[0].clone();
    elsewhere.position = 6;
    let mut otherwise = new.planned[0].clone();
    otherwise.knobs[0].1 = "2".to_owned();
    for place in [elsewhere, otherwise] {
        let error = begin(&id, &place).unwrap_err();
        assert!(matches!(error, StoreError::UnknownPlace { .. }), "{error}");
    }
    let unknown = "s-20261121-142501-k3f9".parse().unwrap();
    assert!(matches!(begin(&unknown, &new.planned[0]), Err(StoreError::UnknownStudy { .. })));
    store.finish_study(&id, &END).unwrap();
    assert!(matches!(begin(&id, &new.planned[0]), Err(StoreError::StudyEnded { .. })));
    assert!(matches!(store.finish_study(&id, &END), Err(StoreError::StudyEnded { .. })));
    assert_eq!(store.runs(9).unwrap().len(), 0);
}

#[test]
fn deleting_a_study_deletes_its_runs_only() {
    let (folder, store) = store();
    let new = sample::new_study();
    let alone = store.begin(&sample::new_run()).unwrap();
    let (kept, gone) = (store.begin_study(&new).unwrap(), store.begin_study(&new).unwrap());
    for study in [&kept, &gone] {
        let run = sample::begin_at(&store, study, &new.planned[0]);
        store.keep_readings(&run, 0, &sample::readings(0)).unwrap();
        store.keep_output(&run, "app", b"x", 0).unwrap();
        store.keep_gates(&run, &sample::gates()).unwrap();
        store.finish(&run, &sample::failed()).unwrap();
        store.finish_study(study, &END).unwrap();
    }
    store.delete_study(&gone).unwrap();
    assert!(matches!(store.load_study(&gone), Err(StoreError::UnknownStudy { .. })));
    assert!(matches!(store.delete_study(&gone), Err(StoreError::UnknownStudy { .. })));
    let left = store.load_study(&kept).unwrap();
    let listed: Vec<_> = store.runs(9).unwrap().into_iter().map(|run| run.id).collect();
    assert_eq!(listed, [left.runs[0].id.clone(), alone]);

    let file = rusqlite::Connection::open(folder.path().join("s")).unwrap();
    let tables = [
        ("study", 1),
        ("study_ending", 1),
        ("place", 6),
        ("run", 2),
        ("ending", 1),
        ("failure", 1),
        ("part", 1),
    ];
    for (table, left) in
        tables.into_iter().chain([("reading_kind", 4), ("readings", 1), ("output", 1), ("gate", 4)])
    {
        let query = format!("SELECT count(*) FROM {table}");
        assert_eq!(file.query_row(&query, [], |row| row.get::<_, i64>(0)).unwrap(), left, "{table}");
    }
    // A run may be deleted by itself; its place is then missing.
    store.delete(&left.runs[0].id).unwrap();
    assert_eq!(store.missing(&kept).unwrap(), new.planned);
}
