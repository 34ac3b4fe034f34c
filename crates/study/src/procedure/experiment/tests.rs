//! Tests of experiments on studies with fabricated runs.

use evidence::{Change, Changed, Intervention, NewRun, Reading, StudyId, StudyPlace, stage};
use fixtures::{OwnStore, ending, new_run, reading};
use plan::{Experiment, Study as Plan};
use record::{Finish, Interval, Outcome, Phase, Tally};
use store::Store;

use super::super::{Turn, of, procedure};
use crate::run_maker::StoredStudy;

fn begun(system: &str, load: &str, within_ns: u64) -> (Plan, OwnStore, StudyId) {
    let text = format!("scenario: [ get: / ]\nload: {load}\nsystems: {{ web: {system} }}\n");
    let plan = Plan::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), "/".into(), false);
    let mut plan = plan.unwrap_or_else(|faults| panic!("{faults}"));
    plan.experiment = Some(Experiment { within_ns, ..Experiment::default() });
    let store = OwnStore::new();
    let id = crate::begin_study(&plan, procedure(&plan), serde_json::Value::Null, None, None, &store)
        .expect("a study");
    (plan, store, id)
}

/// Builds a measured second with `answers` answers.
fn second(second: u64, answers: u64) -> Interval {
    let mut tally = Tally::default();
    for number in 0..answers {
        let intended_ns = second * 1_000_000_000 + number * 1_000_000;
        tally.note_sent(intended_ns);
        tally.note_finished(&Finish {
            intended_ns,
            sent_ns: intended_ns,
            first_byte_ns: None,
            finished_ns: intended_ns + 500_000,
            outcome: Outcome::Ok,
            status: 200,
        });
    }
    Interval { second, phase: Phase::Measured, tally, sampled: Vec::new() }
}

/// Makes every missing run, with 500 answers per second each.
fn make(store: &OwnStore, id: &StudyId) {
    make_with(store, id, &[]);
}

/// Like `make`, with `readings` in the first second.
fn make_with(store: &OwnStore, id: &StudyId, readings: &[Reading]) {
    for place in store.missing(id).expect("they are kept") {
        let new = NewRun { place: Some((id.clone(), place)), ..new_run() };
        store.kept(&new, &[second(0, 500), second(1, 500)], &[(0, readings.to_vec())], &ending());
    }
}

/// Plans the next turn. Returns its runs and messages.
fn turn(plan: &Plan, store: &Store, id: &StudyId) -> (Vec<StudyPlace>, Vec<String>) {
    let kept = store.load_study(id).expect("it is kept");
    let journal = StoredStudy { store, id };
    match of(plan, &kept, &journal).next(&kept).expect("a turn") {
        Turn::Runs { mut places, news } => {
            let first = kept.new.planned.len() as u32;
            (first..).zip(&mut places).for_each(|(position, place)| place.position = position);
            store.plan_more(id, &places).expect("they are planned");
            (places, news)
        }
        Turn::Over { news, .. } => (Vec::new(), news),
    }
}

fn names(places: &[StudyPlace]) -> Vec<String> {
    let mut names: Vec<String> =
        places.iter().map(|place| place.intervention.as_ref().expect("one").name().to_owned()).collect();
    names.sort();
    names
}

const POOL: &str = "{ start: 'web {port} {workers}', vary: { workers: [ 2, 3 ] }, only: [ { workers: 2 } ], limits: workers }";
const MINUTE_NS: u64 = 60_000_000_000;

#[test]
fn experiment_follows_study_in_eight_blocks_with_two_controls() {
    let (plan, store, id) = begun(POOL, "{ users: 8, for: 2s }", 8 * MINUTE_NS);
    make(&store, &id);
    let (places, news) = turn(&plan, &store, &id);
    assert_eq!(
        names(&places),
        [
            "control",
            "control again",
            "control restarted",
            "users 8 → 16",
            "users 8 → 2",
            "users 8 → 4",
            "workers 2 → 3"
        ]
    );
    assert!(places.iter().all(|place| place.stage == stage::INTERVENTION && place.variant == "workers=2"));
    assert!(news[0].starts_with("experiment on web workers=2; likely bottleneck: "), "{news:?}");
    assert!(news.iter().any(|line| line.contains("workers 2 → 3: if it is the limit")), "{news:?}");
    for block in 1..8 {
        make(&store, &id);
        let (places, news) = turn(&plan, &store, &id);
        let rungs = if block == 4 { 2 } else { 1 };
        assert!(places.iter().all(|place| place.block == block) && places.len() == 5 + rungs, "{places:?}");
        assert!(news.is_empty(), "{news:?}");
    }
    make(&store, &id);
    assert_eq!(turn(&plan, &store, &id), (Vec::new(), Vec::new()));
    // Reports separate runs of the experiment from runs of the study.
    let kept = store.load_study(&id).expect("it is kept");
    assert_eq!(judge::counted(&kept, &plan.loads[0].name).next().expect("a row").places.len(), 1);
}

#[test]
fn runtime_with_instruments_has_an_instrumented_run_in_four_blocks() {
    let system = "{ start: 'web {port}' }";
    let (plan, store, id) = begun(system, "{ users: 8, for: 2s }", 8 * MINUTE_NS);
    let node = [reading("web", "runtime", "node", 1.0)];
    make_with(&store, &id, &node);
    let mut instrumented = Vec::new();
    let mut news = Vec::new();
    for block in 0..8 {
        let (places, of_block) = turn(&plan, &store, &id);
        news.extend(of_block);
        let names = names(&places);
        assert!(names.contains(&"control again".to_owned()), "{names:?}");
        if names.contains(&"instrumented".to_owned()) {
            assert!(names.contains(&"control restarted".to_owned()), "its cost is measured: {names:?}");
            instrumented.push(block);
        }
        make_with(&store, &id, &node);
    }
    assert_eq!(instrumented, [0, 1, 2, 3]);
    assert!(news.contains(&super::words::INSTRUMENTS.to_owned()), "{news:?}");
    let kept = store.load_study(&id).expect("it is kept");
    let report = judge::instrumented::RuntimeReport::of(&kept).expect("it is not damaged").expect("a report");
    assert_eq!(report.cost_ratios, [1.0; 4]);
    // A short time limit has no room for restarts.
    let (plan, store, id) = begun(system, "{ users: 8, for: 1s }", MINUTE_NS * 2 / 3);
    make_with(&store, &id, &node);
    let (places, news) = turn(&plan, &store, &id);
    assert!(!names(&places).contains(&"instrumented".to_owned()));
    assert!(news.iter().any(|line| line.contains(super::words::NO_INSTRUMENTS)), "{news:?}");
}

#[test]
fn changes_beyond_time_limit_are_skipped_and_reported() {
    // A block with two controls and one change takes 3.9 s, and 5.5 s with other numbers of users. With a parameter,
    // which needs a restart, it takes 9.1 s.
    let (plan, store, id) = begun(POOL, "{ users: 8, for: 1s }", MINUTE_NS);
    make(&store, &id);
    let (places, news) = turn(&plan, &store, &id);
    assert_eq!(names(&places), ["control", "control again", "users 8 → 16", "users 8 → 2", "users 8 → 4"]);
    let (plan, store, id) = begun(POOL, "{ users: 8, for: 1s }", MINUTE_NS * 2 / 3);
    make(&store, &id);
    let (places, news_of_less) = turn(&plan, &store, &id);
    assert_eq!(names(&places), ["control", "control again", "users 8 → 16"]);
    assert!(
        news_of_less.iter().any(|line| line.starts_with("not tested: 2, 4, 12, 24, 32 users: ")),
        "{news_of_less:?}"
    );
    let told = places.iter().find_map(|place| match &place.intervention {
        Some(Intervention::Control { left_out }) => Some(left_out.clone()),
        _ => None,
    });
    assert_eq!(told.map(|left_out| left_out.len()), Some(3), "the report says it, too");
    assert!(
        news.iter()
            .any(|line| line.starts_with("not tested: ") && line.contains("the time does not suffice")),
        "{news:?}"
    );
    let (plan, store, id) = begun(POOL, "{ users: 8, for: 1s }", MINUTE_NS / 10);
    make(&store, &id);
    let (places, news) = turn(&plan, &store, &id);
    assert!(places.is_empty() && news.last().is_some_and(|line| line.contains("--why-within")), "{news:?}");
}

#[test]
fn experiment_without_possible_change_has_no_runs() {
    let (plan, store, id) = begun("{ start: 'web {port}' }", "{ rate: 10/s, for: 1s }", MINUTE_NS);
    make(&store, &id);
    let (places, news) = turn(&plan, &store, &id);
    assert!(places.is_empty());
    assert_eq!(news[0], super::words::NOTHING_TO_CHANGE);
    assert_eq!(news[1..], ["not tested: CPU time: none of the system was read; use longer runs"]);
}

#[test]
fn stored_place_has_change_of_run() {
    let (plan, store, id) = begun(POOL, "{ users: 8, for: 30s }", 20 * MINUTE_NS);
    make(&store, &id);
    let (places, _) = turn(&plan, &store, &id);
    let of = |name: &str| {
        let is_it = |place: &&StudyPlace| place.intervention.as_ref().is_some_and(|of| of.name() == name);
        match places.iter().find(is_it).and_then(|place| place.intervention.clone()) {
            Some(Intervention::Changed(changed)) => changed,
            other => panic!("{other:?}"),
        }
    };
    let Changed { change, factor, .. } = of("workers 2 → 3");
    assert_eq!(
        (change, factor),
        (Change::Parameter { name: "workers".to_owned(), value: "3".to_owned() }, 1.5)
    );
    let changed = plan.changed(0, 0, Some(&plan::Change::Users(16)));
    assert_eq!(changed.loads[0].run_ns, Some(5_000_000_000), "short runs");
}
