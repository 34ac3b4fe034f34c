//! Procedures resume from a stored study: replaying its runs restores their state.

use crate::stored::{BLOCK, Queue, Stored, place};
use evidence::{CapacityRules, Procedure, SliceRules, StudyId, StudyPlace, stage};
use judge::{ComparedBy, Setting, duel, search, settings, tournament};
use stats::{At, DuelEnd, DuelStep, LevelRunResult, SearchStep, TournamentStep};

fn setting(system: &str) -> Setting {
    Setting { system: system.to_owned(), variant: String::new() }
}

fn throughput() -> ComparedBy {
    ComparedBy::named("throughput").unwrap()
}

/// Returns a short load at the given rate.
fn at(rate_per_s: u64) -> Queue {
    Queue { rate_per_s, service_ns: 100_000, warm_up_s: 0, measured_s: 2, ..Queue::default() }
}

fn duel_of(stored: &Stored, study: &StudyId) -> stats::Duel {
    duel(&stored.load(study), "steady", [&setting("a"), &setting("b")], &throughput()).unwrap().unwrap()
}

/// Returns the places of one block of both systems.
fn block(next: &mut u32, number: u32) -> [StudyPlace; 2] {
    let systems = if number.is_multiple_of(2) { ["a", "b"] } else { ["b", "a"] };
    systems.map(|system| {
        let place = place(*next, number, BLOCK, system);
        *next += 1;
        place
    })
}

#[test]
fn duel_continues_block_by_block_until_decided() {
    let stored = Stored::new();
    let pilot = [place(0, 1, stage::PILOT, "a"), place(1, 1, stage::PILOT, "a")];
    let study = stored.study(
        Procedure::Duel { pilot_blocks: 1, looks_early: false, slices: None },
        24,
        pilot.to_vec(),
    );
    assert_eq!(duel_of(&stored, &study).next(), DuelStep::Pilot { block: 1 });
    stored.run(Some((&study, &pilot[0])), Some(&at(200)), &crate::stored::ending());
    assert_eq!(duel_of(&stored, &study).next(), DuelStep::Pilot { block: 1 }, "half a block says nothing");
    stored.run(Some((&study, &pilot[1])), Some(&at(202)), &crate::stored::ending());
    assert_eq!(duel_of(&stored, &study).next(), DuelStep::Block { block: 1 });
    let mut next = 2;
    for number in 1..=8 {
        let places = block(&mut next, number);
        stored.store.plan_more(&study, &places).unwrap();
        for place in &places {
            let queue = at(if place.system == "a" { 220 + u64::from(number) } else { 200 });
            stored.run(Some((&study, place)), Some(&queue), &crate::stored::ending());
        }
    }
    let duel = duel_of(&stored, &study);
    assert_eq!((duel.next(), duel.blocks().len()), (DuelStep::Over(DuelEnd::Decided), 8));
    let found = duel.finding();
    assert!(matches!(found.verdict, stats::Verdict::Differs { .. }), "{found:?}");
    assert!(found.estimate.unwrap() > 1.1);
    // Configurations may be given in either order, or a load may have none.
    let study = stored.load(&study);
    let other =
        judge::duel(&study, "steady", [&setting("b"), &setting("a")], &throughput()).unwrap().unwrap();
    assert!(other.finding().estimate.unwrap() < 0.95);
    assert_eq!(settings(&study, "steady"), [setting("a"), setting("b")]);
    assert_eq!(settings(&study, "another load"), []);
    let none = judge::duel(&study, "another load", [&setting("a"), &setting("b")], &throughput()).unwrap();
    assert_eq!(none.unwrap().next(), DuelStep::Pilot { block: 1 });
}

#[test]
fn percentile_of_the_tail_is_of_all_slices_of_a_start_together() {
    let stored = Stored::new();
    let rules = SliceRules {
        slice_s: 1.0,
        settle_s: 0.25,
        warm_up_s: 1.0,
        pairs_most: 4,
        pauses_idle: false,
        has_control: false,
        has_full_blocks: true,
    };
    let study = stored.study(
        Procedure::Duel { pilot_blocks: 0, looks_early: true, slices: Some(rules) },
        24,
        Vec::new(),
    );
    let ending = evidence::Ending { window_ns: Some(1_000_000_000), ..crate::stored::ending() };
    // One slice of `b` stalls. A slice has 3,000 samples, and a verdict on its p99 takes 10,000.
    let mut next = 0;
    for (block, order) in [(0, "abbaabba"), (1, "abba")] {
        let slices = order
            .char_indices()
            .map(|(at, system)| (place(next + at as u32, block, stage::SLICE, &system.to_string()), at == 1));
        let slices: Vec<(StudyPlace, bool)> = slices.collect();
        next += slices.len() as u32;
        stored
            .store
            .plan_more(&study, &slices.iter().map(|(place, _)| place.clone()).collect::<Vec<_>>())
            .unwrap();
        for (place, stalls) in &slices {
            let queue = Queue {
                rate_per_s: 3_000,
                service_ns: 100_000,
                warm_up_s: 0,
                measured_s: 1,
                stall: stalls.then_some((300_000_000, 200_000_000)),
                ..Queue::default()
            };
            stored.run(Some((&study, place)), Some(&queue), &ending);
        }
    }
    let by = ComparedBy::named("p99").unwrap();
    let duel = duel(&stored.load(&study), "steady", [&setting("a"), &setting("b")], &by).unwrap().unwrap();
    let [[a, b]] = duel.blocks() else { panic!("the second block has too few samples: {:?}", duel.blocks()) };
    let (a_ms, b_ms) = (a.value().unwrap() / 1e6, b.value().unwrap() / 1e6);
    assert!(a_ms < 0.2 && b_ms > 50.0, "{a_ms} ms, {b_ms} ms: no mean of percentiles");
}

#[test]
fn invalid_run_discards_its_block_and_cut_short_run_is_awaited() {
    let stored = Stored::new();
    let (mut next, mut places) = (0, Vec::new());
    (1..=3).for_each(|number| places.extend(block(&mut next, number)));
    let study = stored.study(
        Procedure::Duel { pilot_blocks: 0, looks_early: false, slices: None },
        24,
        places.clone(),
    );
    stored.run(Some((&study, &places[0])), Some(&at(200)), &crate::stored::invalid());
    stored.run(Some((&study, &places[1])), Some(&at(200)), &crate::stored::ending());
    stored.run(Some((&study, &places[2])), Some(&at(200)), &crate::stored::ending());
    stored.run(Some((&study, &places[3])), Some(&at(200)), &crate::stored::cut_short());
    let duel = duel_of(&stored, &study);
    assert_eq!((duel.next(), duel.blocks().len()), (DuelStep::Block { block: 2 }, 0));
    assert_eq!(duel.discards().first + duel.discards().second, 1);
    // The study continued without the run, so it counts as missing.
    stored.run(Some((&study, &places[4])), Some(&at(200)), &crate::stored::ending());
    assert_eq!(duel_of(&stored, &study).next(), DuelStep::Block { block: 3 });
    // The study was given up, so places without a run count as missing.
    stored.end(&study, Some("budget"));
    assert_eq!(duel_of(&stored, &study).next(), DuelStep::Block { block: 4 });
}

#[test]
fn study_of_plain_blocks_has_no_duel_tournament_or_search() {
    let stored = Stored::new();
    let mut next = 0;
    let study = stored.study(Procedure::Blocks, 8, block(&mut next, 0).to_vec());
    let study = stored.load(&study);
    let both = [setting("a"), setting("b")];
    assert!(duel(&study, "steady", [&both[0], &both[1]], &throughput()).unwrap().is_none());
    assert!(tournament(&study, "steady", &both, &throughput()).unwrap().is_none());
    let load_run = |id: &evidence::RunId| Ok(stored.store.load(id)?);
    assert!(search(&study, "steady", &both[0], &load_run).unwrap().is_none());
}

#[test]
fn tournament_continues_with_the_remaining_configurations() {
    const SYSTEMS: [&str; 3] = ["a", "b", "c"];
    let stored = Stored::new();
    let study =
        stored.study(Procedure::Best { incumbent: Some("c".to_owned()), slices: None }, 24, Vec::new());
    let all = SYSTEMS.map(setting);
    let now = || tournament(&stored.load(&study), "steady", &all, &throughput()).unwrap().unwrap();
    let (mut next, mut stages) = (0, Vec::new());
    for _ in 0..40 {
        let TournamentStep::Block { block, stage, of } = now().next() else { break };
        let stage = match stage {
            stats::TournamentStage::Halving(_) => stage::HALVING,
            stats::TournamentStage::Search => stage::SEARCH,
            stats::TournamentStage::Confirm => stage::CONFIRM,
        };
        stages.push(stage);
        let places: Vec<StudyPlace> =
            (next..).zip(of).map(|(position, of)| place(position, block, stage, SYSTEMS[of])).collect();
        next += places.len() as u32;
        stored.store.plan_more(&study, &places).unwrap();
        for place in &places {
            let rate = match place.system.as_str() {
                "b" => 260,
                "a" => 200,
                _ => 220,
            };
            stored.run(
                Some((&study, place)),
                Some(&at(rate + u64::from(block) % 3)),
                &crate::stored::ending(),
            );
        }
    }
    let found = now().finding();
    assert_eq!(found.end, Some(stats::TournamentEnd::Decided), "{found:?}");
    assert_eq!((found.best, found.rival), (Some(1), Some(2)));
    assert!(found.confirmed.is_some_and(|confirmed| confirmed.estimate.is_some()), "{stages:?}");
    assert_eq!((stages.first(), stages.last()), (Some(&stage::SEARCH), Some(&stage::CONFIRM)));
}

#[test]
fn search_finds_the_capacity_of_a_queue() {
    // One request takes 2 ms, so the capacity is 500 per second.
    const SERVICE_NS: u64 = 2_000_000;
    let stored = Stored::new();
    let rules = CapacityRules {
        slos: vec!["p50<20ms, errors<1%".to_owned()],
        resolution: 0.1,
        from_per_s: None,
        to_per_s: None,
        confirm_runs: 1,
        overruled_by: 3,
        has_overload: false,
        soak_s: None,
        runs_max: 60,
    };
    let study = stored.study(Procedure::Capacity(rules), 1, Vec::new());
    let load_run = |id: &evidence::RunId| Ok(stored.store.load(id)?);
    let now = || search(&stored.load(&study), "steady", &setting("a"), &load_run).unwrap().unwrap();
    for position in 0..60 {
        let SearchStep::Run(level) = now().next() else { break };
        let (users, rate_per_s) = match level.at {
            At::Users(users) => (Some(users), None),
            At::PerS(per_s) => (None, Some(per_s)),
        };
        let place = crate::stored::level(position, judge::stage_name(level.stage), users, rate_per_s);
        assert_eq!(judge::level(&place), Some(level));
        stored.store.plan_more(&study, std::slice::from_ref(&place)).unwrap();
        // The capacity is reached with any number of users.
        let rate_per_s = rate_per_s.map_or(490, |rate| rate.round() as u64);
        let queue = Queue { rate_per_s, service_ns: SERVICE_NS, measured_s: 8, ..Queue::default() };
        stored.run(Some((&study, &place)), Some(&queue), &crate::stored::ending());
    }
    let found = now().finding();
    assert_eq!(found.end, Some(stats::SearchEnd::Found), "{found:?}");
    let (held, failed) = (found.held_per_s.unwrap(), found.failed_per_s.unwrap());
    assert!(held <= 505.0 && failed >= 500.0 && failed / held < 1.11, "{found:?}");
    assert!(found.ceiling_per_s.is_some_and(|ceiling| (450.0..510.0).contains(&ceiling)));
}

#[test]
fn search_with_unreadable_conditions_passes_no_rate() {
    let stored = Stored::new();
    let rules = CapacityRules {
        slos: vec!["happiness>9000".to_owned()],
        resolution: -1.0,
        from_per_s: Some(100.0),
        to_per_s: Some(1.0),
        confirm_runs: u32::MAX,
        overruled_by: 3,
        has_overload: true,
        soak_s: None,
        runs_max: u32::MAX,
    };
    let places: Vec<StudyPlace> =
        (0..4).map(|position| crate::stored::level(position, stage::BRACKET, None, Some(1.0))).collect();
    let study = stored.study(Procedure::Capacity(rules), 1, places.clone());
    for place in &places {
        stored.run(Some((&study, place)), Some(&at(1)), &crate::stored::ending());
    }
    let load_run = |id: &evidence::RunId| Ok(stored.store.load(id)?);
    let search = search(&stored.load(&study), "steady", &setting("a"), &load_run).unwrap().unwrap();
    assert_eq!(search.finding().held_per_s, None);
    let said = judge::judge_level(
        &stored.run(None, Some(&at(10)), &crate::stored::invalid()),
        &stats::Level { stage: stats::SearchStage::Sizing, at: At::Users(1) },
        &[],
    );
    assert_eq!(said.unwrap().judged, LevelRunResult::Invalid);
}

/// Order of the slices in 8 blocks of three variants, in which `c` never comes first.
const ORDERS: [&str; 8] = ["abccba", "baccab", "abccba", "baccab", "acbbca", "bcaacb", "abccba", "bcaacb"];

/// Stores a comparison of three variants in slices, with a block for each of `orders`: `c` answers 20 % faster than `a`, and `b` as
/// fast. `alone` starts follow.
fn three_in_slices(stored: &Stored, blocks_max: u32, orders: &[&str], alone: usize) -> StudyId {
    let slices = SliceRules {
        slice_s: 1.0,
        settle_s: 0.25,
        warm_up_s: 1.0,
        pairs_most: 2,
        pauses_idle: false,
        has_control: false,
        has_full_blocks: false,
    };
    let blocks = orders.iter().map(|order| (stage::SLICE, *order));
    let alone = ["a", "b", "c"].into_iter().cycle().take(alone).map(|system| (stage::CONFIRM_SLICE, system));
    let mut places: Vec<StudyPlace> = Vec::new();
    for ((stage, order), number) in blocks.chain(alone).zip(0..) {
        for system in order.chars() {
            places.push(place(places.len() as u32, number, stage, &system.to_string()));
        }
    }
    let study = stored.study(Procedure::RoundRobin { pairs: 3, slices }, blocks_max, places.clone());
    let ending = evidence::Ending { window_ns: Some(1_000_000_000), ..crate::stored::ending() };
    for place in &places {
        let strays = u64::from(place.position * 17 + place.block * 7) % 5;
        let service_ns = if place.system == "c" { 80_000 } else { 100_000 } + 1_000 * strays;
        let queue = Queue { service_ns, warm_up_s: 0, measured_s: 1, ..Queue::default() };
        stored.run(Some((&study, place)), Some(&queue), &ending);
    }
    study
}

#[test]
fn pair_of_three_in_slices_needs_first_slices_of_its_own() {
    let stored = Stored::new();
    for is_confirmed in [false, true] {
        let study = stored.load(&three_in_slices(&stored, 8, &ORDERS, if is_confirmed { 12 } else { 0 }));
        let of = |pair: [&str; 2]| {
            let [a, b] = pair.map(setting);
            duel(&study, "steady", [&a, &b], &ComparedBy::named("mean").unwrap()).unwrap().unwrap()
        };
        let (equal, apart) = (of(["a", "b"]), of(["a", "c"]));
        assert_eq!([&equal, &apart].map(|duel| (duel.rules().family, duel.blocks().len())), [(3, 8); 2]);
        assert!(!matches!(equal.finding().verdict, stats::Verdict::Differs { .. }), "{:?}", equal.finding());
        let differs = matches!(apart.finding().verdict, stats::Verdict::Differs { .. });
        assert_eq!(
            (differs, apart.is_withheld()),
            (is_confirmed, !is_confirmed),
            "{:?}",
            apart.first_slices()
        );
        let end = if is_confirmed { DuelEnd::Decided } else { DuelEnd::OutOfBlocks };
        assert_eq!(apart.next(), DuelStep::Over(end));
    }
}

#[test]
fn block_without_a_variant_that_has_left_is_none_of_its_pairs() {
    let stored = Stored::new();
    let orders = [&ORDERS[..], &["abba", "baab", "abba", "baab"]].concat();
    let of = |study: &StudyId, pair: [&str; 2]| {
        let [a, b] = pair.map(setting);
        let by = ComparedBy::named("mean").unwrap();
        let duel = duel(&stored.load(study), "steady", [&a, &b], &by).unwrap().unwrap();
        (duel.blocks().len(), duel.next())
    };
    let open = three_in_slices(&stored, 24, &orders, 0);
    assert_eq!(of(&open, ["a", "c"]), (8, DuelStep::Block { block: 9 }));
    let full = three_in_slices(&stored, 8, &orders, 0);
    assert_eq!(of(&full, ["a", "c"]), (8, DuelStep::Over(DuelEnd::OutOfBlocks)));
    stored.end(&full, Some("blocks"));
    stored.store.extend_study(&stored.load(&full), None, 25, &[]).unwrap();
    assert_eq!(of(&full, ["a", "c"]), (8, DuelStep::Block { block: 9 }));
    assert_eq!(of(&full, ["a", "b"]).0, 12);
}
