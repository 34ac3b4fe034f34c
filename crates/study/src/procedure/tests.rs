//! Tests of procedures on studies with fabricated runs.

use evidence::{Ending, NewRun, Procedure, StudyId, Verdict, stage};
use fixtures::{OwnStore, ending, new_run};
use plan::Study as Plan;
use store::Store;

use super::{EndReason, Turn, of, procedure};
use crate::run_maker::StoredStudy;

/// Starts a study of one system with `variants` variants, and the value of `compare` in its plan.
pub(crate) fn begun(variants: u32, compare: &str) -> (Plan, OwnStore, StudyId) {
    let values: Vec<String> = (1..=variants).map(|value| value.to_string()).collect();
    let text = format!(
        "scenario: [ get: / ]\nload: {{ users: 1, for: 1s }}\nsystems:\n  web: {{ start: 'web {{port}} {{n}}', vary: \
         {{ n: [{}] }} }}\ncompare: {compare}\n",
        values.join(", ")
    );
    let plan = Plan::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), "/".into(), false);
    let plan = plan.unwrap_or_else(|faults| panic!("{faults}"));
    let store = OwnStore::new();
    let id = crate::begin_study(&plan, procedure(&plan), serde_json::Value::Null, None, None, &store)
        .expect("a study");
    (plan, store, id)
}

/// Returns the first turn: stage, block, and variant of each run, sorted, and the maximum number of runs that may
/// follow.
fn first_turn(variants: u32, compare: &str) -> (Vec<(String, u32, String)>, Option<usize>) {
    let (plan, store, id) = begun(variants, compare);
    let kept = store.load_study(&id).expect("it is kept");
    let journal = StoredStudy { store: &store, id: &id };
    let procedure = of(&plan, &kept, &journal);
    let turn = procedure.next(&kept).expect("a turn");
    let Turn::Runs { places, .. } = turn else { return (Vec::new(), procedure.max_later_runs(&kept)) };
    let mut runs: Vec<_> =
        places.into_iter().map(|place| (place.stage, place.block, place.variant)).collect();
    runs.sort();
    (runs, procedure.max_later_runs(&kept))
}

fn runs(stage: &str, variants: &[u32]) -> Vec<(String, u32, String)> {
    variants.iter().map(|n| (stage.to_owned(), 0, format!("n={n}"))).collect()
}

#[test]
fn duel_starts_with_pilot_or_first_block() {
    // Three pilots and 24 blocks, of two runs each.
    assert_eq!(first_turn(2, "{ by: p99, pilot: 3 }"), (runs(stage::PILOT, &[1, 1]), Some(54)));
    assert_eq!(first_turn(2, "{ blocks: 12 }"), (runs(stage::BLOCK, &[1, 2]), Some(24)));
}

#[test]
fn tournament_starts_with_every_variant() {
    let (first, most) = first_turn(3, "{ find: best, blocks: 10 }");
    assert_eq!(first, runs(stage::SEARCH, &[1, 2, 3]));
    assert_eq!(most, Some(3 * 10 + 2 * 10));
    assert_eq!(first_turn(20, "{ find: best }"), (runs_sorted(stage::HALVING, 20), None));
}

fn runs_sorted(stage: &str, variants: u32) -> Vec<(String, u32, String)> {
    let mut runs = runs(stage, &(1..=variants).collect::<Vec<_>>());
    runs.sort();
    runs
}

#[test]
fn fixed_blocks_are_planned_at_start() {
    let (plan, store, id) = begun(3, "{ blocks: 4, within: 1min }");
    let kept = store.load_study(&id).expect("it is kept");
    assert_eq!(kept.new.planned.len(), 12);
    assert_eq!(kept.new.compare.within_s, Some(60.0));
    let journal = StoredStudy { store: &store, id: &id };
    let procedure = of(&plan, &kept, &journal);
    assert_eq!(procedure.max_later_runs(&kept), Some(0));
    assert_eq!(
        procedure.next(&kept).expect("a turn"),
        Turn::Over { why: EndReason::Blocks, news: Vec::new() }
    );
}

/// Stores a run for every missing place. Runs in the blocks `invalid` are invalid.
fn keep(store: &Store, id: &StudyId, invalid: &[u32]) {
    for place in store.missing(id).expect("they are kept") {
        let is_invalid = invalid.contains(&place.block);
        let new = NewRun { place: Some((id.clone(), place)), ..new_run() };
        let run = store.begin(&new).expect("it begins");
        let verdict = if is_invalid { Verdict::Invalid } else { Verdict::Complete };
        store.finish(&run, &Ending { verdict, ..ending() }).expect("it ends");
    }
}

#[test]
fn replaces_blocks_with_invalid_run_within_limit() {
    let (plan, store, id) = begun(3, "{ blocks: 8 }");
    keep(&store, &id, &[1, 4]);
    let kept = store.load_study(&id).expect("it is kept");
    let journal = StoredStudy { store: &store, id: &id };
    let procedure = of(&plan, &kept, &journal);
    assert_eq!(procedure.max_later_runs(&kept), Some(6));
    let Turn::Runs { mut places, news } = procedure.next(&kept).expect("a turn") else {
        panic!("two were lost")
    };
    assert_eq!(news, ["6 more runs, in place of blocks with invalid runs"]);
    let blocks: Vec<u32> = places.iter().map(|place| place.block).collect();
    assert_eq!(blocks, [8, 8, 8, 9, 9, 9]);
    (24..).zip(&mut places).for_each(|(position, place)| place.position = position);
    store.plan_more(&id, &places).expect("they are planned");
    keep(&store, &id, &[9]);
    let kept = store.load_study(&id).expect("it is kept");
    assert!(crate::is_of(&kept.new, &plan, &Procedure::Blocks).is_ok(), "it can still be resumed");
    assert_eq!(procedure.max_later_runs(&kept), Some(3), "and what was lost again");
    // Replacements are limited to half as many runs as planned.
    let (plan, store, id) = begun(3, "{ blocks: 8 }");
    keep(&store, &id, &[0, 1, 2, 3, 4]);
    let kept = store.load_study(&id).expect("it is kept");
    assert_eq!(of(&plan, &kept, &journal).max_later_runs(&kept), Some(0));
    // If there are too few blocks for a verdict, none is replaced.
    let (plan, store, id) = begun(3, "{ blocks: 4 }");
    keep(&store, &id, &[0]);
    let kept = store.load_study(&id).expect("it is kept");
    assert_eq!(of(&plan, &kept, &journal).max_later_runs(&kept), Some(0));
}

#[test]
fn extends_finished_study_by_whole_blocks() {
    let (plan, store, id) = begun(3, "{ blocks: 6 }");
    let journal = StoredStudy { store: &store, id: &id };
    keep(&store, &id, &[]);
    let end = || {
        let ending =
            evidence::StudyEnding { ended_at_unix_ms: 0, verdict: evidence::Verdict::Complete, why: None };
        store.finish_study(&id, &ending).expect("it ends");
        store.load_study(&id).expect("it is kept")
    };
    let kept = end();
    for blocks in [0, 6, 201] {
        let refused = crate::extend_study(&plan, &kept, blocks, None, &journal).expect_err("no more blocks");
        assert!(refused.to_string().contains("the study has 6 blocks"), "{refused}");
    }
    crate::extend_study(&plan, &kept, 8, None, &journal).expect("two more blocks");
    assert!(crate::extend_study(&plan, &kept, 9, None, &journal).is_err(), "it goes on");
    let added: Vec<(u32, u32)> =
        store.missing(&id).expect("places").iter().map(|place| (place.position, place.block)).collect();
    assert_eq!(added, [(18, 6), (19, 6), (20, 6), (21, 7), (22, 7), (23, 7)]);
    // After an interruption, only the missing runs are left.
    let kept = end();
    assert_eq!((kept.state, kept.blocks()), (evidence::StudyState::Interrupted, 8));
    store.resume_study(&id, None).expect("it goes on");
    keep(&store, &id, &[7]);
    let kept = store.load_study(&id).expect("it is kept");
    assert!(crate::is_of(&kept.new, &plan, &Procedure::Blocks).is_ok(), "it is still of the plan");
    let procedure = of(&plan, &kept, &journal);
    assert_eq!(procedure.max_later_runs(&kept), Some(3), "what was lost is made up for");
    let kept = end();
    crate::extend_study(&plan, &kept, 12, None, &journal).expect("four more blocks");
    let kept = store.load_study(&id).expect("it is kept");
    assert_eq!(
        kept.extensions,
        [evidence::Extension { blocks: 8, planned: 18 }, evidence::Extension { blocks: 12, planned: 24 }]
    );
}

#[test]
fn rejects_extension_of_search() {
    let (plan, store, id) = begun(3, "{ find: best, blocks: 10 }");
    let (kept, journal) =
        (store.load_study(&id).expect("it is kept"), StoredStudy { store: &store, id: &id });
    let refused = crate::extend_study(&plan, &kept, 12, None, &journal).expect_err("it is a search");
    assert!(refused.to_string().contains("cannot be extended"), "{refused}");
}
