//! A study in progress can plan more runs, and is complete when its ending states why it stopped.

use crate::sample;
use evidence::{
    NewStudy, OUT_OF_TIME, Procedure, StudyEnding, StudyId, StudyPlace, StudyState, Verdict, stage,
};
use store::{Store, StoreError};

fn begun() -> (tempfile::TempDir, Store, StudyId) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("s")).unwrap();
    let id = store.begin_study(&sample::new_search()).unwrap();
    (folder, store, id)
}

fn ending(verdict: Verdict, why: Option<&str>) -> StudyEnding {
    StudyEnding { ended_at_unix_ms: 0, verdict, why: why.map(str::to_owned) }
}

fn run(store: &Store, id: &StudyId, place: &StudyPlace) {
    let run = sample::begin_at(store, id, place);
    store.finish(&run, &sample::ending_with_signals()).unwrap();
}

#[test]
fn later_places_survive_a_round_trip_with_their_level() {
    let (_folder, store, id) = begun();
    let mut new = sample::new_search();
    run(&store, &id, &new.planned[0]);
    let more = [sample::bracket(1, 0.1 + 0.2), sample::bracket(2, 1e-300)];
    store.plan_more(&id, &more).unwrap();
    store.plan_more(&id, &[]).unwrap();
    assert_eq!(store.missing(&id).unwrap(), more);
    run(&store, &id, &more[1]);
    new.planned.extend(more.clone());
    let study = store.load_study(&id).unwrap();
    assert_eq!((&study.new, study.state), (&new, StudyState::Running));
    assert_eq!(study.missing().collect::<Vec<_>>(), [&more[0]]);
    let kept = study.run(2).unwrap();
    assert_eq!(kept.new.place, Some((id.clone(), more[1].clone())));
    assert_eq!(kept.ending, Some(sample::ending_with_signals()));
    assert_eq!(store.studies().unwrap()[0].planned, 3);
}

#[test]
fn reloading_a_study_reads_each_run_once() {
    let (_folder, store, id) = begun();
    let new = sample::new_search();
    run(&store, &id, &new.planned[0]);
    let mut now = store.load_study(&id).unwrap();
    let more = sample::bracket(1, 5.0);
    store.plan_more(&id, std::slice::from_ref(&more)).unwrap();
    run(&store, &id, &more);
    // All data of the first run is deleted.
    let connection = rusqlite::Connection::open(store.path()).unwrap();
    let first = now.runs[0].id.to_string();
    connection.execute("UPDATE run SET plan = 'broken' WHERE id = ?1", [&first]).unwrap();
    assert!(store.load_study(&id).is_err());
    store.reload_study(&mut now).unwrap();
    assert_eq!(now.new.planned, [new.planned[0].clone(), more.clone()]);
    assert_eq!((now.runs.len(), now.runs[0].id.to_string()), (2, first));
    assert_eq!(now.run(1).unwrap().new.place, Some((id, more)));
}

#[test]
fn positions_must_continue_without_gaps_and_places_be_valid() {
    let (_folder, store, id) = begun();
    let both = StudyPlace { users: Some(3), ..sample::bracket(1, 5.0) };
    for wrong in [
        sample::bracket(0, 5.0),
        sample::bracket(2, 5.0),
        sample::bracket(1, 0.0),
        sample::bracket(1, -5.0),
        sample::bracket(1, f64::NAN),
        sample::bracket(1, f64::INFINITY),
        StudyPlace { stage: "encore".to_owned(), ..sample::bracket(1, 5.0) },
        StudyPlace { users: Some(0), rate_per_s: None, ..sample::bracket(1, 5.0) },
        both,
    ] {
        let answer = store.plan_more(&id, std::slice::from_ref(&wrong));
        assert!(matches!(answer, Err(StoreError::Unstorable { .. })), "{wrong:?}: {answer:?}");
        let new =
            NewStudy { planned: vec![StudyPlace { position: 0, ..wrong.clone() }], ..sample::new_study() };
        let is_about_its_position =
            wrong.rate_per_s == Some(5.0) && wrong.users.is_none() && wrong.stage == stage::BRACKET;
        assert_eq!(store.begin_study(&new).is_ok(), is_about_its_position, "{wrong:?}");
    }
    assert_eq!(store.load_study(&id).unwrap().new.planned.len(), 1, "all of it, or nothing");
    let many: Vec<StudyPlace> = (1..=100_000).map(|position| sample::bracket(position, 1.0)).collect();
    assert!(matches!(store.plan_more(&id, &many), Err(StoreError::Unstorable { .. })));
}

#[test]
fn study_is_complete_if_its_ending_states_why_it_stopped() {
    let (_folder, store, id) = begun();
    let new = sample::new_search();
    run(&store, &id, &new.planned[0]);
    // All planned runs exist, but only the procedure knows if it would have planned more.
    store.finish_study(&id, &ending(Verdict::Partial, None)).unwrap();
    assert_eq!(store.load_study(&id).unwrap().state, StudyState::Interrupted);
    assert_eq!(store.studies().unwrap()[0].state, StudyState::Interrupted);
    assert!(matches!(store.plan_more(&id, &[sample::bracket(1, 5.0)]), Err(StoreError::StudyEnded { .. })));

    store.resume_study(&id, None).unwrap();
    let more = [sample::bracket(1, 5.0), sample::bracket(2, 10.0)];
    store.plan_more(&id, &more).unwrap();
    run(&store, &id, &more[0]);
    // Out of time: a run is missing, and the study may get more time.
    store.finish_study(&id, &ending(Verdict::Partial, Some(OUT_OF_TIME))).unwrap();
    assert_eq!(store.load_study(&id).unwrap().state, StudyState::Interrupted);
    assert_eq!(store.studies().unwrap()[0].state, StudyState::Interrupted);
    assert!(matches!(store.resume_study(&id, Some(f64::NAN)), Err(StoreError::Unstorable { .. })));
    store.resume_study(&id, Some(60.5)).unwrap();
    assert_eq!(store.load_study(&id).unwrap().new.compare.within_s, Some(60.5));
    let end = ending(Verdict::Complete, Some("decided"));
    store.finish_study(&id, &end).unwrap();
    let study = store.load_study(&id).unwrap();
    assert_eq!((study.state, study.ending), (StudyState::Complete, Some(end)));
    assert_eq!(store.studies().unwrap()[0].state, StudyState::Complete);
    assert!(matches!(store.resume_study(&id, None), Err(StoreError::StudyComplete { .. })));
}

#[test]
fn every_procedure_survives_a_round_trip() {
    let (_folder, store, _) = begun();
    for procedure in [
        Procedure::Blocks,
        Procedure::Duel { pilot_blocks: 3, looks_early: false, slices: None },
        Procedure::Best { incumbent: None, slices: None },
        Procedure::Best { incumbent: Some("puma'; --".to_owned()), slices: None },
        sample::new_search().compare.procedure,
    ] {
        let mut new = sample::new_study();
        new.compare.procedure = procedure;
        let id = store.begin_study(&new).unwrap();
        assert_eq!(store.load_study(&id).unwrap().new, new);
    }
}

#[test]
fn non_finite_figures_are_rejected() {
    let (_folder, store, _) = begun();
    let mut news = [sample::new_study(), sample::new_search()];
    news[0].compare.within_s = Some(f64::NAN);
    if let Procedure::Capacity(rules) = &mut news[1].compare.procedure {
        rules.resolution = f64::INFINITY;
    }
    for new in news {
        assert!(matches!(store.begin_study(&new), Err(StoreError::Unstorable { .. })));
    }
    let run = store.begin(&sample::new_run()).unwrap();
    let mut endings = [sample::ending_with_signals(), sample::ending_with_signals()];
    endings[0].generator.little_ratio = Some(f64::NAN);
    endings[1].steadiness.as_mut().unwrap().cut_s = f64::NEG_INFINITY;
    for ending in endings {
        assert!(matches!(store.finish(&run, &ending), Err(StoreError::Unstorable { .. })));
    }
    store.finish(&run, &sample::ending_with_signals()).unwrap();
}
