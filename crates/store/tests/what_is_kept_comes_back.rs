//! Stored data is loaded unchanged.

use crate::sample;
use evidence::{EvidenceError, Run, RunState, Verdict};
use record::{ErrorClass, Interval, Phase, Tally};
use store::{Store, StoreError};

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("new/folders/tenbin.sqlite")).unwrap();
    (folder, store)
}

fn seconds(run: &Run) -> Vec<(u16, u64, Phase, Tally, usize)> {
    run.seconds()
        .map(|second| second.unwrap())
        .map(|(step, interval)| {
            (step, interval.second, interval.phase, interval.tally, interval.sampled.len())
        })
        .collect()
}

#[test]
fn whole_run_survives_a_round_trip() {
    let (_folder, store) = store();
    let id = store.begin(&sample::new_run()).unwrap();
    let (warm_up, first, second) = (
        sample::interval(0, Phase::WarmUp, 1),
        sample::interval(2, Phase::Measured, 20),
        sample::interval(3, Phase::Measured, 300_000),
    );
    store.keep_second(&id, 1, std::slice::from_ref(&second)).unwrap();
    store.keep_second(&id, 0, &[warm_up.clone(), first.clone()]).unwrap();
    store.finish(&id, &sample::ending_with_signals()).unwrap();

    let run = store.load(&id).unwrap();
    assert_eq!(
        (run.id.clone(), &run.new, run.ending.as_ref()),
        (id, &sample::new_run(), Some(&sample::ending_with_signals()))
    );
    assert_eq!(run.state, RunState::Ended(Verdict::Degraded));
    let expected = vec![
        (0, 0, Phase::WarmUp, warm_up.tally.clone(), 50),
        (0, 2, Phase::Measured, first.tally.clone(), 50),
        (1, 3, Phase::Measured, second.tally.clone(), 50),
    ];
    assert_eq!(seconds(&run), expected);
    assert_eq!(run.total(0, Phase::Measured).unwrap(), first.tally);
    assert_eq!(run.total(1, Phase::WarmUp).unwrap(), Tally::default());
    let requests: Vec<_> = run.requests().filter(|(step, ..)| *step == 1).collect();
    let debug = |sampled: &record::Sampled| format!("{sampled:?}");
    assert_eq!(
        requests.iter().map(|(_, _, kept)| debug(kept)).collect::<Vec<_>>(),
        second.sampled.iter().map(debug).collect::<Vec<_>>()
    );
}

#[test]
fn parts_of_one_second_add_up_exactly() {
    let (_folder, store) = store();
    let id = store.begin(&sample::new_run()).unwrap();
    let mut sum = Tally::default();
    for thread in 0..3 {
        let part = sample::interval(5, Phase::Measured, thread * 1_000);
        sum.merge(&part.tally);
        store.keep_second(&id, 0, &[part]).unwrap();
    }
    store.finish(&id, &sample::ending()).unwrap();
    let run = store.load(&id).unwrap();
    assert_eq!(run.seconds().count(), 3);
    assert_eq!(run.total(0, Phase::Measured).unwrap(), sum);
}

#[test]
fn interval_from_another_machine_survives_a_round_trip() {
    let (_folder, store) = store();
    let part = sample::interval(2, Phase::Measured, 20);
    let arrived = Interval::decode(&part.encode()).unwrap();
    let [here, there] = [&part, &arrived].map(|part| {
        let id = store.begin(&sample::new_run()).unwrap();
        store.keep_second(&id, 0, std::slice::from_ref(part)).unwrap();
        store.finish(&id, &sample::ending()).unwrap();
        let kept: Vec<(u16, Interval)> =
            store.load(&id).unwrap().seconds().map(|second| second.unwrap()).collect();
        kept
    });
    assert_eq!(there, here);
    assert_eq!(here, [(0, part)]);
}

/// The last errors are the generator's own, for which a full list reserves space.
#[test]
fn full_list_of_errors_survives_a_round_trip() {
    let (_folder, store) = store();
    let id = store.begin(&sample::new_run()).unwrap();
    let mut part = sample::interval(2, Phase::Measured, 0);
    (0..100).for_each(|code| part.tally.errors.note(ErrorClass::Status, code, String::new));
    (0..100).for_each(|code| part.tally.errors.note(ErrorClass::GeneratorFault, code, String::new));
    store.keep_second(&id, 0, std::slice::from_ref(&part)).unwrap();
    store.finish(&id, &sample::ending()).unwrap();
    assert_eq!(store.load(&id).unwrap().total(0, Phase::Measured).unwrap(), part.tally);
}

#[test]
fn empty_run_survives_a_round_trip() {
    let (_folder, store) = store();
    let mut new = sample::new_run();
    new.steps.clear();
    new.units.clear();
    let id = store.begin(&new).unwrap();
    store.finish(&id, &sample::ending()).unwrap();
    let run = store.load(&id).unwrap();
    assert_eq!(run.new.steps.len() + run.seconds().count() + run.requests().count(), 0);
}

#[test]
fn run_in_progress_counts_requests_in_flight_as_unfinished() {
    let (_folder, store) = store();
    let id = store.begin(&sample::new_run()).unwrap();
    let mut part = sample::interval(2, Phase::Measured, 0);
    part.tally.note_sent(7);
    part.tally.note_due(4);
    store.keep_second(&id, 0, &[part]).unwrap();

    let run = store.load(&id).unwrap();
    assert_eq!((run.state, &run.ending), (RunState::Running, &None));
    let counts = run.total(0, Phase::Measured).unwrap().counts;
    assert_eq!((counts.unfinished, counts.not_sent), (10 + 1, 1 + 4));
    assert_eq!(counts.check_settled(), Ok(()));

    store.finish(&id, &sample::ending()).unwrap();
    let error = store.load(&id).unwrap_err();
    assert!(matches!(error, StoreError::Evidence(EvidenceError::Identity { .. })), "{error}");
}

#[test]
fn second_of_an_undeclared_step_is_rejected_completely() {
    let (_folder, store) = store();
    let id = store.begin(&sample::new_run()).unwrap();
    let error = store.keep_second(&id, 2, &[sample::interval(0, Phase::Measured, 0)]).unwrap_err();
    assert!(matches!(error, StoreError::UnknownStep { step: 2, .. }), "{error}");
    assert_eq!(store.load(&id).unwrap().seconds().count(), 0);
}

#[test]
fn run_ends_once_and_figures_must_be_finite() {
    let (_folder, store) = store();
    let id = store.begin(&sample::new_run()).unwrap();
    let mut strange = sample::ending();
    strange.generator.cpu_sys_s = f64::NAN;
    assert!(matches!(store.finish(&id, &strange), Err(StoreError::Unstorable { .. })));
    store.finish(&id, &sample::ending()).unwrap();
    assert!(matches!(store.finish(&id, &sample::ending()), Err(StoreError::AlreadyFinished { .. })));
}

#[test]
fn deleted_run_leaves_no_rows() {
    let (folder, store) = store();
    let kept = store.begin(&sample::new_run()).unwrap();
    let gone = store.begin(&sample::new_run()).unwrap();
    for id in [&kept, &gone] {
        store.keep_second(id, 0, &[sample::interval(0, Phase::Measured, 0)]).unwrap();
        store.finish(id, &sample::ending()).unwrap();
    }
    store.delete(&gone).unwrap();
    assert!(matches!(store.load(&gone), Err(StoreError::UnknownRun { .. })));
    assert!(matches!(store.delete(&gone), Err(StoreError::UnknownRun { .. })));
    assert_eq!(store.load(&kept).unwrap().seconds().count(), 1);

    let file = rusqlite::Connection::open(folder.path().join("new/folders/tenbin.sqlite")).unwrap();
    for (table, left) in
        [("part", 1), ("status", 1), ("error", 2), ("request", 50), ("step", 2), ("ending", 1)]
    {
        let count: i64 =
            file.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(count, left, "{table}");
    }
}

#[test]
fn new_folders_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, _store) = store();
    let mode = std::fs::metadata(folder.path().join("new")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn profiling_is_stored_apart_from_the_load() {
    let (_folder, store) = store();
    let id = store.begin(&evidence::NewRun { is_profiled: true, ..sample::new_run() }).unwrap();
    let run = store.load(&id).unwrap();
    assert_eq!((&*run.new.load_words, run.new.is_profiled), ("100 users, closed", true));
    assert_eq!(store.runs(1).unwrap()[0].load_words, "100 users, closed, profiled");
    assert_eq!(run.new.load_in_words(), "100 users, closed, profiled");
}
