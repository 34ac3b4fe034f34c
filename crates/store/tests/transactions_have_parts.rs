//! Statements are counted separately from their transaction, and excluded from all sums.

use crate::sample;
use evidence::{NewRun, Run, StepPart, Unit};
use record::{Phase, Tally};
use store::{Store, StoreError};

fn kept(new: &NewRun, numbers: &[u16]) -> (tempfile::TempDir, Store, Run) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("s")).unwrap();
    let id = store.begin(new).unwrap();
    for number in numbers {
        let second = u64::from(*number);
        store.keep_second(&id, *number, &[sample::interval(second, Phase::Measured, second)]).unwrap();
    }
    store.finish(&id, &sample::ending_with_signals()).unwrap();
    let run = store.load(&id).unwrap();
    (folder, store, run)
}

#[test]
fn part_is_loaded_by_its_number_and_excluded_from_sums() {
    let (_folder, store, run) = kept(&sample::new_sql_run(), &[0, 1, 2, 3]);
    let mut steps = Tally::default();
    for number in 0..4 {
        let tally = run.total(number, Phase::Measured).unwrap();
        assert_eq!(tally, sample::interval(number.into(), Phase::Measured, number.into()).tally);
        if number < 2 {
            steps.merge(&tally);
        }
    }
    assert_eq!(run.whole(Phase::Measured).unwrap(), steps);
    let listed = store.runs(1).unwrap().remove(0);
    assert_eq!((listed.sent, listed.ok), (steps.counts.sent, steps.counts.ok), "nor in the list of runs");
    assert_eq!((run.seconds().count(), run.packed_seconds().unwrap().count()), (2, 2));
    assert!(run.requests().all(|(step, ..)| step < 2), "a log is of transactions");
    let names =
        |step| run.new.parts_of(step).map(|(number, name)| (number, name.to_owned())).collect::<Vec<_>>();
    assert_eq!(names(0), [(2, "SELECT 1".to_owned())]);
    assert_eq!(names(1), [(3, "COMMIT".to_owned())]);
}

#[test]
fn study_has_totals_of_parts() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("s")).unwrap();
    let new = sample::new_study();
    let study = store.begin_study(&new).unwrap();
    let place = Some((study.clone(), new.planned[0].clone()));
    let run = store.begin(&NewRun { place, ..sample::new_sql_run() }).unwrap();
    store.keep_second(&run, 3, &[sample::interval(2, Phase::Measured, 7)]).unwrap();
    store.finish(&run, &sample::ending()).unwrap();
    let run = store.load_study(&study).unwrap().runs.pop().unwrap();
    assert_eq!(run.total(3, Phase::Measured).unwrap(), sample::interval(2, Phase::Measured, 7).tally);
    assert_eq!(run.whole(Phase::Measured).unwrap(), Tally::default());
}

#[test]
fn number_beyond_the_parts_is_rejected() {
    let (_folder, store, run) = kept(&sample::new_sql_run(), &[]);
    let error = store.keep_second(&run.id, 4, &[sample::interval(0, Phase::Measured, 0)]).unwrap_err();
    assert!(matches!(error, StoreError::UnknownStep { step: 4, .. }), "{error}");
}

#[test]
fn inconsistent_runs_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("s")).unwrap();
    let of_nothing = StepPart { name: String::new(), of: 2 };
    let many = vec![StepPart { name: String::new(), of: 0 }; 1 << 16];
    for strange in [
        NewRun { units: vec![Unit::Transactions], ..sample::new_sql_run() },
        NewRun { parts: vec![of_nothing], ..sample::new_sql_run() },
        NewRun { parts: many, ..sample::new_sql_run() },
        NewRun { latency_limit_ns: Some(u64::MAX), ..sample::new_sql_run() },
    ] {
        let error = store.begin(&strange).unwrap_err();
        assert!(matches!(error, StoreError::Unstorable { .. }), "{error}");
    }
    assert!(store.runs(9).unwrap().is_empty());
}

#[test]
fn unit_of_a_run_follows_from_its_steps() {
    let of = |units: &[Unit]| NewRun { units: units.to_vec(), ..sample::new_run() }.unit();
    assert_eq!(of(&[Unit::Transactions; 2]), Unit::Transactions);
    assert_eq!(of(&[Unit::Transactions, Unit::Requests]), Unit::Requests);
    assert_eq!(of(&[]), Unit::Requests);
}

#[test]
fn tries_beyond_three_digits_are_stored_as_999() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("s")).unwrap();
    let id = store.begin(&sample::new_sql_run()).unwrap();
    let mut interval = sample::interval(0, Phase::Measured, 0);
    (1..2_000).chain([u16::MAX]).for_each(|tries| interval.tally.statuses.add(tries, 1));
    store.keep_second(&id, 0, &[interval]).unwrap();
    store.finish(&id, &sample::ending()).unwrap();
    let tally = store.load(&id).unwrap().total(0, Phase::Measured).unwrap();
    let most = tally.statuses.iter().max().unwrap();
    assert_eq!((tally.statuses.iter().count(), most), (999, (999, 1_002)));
}
