//! Search for the best in slices, in virtual time: orders, eliminations, forecasts, and resumption.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::fakes::{Interruption, Made, Maker, Memory, SimulatedRun, n, with_text};
use evidence::{StudyPlace, Verdict, stage};
use plan::Study as Plan;
use study::run_study;

/// Returns a plan of four variants: the third is the best, and the fourth is far behind.
fn plan() -> Plan {
    with_text(
        "scenario: [ get: / ]\nload: { users: 1, warm-up: 1s, for: 8s }\nsystems:\n  web: { start: 'web {port} {n}', \
         vary: { n: [1, 2, 3, 4] } }\ncompare: { by: throughput, find: best, interleave: slices }\n",
        false,
    )
}

fn simulate(place: &StudyPlace) -> SimulatedRun {
    let strays = (u64::from(place.position) * 17 + u64::from(place.block) * 7) % 9;
    SimulatedRun::successful([1_000, 990, 1_060, 700][n(place) as usize - 1] + strays)
}

fn run(plan: &Plan) -> (Vec<Made>, Vec<String>, Vec<bool>) {
    let memory = Memory::begun(plan);
    let mut maker = Maker::new(&memory, &simulate);
    run_study(plan, &memory, &mut maker).expect("it ends");
    (memory.made(), maker.lines, maker.stays_up)
}

/// Returns the stage and variant numbers of each block, in the order of its slices.
fn orders(made: &[Made]) -> BTreeMap<u32, (String, String)> {
    let mut orders: BTreeMap<u32, (String, String)> = BTreeMap::new();
    for (stage, block, name, _) in made {
        let (of, order) = orders.entry(*block).or_insert((stage.clone(), String::new()));
        assert_eq!(of, stage);
        order.extend(name.chars().last());
    }
    orders
}

fn variants(order: &str) -> String {
    let mut all: Vec<char> = order.chars().collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().collect()
}

#[test]
fn blocks_have_remaining_variants_in_mirrored_order() {
    let (made, lines, stays_up) = run(&plan());
    let orders = orders(&made);
    for (stage, order) in orders.values() {
        let (half, each) = (order.len() / 2, variants(order).len());
        assert_eq!(order.len(), 4 * each, "four slices of each: {order}");
        for mirrored in [&order[..half], &order[half..]] {
            let (first, second) = mirrored.split_at(each);
            assert_eq!(variants(first).len(), each, "each once: {order}");
            assert_eq!(first, second.chars().rev().collect::<String>(), "{order}");
        }
        assert!([stage::SEARCH_SLICE, stage::CONFIRM_SLICE].contains(&stage.as_str()));
    }
    assert!(orders.values().take(8).all(|(_, order)| variants(order) == "1234"), "{orders:?}");
    let confirming = orders.values().filter(|(stage, _)| stage == stage::CONFIRM_SLICE);
    let confirming: Vec<String> = confirming.map(|(_, order)| variants(order)).collect();
    assert!(!confirming.is_empty() && confirming.iter().all(|who| who == "13"), "{confirming:?}");
    let starts: usize = orders.values().map(|(_, order)| variants(order).len()).sum();
    assert_eq!(
        stays_up.iter().filter(|stays| !**stays).count(),
        starts,
        "each variant of a block stops once"
    );
    assert!(lines[0].starts_with("after 1 block: the best is known in "), "{lines:?}");
    assert!(lines[1].starts_with("after 2 blocks: the best is likely known in about "), "{lines:?}");
    let leaves = lines.iter().filter(|line| line.contains("web n=4 leaves: it is clearly behind"));
    assert_eq!(leaves.count(), 1, "{lines:?}");
    assert!(lines.last().is_some_and(|line| line.contains("the best is web n=3")), "{lines:?}");
}

#[test]
fn variant_that_never_starts_is_eliminated() {
    for number in [1, 3] {
        let failing = |place: &StudyPlace| match n(place) == number {
            true => SimulatedRun { verdict: Some(Verdict::Aborted), ..SimulatedRun::successful(1) },
            false => simulate(place),
        };
        let plan = plan();
        let memory = Memory::begun(&plan);
        let mut maker = Maker::new(&memory, &failing);
        run_study(&plan, &memory, &mut maker).expect("it ends");
        let name = number.to_string();
        let tried: Vec<u32> = orders(&memory.made())
            .into_iter()
            .filter(|(_, (_, order))| order.contains(&name))
            .map(|(block, _)| block)
            .collect();
        assert_eq!(tried, [0, 1, 2, 3], "four tries, and no more");
        let best = if number == 3 { 1 } else { 3 };
        let found = format!("the best is web n={best}");
        assert!(maker.lines.last().is_some_and(|line| line.contains(&found)), "{:?}", maker.lines);
    }
}

#[test]
fn repeats_interrupted_block_as_a_whole() {
    let plan = plan();
    let (expected, ..) = run(&plan);
    for at in (1..=expected.len()).step_by(7) {
        let memory = Memory::begun(&plan);
        let mut maker = Maker::new(&memory, &simulate);
        maker.wrong = Some((at, Interruption::Killed));
        let _ = run_study(&plan, &memory, &mut maker);
        memory.resume(None);
        let mut resumed = Maker::later(&memory, &simulate, Duration::from_secs(3600));
        run_study(&plan, &memory, &mut resumed).expect("it ends");
        let made = memory.made();
        assert!(made.iter().all(|(.., verdict)| *verdict == Some(Verdict::Complete)), "slice {at}");
        assert_eq!(orders(&made), orders(&expected), "slice {at}");
        assert!(memory.are_blocks_of_one_start(), "slice {at}");
    }
}
