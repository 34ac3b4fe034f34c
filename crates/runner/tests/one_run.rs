//! One run in a world without processes: every stage fails in turn, and the run is stopped at every moment.

use std::time::Duration;

use crate::fakes::{RecordedStream, World, program, rename_table, store, study};
use evidence::{Intervention, RunState, StudyId, StudyPlace, Verdict};
use progress::RunEvent;
use runner::{CompletedRun, RunError, Runner, StudyRunner};
use store::Store;
use study::{begin_study, procedure};

/// Plan of a system that is started, with tables, a version, and a gate.
const PLAN: &str = "scenario: [ workload: select-only ]\nload: { users: 1, warm-up: 1s, for: 3s }\nsystems:\n  db:\n    \
                    start: 'db {port}'\n    url: 'postgres://bench@127.0.0.1:{port}/bench'\n    \
                    version: 'db --version'\n    prepare: { workload: select-only }\ngates: [ throughput>1/s ]\n";

/// First run of a plan, with its world's store and recorded events.
struct Tried {
    store: Store,
    _folder: tempfile::TempDir,
    made: Result<CompletedRun, RunError>,
    heard: RecordedStream,
    id: StudyId,
    place: StudyPlace,
}

fn try_in(world: &World, broken_table: Option<&str>) -> Tried {
    let (store, folder) = store();
    let study = study(PLAN);
    let id =
        begin_study(&study, procedure(&study), serde_json::Value::Null, None, None, &store).expect("a study");
    let place = store.missing(&id).expect("it is planned").swap_remove(0);
    broken_table.into_iter().for_each(|table| rename_table(&store, table, "gone"));
    let (runner, heard) = (Runner { store: &store, tools: world.tools() }, RecordedStream::nothing());
    let bench = StudyRunner::new(runner, &study, &id, program()).expect("cores");
    let made = bench.make(&place, None, 7, &heard.stream);
    drop(bench);
    broken_table.into_iter().for_each(|table| rename_table(&store, "gone", table));
    world.assert_nothing_is_left();
    Tried { store, _folder: folder, made, heard, id, place }
}

fn made(tried: &Tried) -> &CompletedRun {
    tried.made.as_ref().unwrap_or_else(|error| panic!("{error}"))
}

/// Asserts that the store can be read, and that its data of the run adds up.
fn assert_kept(tried: &Tried) {
    for summary in tried.store.runs(usize::MAX).expect("a list") {
        let run = tried.store.load(&summary.id).expect("readable");
        run.whole(record::Phase::Measured).expect("it adds up");
        if run.ending.is_none() {
            assert_eq!(run.state, RunState::Running, "this process has it still");
        }
    }
    let is_made = tried.store.missing(&tried.id).expect("a list").iter().all(|place| *place != tried.place);
    let is_done = tried.made.as_ref().is_ok_and(|made| made.ending.is_done());
    assert_eq!(is_made, is_done, "a resumed study makes what was not done");
}

#[test]
fn stages_of_a_run_are_in_order() {
    let world = World::new();
    let tried = try_in(&world, None);
    let made = made(&tried);
    assert_eq!(made.ending.verdict, Verdict::Complete, "{:?}", made.ending);
    let run = tried.store.load(&made.run).expect("it is kept");
    let (warm_up, measured) = (run.whole(record::Phase::WarmUp), run.whole(record::Phase::Measured));
    assert_eq!((warm_up.expect("sums").counts.ok, measured.expect("sums").counts.ok), (100, 300));
    assert_eq!(made.brief.expect("figures").ok_per_s, 100.0);
    assert!(made.gates[0].holds());
    assert_eq!(run.new.system_version.as_deref(), Some("web 1.0"));
    assert_eq!(run.new.users, Some(1));
    assert_eq!(
        run.readings().count(),
        12 + 1,
        "one reading, and two bounds, of each look; one before the load"
    );
    let at_rest = run.readings().find(|reading| reading.metric == evidence::BUSIEST_THREAD_REST_SHARE);
    assert_eq!(at_rest.expect("it is kept").value, 0.5);
    assert_eq!(run.outputs().len(), 1);
    let seconds = tried.heard.count(|event| matches!(event, RunEvent::Second(_)));
    let ends = tried.heard.count(|event| matches!(event, RunEvent::LoadEnded));
    assert_eq!((seconds, ends), (4, 1));
    let seen = world.moments();
    let stages: Vec<&str> = seen.iter().map(String::as_str).filter(|moment| *moment != "quiet").collect();
    let expected = [
        "room",
        "version",
        "system starts",
        "system is ready",
        "load data",
        "prepare",
        "watchdog",
        "look around",
        "load starts",
        "watch",
        "second",
        "second",
        "second",
        "worker breaks",
        "load is hopeless",
        "worker vanishes",
        "second",
        "load is joined",
        "system stops",
    ];
    assert_eq!(stages, expected);
    assert_kept(&tried);
}

/// A failure of a system or database is a result: the study continues.
#[test]
fn system_failure_at_any_stage_is_a_result() {
    for (trouble, stage) in [
        ("system starts", "start"),
        ("system is ready", "ready"),
        ("load data", "prepare"),
        ("prepare", "connect"),
        ("load starts", "threads"),
        ("system dies", "died"),
    ] {
        let world = World::failing_at(trouble);
        let tried = try_in(&world, None);
        let made = made(&tried);
        assert_eq!(made.ending.verdict, Verdict::Aborted, "{trouble}");
        let failure = made.ending.failure.as_ref().unwrap_or_else(|| panic!("{trouble}"));
        assert_eq!(failure.stage, stage);
        assert!(made.gates.is_empty() && made.brief.is_none(), "{trouble}");
        let was_started = !trouble.starts_with("system ") || trouble == "system dies";
        assert_eq!(world.has_seen("system stops"), was_started, "{trouble}");
        assert!(world.elapsed() < Duration::from_secs(3), "nothing is left to load: {trouble}");
        assert_kept(&tried);
    }
}

#[test]
fn broken_load_makes_the_run_invalid() {
    for trouble in ["worker breaks", "load is hopeless", "load is joined", "worker vanishes"] {
        let world = World::failing_at(trouble);
        let tried = try_in(&world, None);
        let made = made(&tried);
        assert_eq!(made.ending.verdict, Verdict::Invalid, "{trouble}: {:?}", made.ending);
        assert!(world.has_seen("system stops"), "{trouble}");
        assert_kept(&tried);
    }
}

#[test]
fn run_completes_without_version_or_clean_stop() {
    let world = World::failing_at("version");
    let tried = try_in(&world, None);
    assert_eq!(made(&tried).ending.verdict, Verdict::Complete);
    let world = World::failing_at("system stops");
    let tried = try_in(&world, None);
    let ending = &made(&tried).ending;
    assert_eq!(ending.verdict, Verdict::Complete);
    assert!(ending.notes.iter().any(|note| note.contains("exited with code 3")), "{:?}", ending.notes);
    assert_eq!(ending.not_available[0].0, "disks");
}

#[test]
fn missing_resources_end_the_study() {
    let world = World::failing_at("room");
    let tried = try_in(&world, None);
    assert!(matches!(tried.made, Err(RunError::Ports(_))));
    assert_eq!(world.moments(), ["room"]);
    assert_kept(&tried);
}

/// An error of the store ends the run, and carries the counts so far. The system is stopped nevertheless.
#[test]
fn store_error_at_any_stage_ends_study_and_stops_system() {
    for (table, expected) in [
        ("run", None),
        ("part", Some(0)),
        ("readings", Some(0)),
        ("output", None),
        ("ending", Some(300)),
        ("gate", None),
    ] {
        let world = World::new();
        let tried = try_in(&world, Some(table));
        let Err(RunError::Storage { counts, .. }) = &tried.made else { panic!("{table}: {:?}", tried.made) };
        let ok = counts.as_ref().map(|counts| counts.ok);
        assert_eq!(ok, expected, "{table}");
        assert!(world.has_seen("system stops"), "{table}");
        if table != "gate" {
            assert_kept(&tried);
        }
    }
}

#[test]
fn hanging_load_is_aborted_after_its_deadline() {
    let world = World::failing_at("load hangs");
    let tried = try_in(&world, None);
    assert_eq!(made(&tried).ending.verdict, Verdict::Aborted);
    // Four seconds of load, thirty for the last request, three of patience, and the last second.
    assert!((14..40).contains(&world.elapsed().as_secs()), "{:?}", world.elapsed());
    assert_kept(&tried);
}

#[test]
fn study_ends_when_load_and_single_user_are_rejected() {
    let world = World::rejecting();
    let tried = try_in(&world, None);
    assert!(matches!(tried.made, Err(RunError::Rejected { .. })), "{:?}", tried.made);
    let loads = world.moments().iter().filter(|moment| *moment == "load starts").count();
    assert_eq!(loads, 4, "the load itself, and a single user three times");
    assert!(world.has_seen("system stops"));
    assert_kept(&tried);
}

/// One stop request keeps the results so far, two end the run at once. In both cases the system is stopped, the store is intact, and a
/// resumed study repeats the run unless it was complete.
#[test]
fn stop_at_any_call_leaves_system_stopped_and_store_intact() {
    let all = {
        let world = World::new();
        try_in(&world, None);
        world.moments()
    };
    for at in 0..all.len() {
        // Consecutive quiet moments are alike.
        if at > 0 && all[at - 1] == "quiet" && all[at] == "quiet" {
            continue;
        }
        for asked in [&[at][..], &[at, at], &[at, at + 1]] {
            let world = World::stopped_at(asked);
            let tried = try_in(&world, None);
            let (ending, seen) = (&made(&tried).ending, world.moments());
            let moment = &seen[at];
            let is_late = ["load is joined", "system stops"].contains(&moment.as_str());
            match asked {
                [_] if !is_late => assert!(
                    [Verdict::Partial, Verdict::Complete].contains(&ending.verdict),
                    "{moment}: {ending:?}"
                ),
                _ if is_late => {}
                _ => assert_ne!(ending.verdict, Verdict::Complete, "{moment}: {ending:?}"),
            }
            let started = seen.iter().any(|moment| moment == "system is ready");
            assert_eq!(world.has_seen("system stops"), started, "{moment}");
            // The current second is reported to its end.
            let since = world.since_stop_request().expect("somebody asked");
            assert!(since <= Duration::from_millis(1100), "{moment}: {since:?}");
            assert_kept(&tried);
        }
    }
}

/// Makes the runs of an experiment in this order. Returns them with the calls on the system.
fn experiment(world: &World, order: &[Intervention]) -> (Vec<CompletedRun>, Vec<String>) {
    let (store, _folder) = store();
    let mut study = study(PLAN);
    study.experiment = Some(plan::Experiment::default());
    let id =
        begin_study(&study, procedure(&study), serde_json::Value::Null, None, None, &store).expect("a study");
    let first = store.missing(&id).expect("it is planned").swap_remove(0);
    let of = |(position, of): (u32, &Intervention)| StudyPlace {
        position,
        stage: evidence::stage::INTERVENTION.to_owned(),
        intervention: Some(of.clone()),
        ..first.clone()
    };
    let places: Vec<StudyPlace> = (1..).zip(order).map(of).collect();
    store.plan_more(&id, &places).expect("they are planned");
    let heard = RecordedStream::nothing();
    let bench = StudyRunner::new(Runner { store: &store, tools: world.tools() }, &study, &id, program())
        .expect("cores");
    let made = places.iter().map(|place| bench.make(place, None, 7, &heard.stream).expect("made")).collect();
    drop(bench);
    world.assert_nothing_is_left();
    let is_told = |moment: &String| moment.starts_with("system ") || moment == "load data";
    (made, world.moments().into_iter().filter(is_told).collect())
}

fn less_cpu() -> Intervention {
    Intervention::Changed(evidence::Changed {
        name: "CPU".to_owned(),
        change: evidence::Change::Cpu { millicores: 400 },
        rank: 0,
        tests: Vec::new(),
        can_refute: true,
        factor: 0.8,
        limit_from: 0.5,
        prediction: "it falls".to_owned(),
        loses: None,
    })
}

#[test]
fn system_stays_up_between_runs_without_restart() {
    let again = Intervention::ControlAgain;
    let order = [Intervention::CONTROL, less_cpu(), Intervention::ControlRestarted, again];
    let (made, seen) = experiment(&World::new(), &order);
    assert!(made.iter().all(|made| made.ending.verdict == Verdict::Complete), "{made:?}");
    let start = ["system starts", "system is ready"];
    let free = "system is limited as the plan says";
    let expected = [
        &start[..],
        &[free, "load data", "system is limited to 0.4 cores", "system stops"],
        &start,
        &["load data", "system stops"],
        &start,
        &[free, "load data"],
    ];
    assert_eq!(seen, expected.concat());
}

#[test]
fn system_is_stopped_when_its_limits_cannot_be_changed() {
    let world = World::failing_at("system is limited to 0.4 cores");
    let (made, seen) = experiment(&world, &[Intervention::CONTROL, less_cpu(), Intervention::ControlAgain]);
    let verdicts: Vec<Verdict> = made.iter().map(|made| made.ending.verdict).collect();
    assert_eq!(verdicts, [Verdict::Complete, Verdict::Aborted, Verdict::Complete]);
    assert_eq!(made[1].ending.failure.as_ref().expect("it failed").what, "the group is gone");
    let starts = seen.iter().filter(|moment| *moment == "system starts").count();
    assert_eq!((starts, seen.iter().filter(|moment| *moment == "system stops").count()), (2, 1), "{seen:?}");
}
