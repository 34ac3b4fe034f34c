//! Comparisons of more than two variants in slices, in virtual time: orders, starts alone, and resumption.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::fakes::{Interruption, Made, Maker, Memory, SimulatedRun, n, with_text};
use evidence::{StudyPlace, Verdict, stage};
use plan::Study as Plan;
use study::{Journal, extend_study, run_study};

/// Returns a plan of three variants.
fn plan() -> Plan {
    with_text(
        "scenario: [ get: / ]\nload: { users: 1, warm-up: 1s, for: 8s }\nsystems:\n  web: { start: 'web {port} {n}', \
         vary: { n: [1, 2, 3] } }\ncompare: { by: throughput }\n",
        false,
    )
}

/// Figures with noise of about 1 %; the third variant is 10 % faster.
fn simulate(place: &StudyPlace) -> SimulatedRun {
    let strays = (u64::from(place.position) * 17 + u64::from(place.block) * 7) % 9;
    SimulatedRun::successful([1_000, 1_002, 1_100][n(place) as usize - 1] + strays)
}

fn run(plan: &Plan, simulate: &dyn Fn(&StudyPlace) -> SimulatedRun) -> (Vec<Made>, Vec<String>) {
    let memory = Memory::begun(plan);
    let mut maker = Maker::new(&memory, simulate);
    run_study(plan, &memory, &mut maker).expect("it ends");
    (memory.made(), maker.lines)
}

/// Returns the variant numbers of each block of a stage, in the order of its slices.
fn orders(made: &[Made], wanted: &str) -> BTreeMap<u32, String> {
    let mut orders: BTreeMap<u32, String> = BTreeMap::new();
    for (_, block, name, _) in made.iter().filter(|(stage, ..)| stage == wanted) {
        orders.entry(*block).or_default().extend(name.chars().last());
    }
    orders
}

#[test]
fn blocks_have_all_variants_in_mirrored_order() {
    let (made, lines) = run(&plan(), &simulate);
    let orders = orders(&made, stage::SLICE);
    assert_eq!(orders.len(), 8, "{lines:?}");
    let mut firsts = BTreeSet::new();
    for order in orders.values() {
        let (first, second) = order.split_at(3);
        assert_eq!(first.chars().collect::<BTreeSet<char>>().len(), 3, "each once: {order}");
        assert_eq!(first, second.chars().rev().collect::<String>(), "{order}");
        firsts.insert(first.to_owned());
    }
    assert!(firsts.len() > 2, "random order: {firsts:?}");
}

#[test]
fn difference_that_first_slices_do_not_confirm_needs_starts_alone() {
    // The third variant is faster only after a load on another one.
    let begun = RefCell::new(BTreeSet::new());
    let carried = |place: &StudyPlace| match begun.borrow_mut().insert(place.block) {
        true => SimulatedRun::successful(1_000 + u64::from(place.position) * 17 % 9),
        false => simulate(place),
    };
    let (made, lines) = run(&plan(), &carried);
    let alone = orders(&made, stage::CONFIRM_SLICE);
    let count = |variant: &str| alone.values().filter(|order| *order == variant).count();
    assert_eq!(["1", "2", "3"].map(count), [4; 3], "{alone:?}");
    assert!(
        lines.iter().any(|line| line.contains("3 variants are started 4 times each, alone")),
        "{lines:?}"
    );
    let blocks: BTreeSet<u32> = orders(&made, stage::SLICE).into_keys().collect();
    assert!(alone.keys().all(|block| !blocks.contains(block)), "a start of its own");
}

#[test]
fn variant_whose_pairs_are_decided_is_not_started_alone() {
    let plan = with_text(
        "scenario: [ get: / ]\nload: { users: 1, warm-up: 1s, for: 8s }\nsystems:\n  web: { start: 'web {port} {n}', \
         vary: { n: [1, 2, 3] } }\ncompare: { by: throughput, baseline: n=1 }\n",
        false,
    );
    // The third variant is faster only after a load on another one.
    let begun = RefCell::new(BTreeSet::new());
    let carried = |place: &StudyPlace| match begun.borrow_mut().insert(place.block) {
        false if n(place) == 3 => simulate(place),
        _ => SimulatedRun::successful(1_000 + u64::from(place.position) * 17 % 9),
    };
    let (made, lines) = run(&plan, &carried);
    let alone: BTreeSet<String> = orders(&made, stage::CONFIRM_SLICE).into_values().collect();
    assert_eq!(alone.into_iter().collect::<String>(), "13", "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("2 variants are started 4 times each")), "{lines:?}");
}

#[test]
fn equal_variants_need_no_starts_alone() {
    let equal = |place: &StudyPlace| SimulatedRun {
        ..SimulatedRun::successful(1_000 + u64::from(place.position) * 7_919 % 100)
    };
    let (made, lines) = run(&plan(), &equal);
    assert!(orders(&made, stage::CONFIRM_SLICE).is_empty(), "{lines:?}");
    assert_eq!(orders(&made, stage::SLICE).len(), 8, "{lines:?}");
}

#[test]
fn variant_that_never_starts_leaves_after_four_tries() {
    let failing = |place: &StudyPlace| match n(place) {
        2 => SimulatedRun { verdict: Some(Verdict::Aborted), ..SimulatedRun::successful(1) },
        _ => simulate(place),
    };
    let (made, lines) = run(&plan(), &failing);
    let orders = orders(&made, stage::SLICE);
    let tried: Vec<u32> =
        orders.iter().filter(|(_, order)| order.contains('2')).map(|(block, _)| *block).collect();
    assert!(tried.len() <= 4 && orders.len() >= 8, "{orders:?} {lines:?}");
}

#[test]
fn study_with_a_variant_that_never_starts_can_be_extended() {
    let (plan, failing) = (plan(), |place: &StudyPlace| match n(place) {
        2 => SimulatedRun { verdict: Some(Verdict::Aborted), ..SimulatedRun::successful(1) },
        _ => simulate(place),
    });
    let memory = Memory::begun(&plan);
    run_study(&plan, &memory, &mut Maker::new(&memory, &failing)).expect("it ends");
    let before = orders(&memory.made(), stage::SLICE).len();
    let kept = memory.study().expect("it is kept");
    extend_study(&plan, &kept, 12, None, &memory).expect("two variants can be measured");
    run_study(&plan, &memory, &mut Maker::new(&memory, &failing)).expect("it ends");
    let orders = orders(&memory.made(), stage::SLICE);
    let later: Vec<&String> = orders.values().skip(before).collect();
    assert!(!later.is_empty() && later.iter().all(|order| !order.contains('2')), "{orders:?}");
}

#[test]
fn interrupted_block_is_repeated_as_a_whole() {
    let plan = plan();
    let (expected, _) = run(&plan, &simulate);
    for at in (1..=expected.len()).step_by(5) {
        let memory = Memory::begun(&plan);
        let mut maker = Maker::new(&memory, &simulate);
        maker.wrong = Some((at, Interruption::Killed));
        let _ = run_study(&plan, &memory, &mut maker);
        memory.resume(None);
        let mut resumed = Maker::later(&memory, &simulate, std::time::Duration::from_secs(3_600));
        run_study(&plan, &memory, &mut resumed).expect("it ends");
        let made = memory.made();
        for stage in [stage::SLICE, stage::CONFIRM_SLICE] {
            assert_eq!(orders(&made, stage), orders(&expected, stage), "slice {at}");
        }
        assert!(memory.are_blocks_of_one_start(), "slice {at}");
    }
}
