//! Slices in a world without processes: a system stays up from the first slice of its block to the last.

use evidence::{Ending, RunState, StudyId, StudyPlace, Verdict, stage};
use store::Store;
use study::{begin_study, procedure};

use crate::fakes::{RecordedStream, World, program, store, study};
use runner::{CompletedRun, RunError, Runner, StudyRunner};

const PLAN: &str = "scenario: [ get: / ]\nload: { users: 1, warm-up: 2s, for: 4s }\nsystems:\n  web: { start: 'web {port} {n}', \
                    version: 'web --version', vary: { n: [1, 2] } }\ncompare: { interleave: slices, pause: idle }\n";

struct Tried {
    store: Store,
    _folder: tempfile::TempDir,
    id: StudyId,
    made: Vec<Result<CompletedRun, RunError>>,
}

/// Makes slices: number of the variant, block, and whether the system stays up.
fn tried(world: &World, slices: &[(usize, u32, bool)]) -> Tried {
    let (store, folder) = store();
    let study = study(PLAN);
    let id =
        begin_study(&study, procedure(&study), serde_json::Value::Null, None, None, &store).expect("a study");
    let rules = store.load_study(&id).expect("it is kept").new.compare.procedure.slices().copied();
    assert!(rules.is_some_and(|rules| rules.pauses_idle && rules.warm_up_s == 2.0 && rules.slice_s == 1.0));
    let bench = StudyRunner::new(Runner { store: &store, tools: world.tools() }, &study, &id, program())
        .expect("cores");
    let bench = bench.in_slices(rules);
    let heard = RecordedStream::nothing();
    let make = |(position, (variant, block, stays_up)): (u32, &(usize, u32, bool))| {
        let variant = &study.variants[*variant];
        let place = StudyPlace {
            block: *block,
            position,
            system: "web".to_owned(),
            variant: variant.name.clone(),
            knobs: variant.knobs.clone(),
            load: study.loads[0].name.clone(),
            stage: stage::SLICE.to_owned(),
            users: None,
            rate_per_s: None,
            intervention: None,
        };
        store.plan_more(&id, std::slice::from_ref(&place)).expect("it is planned");
        bench.make_slice(&place, u64::from(position), *stays_up, &heard.stream)
    };
    let made = (0..).zip(slices).map(make).collect();
    drop(bench);
    world.assert_nothing_is_left();
    Tried { store, _folder: folder, id, made }
}

/// Calls on the systems, in order.
fn system_calls(world: &World) -> Vec<String> {
    let moments = world.moments().into_iter();
    moments
        .filter(|moment| moment.starts_with("system ") && moment != "system is ready" || moment == "version")
        .collect()
}

fn endings(tried: &Tried) -> Vec<Ending> {
    tried
        .made
        .iter()
        .map(|made| made.as_ref().unwrap_or_else(|error| panic!("{error}")).ending.clone())
        .collect()
}

#[test]
fn system_stays_up_from_first_to_last_slice() {
    let world = World::new();
    let tried = tried(&world, &[(0, 0, true), (1, 0, true), (1, 0, false), (0, 0, false), (0, 1, false)]);
    assert!(
        endings(&tried).iter().all(|ending| ending.verdict == Verdict::Complete),
        "{:?}",
        endings(&tried)
    );
    let expected = [
        "version",
        "system starts",
        "system is held",
        "version",
        "system starts",
        "system is held",
        "system goes on",
        "system stops",
        "system goes on",
        "system stops",
        "version",
        "system starts",
        "system stops",
    ];
    assert_eq!(system_calls(&world), expected);
    let kept = tried.store.load_study(&tried.id).expect("it is kept");
    let warm_ups: Vec<u64> = kept.runs.iter().map(|run| run.new.warm_up_ns / 1_000_000).collect();
    assert_eq!(warm_ups, [2_000, 2_000, 250, 250, 2_000], "the first of a start has the warm-up");
    let lengths = kept.runs.iter().map(|run| run.new.planned_duration_ns);
    assert!(lengths.clone().all(|length| length == Some(1_000_000_000)), "{:?}", lengths.collect::<Vec<_>>());
    let outputs: Vec<usize> =
        kept.runs.iter().map(|run| tried.store.load(&run.id).expect("it is kept").outputs().len()).collect();
    assert_eq!(outputs, [0, 0, 1, 1, 1], "what it wrote is kept with its last slice");
    assert!(kept.runs.iter().all(|run| matches!(run.state, RunState::Ended(_))));
}

#[test]
fn dead_system_is_not_restarted_within_its_block() {
    let world = World::failing_at("system dies");
    let tried = tried(&world, &[(0, 0, true), (0, 0, true), (0, 0, false)]);
    let what = |ending: Ending| {
        ending.failure.map_or_else(|| format!("{:?}", ending.verdict), |failure| failure.what)
    };
    let failures: Vec<String> = endings(&tried).into_iter().map(what).collect();
    assert_eq!(failures[0], "exited with code 3", "{:?}", world.moments());
    assert!(
        failures[1..].iter().all(|what| what == "web n=1 did not stay up between slices"),
        "{failures:?}"
    );
    assert_eq!(system_calls(&world), ["version", "system starts", "system stops"]);
}

#[test]
fn system_that_cannot_be_paused_is_dropped() {
    let world = World::failing_at("system is held");
    let tried = tried(&world, &[(0, 0, true), (1, 0, false), (0, 0, false)]);
    let failed: Vec<bool> = endings(&tried).iter().map(|ending| ending.failure.is_some()).collect();
    assert_eq!(failed, [false, false, true]);
}

#[test]
fn next_block_and_end_stop_remaining_systems() {
    let world = World::new();
    tried(&world, &[(0, 0, true), (1, 0, true), (0, 1, true)]);
    // `tried` asserts that nothing is left running.
    assert_eq!(world.moments().iter().filter(|moment| *moment == "system starts").count(), 3);
}
