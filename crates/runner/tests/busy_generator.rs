//! Generator near its limit: its ceiling is measured, and a confirmation run with twice the threads shows the limit.

use std::time::Duration;

use evidence::{Level, Verdict};
use plan::{Draft, LoadSpec, Plan};
use runner::{CompletedRun, PlannedRun, Runner};
use store::Store;

use crate::fakes::{Pace, RecordedStream, World, store};

/// Pace close to the ceiling of the target, with a core almost in full use.
const BUSY: Pace =
    Pace { per_s: 1_000, per_s_with_more_threads: 1_000, target_per_s: 1_100, cpu_percent: 95, cores: 1 };

fn plan() -> Plan {
    let draft = Draft {
        url: "http://127.0.0.1:9/".to_owned(),
        load: LoadSpec {
            users: Some(2.into()),
            measured_ns: Some(4_000_000_000.into()),
            threads: Some(1.into()),
            ..LoadSpec::default()
        },
        ..Draft::default()
    };
    draft.check().unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// Makes a run of a URL, and checks that the world has nothing left over.
fn make(world: &World, store: &Store) -> CompletedRun {
    let plan = plan();
    let (runner, heard) = (Runner { store, tools: world.tools() }, RecordedStream::nothing());
    let made = runner.make(PlannedRun::of_load(&plan, None), &heard.stream);
    world.assert_nothing_is_left();
    made.unwrap_or_else(|error| panic!("{error}"))
}

fn causes(made: &CompletedRun) -> Vec<&str> {
    let mut codes: Vec<&str> = made.ending.validity.causes.iter().map(|cause| cause.code.as_str()).collect();
    codes.sort_unstable();
    codes
}

#[test]
fn busy_generator_is_compared_with_its_stored_ceiling() {
    let ((store, _folder), world) = (store(), World::new().at_pace(BUSY));
    let made = self::make(&world, &store);
    assert_eq!((made.ending.verdict, made.ending.validity.verdict), (Verdict::Complete, Level::Suspect));
    assert_eq!(causes(&made), ["ceiling", "generator_cpu"]);
    assert!(made.ending.validity.causes.iter().any(|cause| cause.sentence.contains("1,100")), "{made:?}");
    let seen = world.moments();
    let of_target: Vec<&str> =
        seen.iter().map(String::as_str).filter(|moment| moment.starts_with("target")).collect();
    let expected = [
        "target starts",
        "target is ready",
        "target: prepare",
        "target: load starts",
        "target: worker breaks",
        "target: load is hopeless",
        "target: worker vanishes",
        "target: second",
        "target stops",
    ];
    assert_eq!(of_target, expected);
    let again = World::new().at_pace(BUSY);
    assert_eq!(causes(&self::make(&again, &store)), ["ceiling", "generator_cpu"]);
    assert!(!again.has_seen("target starts"), "it is kept");
    let idle = World::new();
    assert_eq!(self::make(&idle, &store).ending.validity.verdict, Level::Valid);
    assert!(!idle.has_seen("target starts"), "nobody needs to know it");
}

#[test]
fn failed_ceiling_measurement_is_only_noted_as_not_available() {
    for trouble in [
        "room",
        "tenbin",
        "target starts",
        "target is ready",
        "target: prepare",
        "target: load starts",
        "target: worker breaks",
        "target: load is hopeless",
        "target: worker vanishes",
        "target: load hangs",
    ] {
        let ((store, _folder), world) = (store(), World::failing_at(trouble).at_pace(BUSY));
        let made = self::make(&world, &store);
        assert_eq!(made.ending.verdict, Verdict::Complete, "{trouble}");
        assert_eq!(causes(&made), ["generator_cpu"], "{trouble}");
        let missing = &made.ending.not_available;
        assert!(missing.iter().any(|(what, _)| what == "ceiling of the generator"), "{trouble}: {missing:?}");
        assert_eq!(world.has_seen("target stops"), trouble.starts_with("target: "), "{trouble}");
        // Four seconds of load, and at most two for the target.
        assert!(world.elapsed() < Duration::from_millis(6_500), "{trouble}: {:?}", world.elapsed());
    }
}

#[test]
fn confirmation_run_decides_whether_the_generator_was_the_limit() {
    for (more_per_s, verdict, level, codes) in [
        (1_500, Verdict::Invalid, Level::Invalid, &["generator_bound"][..]),
        (1_000, Verdict::Complete, Level::Valid, &[]),
    ] {
        let pace = Pace { per_s_with_more_threads: more_per_s, cores: 2, ..BUSY };
        let ((store, _folder), world) = (store(), World::new().at_pace(pace));
        let made = self::make(&world, &store);
        assert_eq!((made.ending.verdict, made.ending.validity.verdict), (verdict, level), "{more_per_s}");
        assert_eq!(causes(&made), codes);
        let titles: Vec<String> =
            store.runs(usize::MAX).expect("a list").into_iter().map(|run| run.title).collect();
        assert_eq!(titles.len(), 2, "{titles:?}");
        assert!(titles.iter().any(|title| title.ends_with("(twice the threads)")), "{titles:?}");
    }
}

/// A run that is stopped during the measurement of the generator leaves nothing behind.
#[test]
fn stop_at_any_call_leaves_nothing_of_a_busy_run() {
    let pace = Pace { cores: 2, ..BUSY };
    let all = {
        let ((store, _folder), world) = (store(), World::new().at_pace(pace));
        self::make(&world, &store);
        world.moments()
    };
    for at in 0..all.len() {
        // Consecutive quiet moments are alike.
        if at > 0 && all[at - 1].ends_with("quiet") && all[at].ends_with("quiet") {
            continue;
        }
        for asked in [&[at][..], &[at, at]] {
            let ((store, _folder), world) = (store(), World::stopped_at(asked).at_pace(pace));
            let made = self::make(&world, &store);
            for summary in store.runs(usize::MAX).expect("a list") {
                let run = store.load(&summary.id).expect("readable");
                run.whole(record::Phase::Measured).expect("it adds up");
                assert!(run.ending.is_some(), "{}", all[at]);
            }
            assert!(made.ending.verdict != Verdict::Invalid, "{}: {:?}", all[at], made.ending);
            // The current second of the target is reported to its end.
            let since = world.since_stop_request().expect("somebody asked");
            assert!(since <= Duration::from_millis(1_200), "{}: {since:?}", all[at]);
        }
    }
}
