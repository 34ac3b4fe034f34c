//! Comparisons in slices, in virtual time: their order, their decisions, and resumption.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::fakes::{Interruption, Made, Maker, Memory, SimulatedRun, n, with_text};
use evidence::{StudyPlace, Verdict, stage};
use plan::Study as Plan;
use study::run_study;

/// Returns a plan of two variants in slices of a load of eight seconds.
fn in_slices(compare: &str, is_quick: bool) -> Plan {
    let text = format!(
        "scenario: [ get: / ]\nload: {{ users: 1, warm-up: 1s, for: 8s }}\nsystems:\n  web: {{ start: 'web {{port}} {{n}}', \
         vary: {{ n: [1, 2] }} }}\ncompare: {{ interleave: slices, {compare} }}\n"
    );
    with_text(&text, is_quick)
}

/// Makes the second variant `percent` percent faster.
fn faster_by(percent: u64) -> impl Fn(&StudyPlace) -> SimulatedRun {
    move |place| {
        let strays = (u64::from(place.position) * 17 + u64::from(place.block) * 7) % 9;
        SimulatedRun::successful(1_000 + strays + (n(place) - 1) * percent * 10)
    }
}

fn run(plan: &Plan, simulate: &dyn Fn(&StudyPlace) -> SimulatedRun) -> (Vec<Made>, Vec<String>, Vec<bool>) {
    let memory = Memory::begun(plan);
    let mut maker = Maker::new(&memory, simulate);
    run_study(plan, &memory, &mut maker).expect("it ends");
    (memory.made(), maker.lines, maker.stays_up)
}

/// Returns the variants of each block as A and B, in the order of its slices.
fn orders(made: &[Made]) -> BTreeMap<u32, String> {
    let mut orders: BTreeMap<u32, String> = BTreeMap::new();
    for (stage, block, name, _) in made {
        assert_eq!(stage, stage::SLICE);
        orders.entry(*block).or_default().push_str(if name.ends_with('1') { "A" } else { "B" });
    }
    orders
}

#[test]
fn slices_are_balanced_and_systems_stay_up_between_them() {
    let (made, lines, stays_up) = run(&in_slices("by: throughput", false), &faster_by(5));
    let orders = orders(&made);
    assert_eq!(orders.len(), 7, "5 % is decided at the first look: {lines:?}");
    let is_balanced = |order: &String| {
        order.as_bytes().chunks(4).all(|four| [b"ABBA", b"BAAB"].contains(&&four.try_into().unwrap()))
    };
    assert!(orders.values().all(is_balanced), "{orders:?}");
    assert!(
        orders.values().any(|order| order.starts_with('A'))
            && orders.values().any(|order| order.starts_with('B'))
    );
    let ends = |slices: &[bool]| slices.iter().filter(|stays| !**stays).count();
    assert_eq!(ends(&stays_up), 14, "each variant of a block stops once");
    assert!(stays_up[..2].iter().all(|stays| *stays) && !stays_up[stays_up.len() - 1]);
    assert!(lines[0].starts_with("after 1 block: the ratio of a block varies by at least "), "{lines:?}");
    assert!(lines[2].contains("a verdict is likely after 7 blocks, in about "), "{lines:?}");
    assert!(lines.last().unwrap().starts_with("decided after 7 of at most 24 blocks"), "{lines:?}");
}

#[test]
fn large_difference_is_decided_after_seven_blocks() {
    let (made, lines, _) = run(&in_slices("by: throughput", false), &faster_by(150));
    assert_eq!(orders(&made).len(), 7, "{lines:?}");
    assert!(lines[1].contains("a verdict is likely after 7 blocks"), "{lines:?}");
}

#[test]
fn noisy_slices_increase_pairs_per_block() {
    // The first slice after a start includes the cost of the start.
    let begun = RefCell::new(BTreeSet::new());
    let noisy = |place: &StudyPlace| {
        let is_first = begun.borrow_mut().insert((place.block, n(place)));
        let takes = Duration::from_secs(if is_first { 8 } else { 1 });
        SimulatedRun { takes, ..SimulatedRun::successful(1_000 + u64::from(place.position) * 7_919 % 100) }
    };
    let (made, ..) = run(&in_slices("by: throughput", false), &noisy);
    let orders = orders(&made);
    assert_eq!((orders[&0].len(), orders[&1].len()), (4, 4), "the least, before anything is known");
    assert!(orders.values().any(|order| order.len() > 4), "{orders:?}");
    assert!(orders.values().all(|order| order.len() <= 16 && order.len() % 4 == 0), "{orders:?}");
    let groups: BTreeSet<&str> = orders.values().flat_map(|order| groups(order)).collect();
    assert_eq!(groups, BTreeSet::from(["ABBA", "BAAB", "AABBBBAA", "BBAAAABB"]), "{orders:?}");
}

/// Splits an order into groups: each is balanced, with one slice or two in a row.
fn groups(mut order: &str) -> Vec<&str> {
    let mut groups = Vec::new();
    while !order.is_empty() {
        let known = ["ABBA", "BAAB", "AABBBBAA", "BBAAAABB"];
        let group = known.into_iter().find(|group| order.starts_with(group));
        let (group, rest) = order.split_at(group.unwrap_or_else(|| panic!("{order}")).len());
        groups.push(group);
        order = rest;
    }
    groups
}

#[test]
fn quick_study_forecasts_blocks_for_ten_percent() {
    let (made, lines, _) = run(&in_slices("by: throughput", true), &faster_by(0));
    assert_eq!(orders(&made).len(), 6, "{lines:?}");
    assert!(lines[2].contains("a difference of 10 % shows after 6 blocks, in about "), "{lines:?}");
}

#[test]
fn repeats_interrupted_block_as_a_whole() {
    let (plan, simulate) = (in_slices("by: throughput", false), faster_by(5));
    let (expected, ..) = run(&plan, &simulate);
    for at in 1..=expected.len() {
        for wrong in [None, Some(Interruption::Killed)] {
            let memory = Memory::begun(&plan);
            let mut maker = Maker::new(&memory, &simulate);
            maker.stopped_in = wrong.is_none().then_some(at);
            maker.wrong = wrong.map(|wrong| (at, wrong));
            let _ = run_study(&plan, &memory, &mut maker);
            memory.resume(None);
            // A second interruption occurs in the second repeated slice.
            let mut resumed = Maker::later(&memory, &simulate, Duration::from_secs(3600));
            resumed.wrong = Some((2, Interruption::Killed));
            let _ = run_study(&plan, &memory, &mut resumed);
            memory.resume(None);
            let mut last = Maker::later(&memory, &simulate, Duration::from_secs(7200));
            run_study(&plan, &memory, &mut last).expect("it ends");
            let made = memory.made();
            assert!(
                made.iter().all(|(.., verdict)| *verdict == Some(Verdict::Complete)),
                "{wrong:?} in slice {at}"
            );
            assert_eq!(orders(&made), orders(&expected), "{wrong:?} in slice {at}");
            assert!(memory.are_blocks_of_one_start(), "{wrong:?} in slice {at}");
        }
    }
}

#[test]
fn four_blocks_with_failed_slice_end_comparison() {
    let failing = |place: &StudyPlace| match (place.position % 4, n(place)) {
        (3, _) => SimulatedRun { verdict: Some(Verdict::Aborted), ..SimulatedRun::successful(1) },
        _ => SimulatedRun::successful(1_000),
    };
    let (made, lines, _) = run(&in_slices("by: throughput", false), &failing);
    assert!(orders(&made).len() <= 4, "{lines:?}");
    assert!(lines.last().unwrap().starts_with("given up: "), "{lines:?}");
}
