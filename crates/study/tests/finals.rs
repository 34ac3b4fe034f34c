//! Best of each system: a sweep of all variants under the first load, and a final of the best under all loads.

use std::collections::BTreeMap;

use evidence::{StudyPlace, Verdict, stage};
use study::{Journal, extend_study, run_study};

use crate::fakes::{Maker, Memory, SimulatedRun, n, of_two_systems};
use crate::virtual_time::{faster, verdict};

/// Returns the number of runs in a stage, by load, system, and variant.
fn runs_of(memory: &Memory, of_stage: &str) -> BTreeMap<(String, String, String), usize> {
    let mut runs = BTreeMap::new();
    for StudyPlace { stage, system, variant, load, .. } in memory.study().expect("it is kept").new.planned {
        if stage == of_stage {
            *runs.entry((load, system, variant)).or_default() += 1;
        }
    }
    runs
}

fn key(load: &str, system: &str, variant: &str) -> (String, String, String) {
    (load.to_owned(), system.to_owned(), variant.to_owned())
}

#[test]
fn final_has_best_measurable_variant_of_each_system() {
    let study = of_two_systems("{ find: best of each, blocks: 3, final: 6 }");
    let memory = Memory::begun(&study);
    // The fastest variant of `b` has no valid run.
    let simulate = |place: &StudyPlace| match (place.system.as_str(), n(place)) {
        ("b", 3) => SimulatedRun { verdict: Some(Verdict::Invalid), ..faster(place) },
        _ => faster(place),
    };
    let mut maker = Maker::new(&memory, &simulate);
    run_study(&study, &memory, &mut maker).expect("it ends");
    assert_eq!(verdict(&memory), Some((Verdict::Complete, Some("blocks".to_owned()))));
    let swept = runs_of(&memory, stage::SWEEP);
    assert_eq!(swept.len(), 6);
    assert!(swept.iter().all(|((load, ..), runs)| (load.as_str(), *runs) == ("full", 3)), "{swept:?}");
    let expected = [("full", "a", "n=3"), ("full", "b", "n=2"), ("light", "a", "n=3"), ("light", "b", "n=2")];
    let expected = expected.map(|(load, system, variant)| (key(load, system, variant), 6));
    assert_eq!(runs_of(&memory, stage::BLOCK), BTreeMap::from(expected));
    let told = "final: 6 blocks of the best variant of each system: a n=3, b n=2";
    assert!(maker.lines.iter().any(|line| line == told), "{:?}", maker.lines);
    let ahead = maker.ahead[0];
    assert_eq!((ahead.of, ahead.is_at_most), (Some(18 + 2 * 2 * 6), true));
    // Arrivals of the final differ from those of the sweep.
    let (sweep, last) = maker.seeds.split_at(18);
    assert!(last.iter().all(|seed| !sweep.contains(seed)));

    let kept = memory.study().expect("it is kept");
    extend_study(&study, &kept, 8, None, &memory).expect("it can be");
    run_study(&study, &memory, &mut Maker::new(&memory, &simulate)).expect("it ends");
    let expected: Vec<usize> = vec![8; 4];
    assert_eq!(runs_of(&memory, stage::BLOCK).into_values().collect::<Vec<usize>>(), expected);
}

#[test]
fn system_without_valid_run_is_left_out_and_named() {
    let study = of_two_systems("{ find: best of each, blocks: 1, final: 2 }");
    let memory = Memory::begun(&study);
    let simulate = |place: &StudyPlace| match place.system.as_str() {
        "b" => SimulatedRun { verdict: Some(Verdict::Invalid), ..faster(place) },
        _ => faster(place),
    };
    let mut maker = Maker::new(&memory, &simulate);
    run_study(&study, &memory, &mut maker).expect("it ends");
    assert!(maker.lines.iter().any(|line| line.starts_with("b is not in the final")), "{:?}", maker.lines);
    let expected = [(key("full", "a", "n=3"), 2), (key("light", "a", "n=3"), 2)];
    assert_eq!(runs_of(&memory, stage::BLOCK), BTreeMap::from(expected));
}
