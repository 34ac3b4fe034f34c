//! Studies in virtual time: orders, time limits, and resumption after an interruption at any moment.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::fakes::{
    Figures, Interruption, Made, Maker, Memory, SimulatedRun, n, of, of_two_systems, search, with_text,
};
use evidence::{Procedure, StudyPlace, Verdict, stage};
use study::{RunStudyError, procedure, run_study};

/// Returns results that grow with the number of the variant and differ between blocks.
pub(crate) fn faster(place: &StudyPlace) -> SimulatedRun {
    SimulatedRun::successful(1_000 + n(place) * 50 + u64::from(place.block * 7 % 5) * 10)
}

/// Returns results of equal variants with pseudorandom differences.
pub(crate) fn alike(place: &StudyPlace) -> SimulatedRun {
    SimulatedRun::successful(
        1_000 + (n(place) * 13 + u64::from(place.block) * 31 + u64::from(place.position) * 17) % 23 * 10,
    )
}

/// Simulates a system with four workers that each serve 100 requests per second for each unit of `n`. At a higher rate,
/// requests wait.
pub(crate) fn four_workers(place: &StudyPlace) -> SimulatedRun {
    let capacity = 400 * n(place);
    let (per_s, response_ms) = match (place.users, place.rate_per_s) {
        (Some(users), _) => {
            let per_s = capacity * u64::from(users.min(4)) / 4;
            (per_s, 1_000 * u64::from(users) / per_s)
        }
        (None, rate) => {
            let per_s = rate.expect("a level") as u64;
            (per_s, if per_s <= capacity { 10 } else { 300 })
        }
    };
    let takes_s = match place.stage.as_str() {
        stage::OVERLOAD => 13,
        stage::SOAK => 11,
        _ => 2,
    };
    SimulatedRun {
        takes: Duration::from_secs(takes_s),
        ..SimulatedRun::of(Figures { per_s, response_ms, busy_percent: None, outage_ms: None })
    }
}

type Draw = fn(&StudyPlace) -> SimulatedRun;

/// Returns a study for each procedure, with the results of its runs.
fn studies() -> Vec<(&'static str, plan::Study, Procedure, Draw)> {
    let by_its_plan = |name, study: plan::Study, simulate: Draw| {
        let procedure = procedure(&study);
        (name, study, procedure, simulate)
    };
    let (searched, capacity) = search("1, 2");
    vec![
        by_its_plan("blocks", of("1, 2, 3", "{ blocks: 4 }"), faster),
        by_its_plan("a decided comparison", of("1, 2", "{ pilot: 2 }"), faster),
        by_its_plan("an open comparison", of("1, 2", "{ pilot: 2, blocks: 8 }"), alike),
        by_its_plan("a search for the best", of("1, 2, 3, 4", "{ find: best }"), faster),
        by_its_plan(
            "the best of each",
            of_two_systems("{ find: best of each, blocks: 2, final: 3 }"),
            faster,
        ),
        ("a search for capacities", searched, capacity, four_workers),
    ]
}

pub(crate) fn verdict(memory: &Memory) -> Option<(Verdict, Option<String>)> {
    memory.ending().map(|ending| (ending.verdict, ending.why))
}

#[test]
fn blocks_have_each_variant_once_in_seeded_order() {
    let study = of("1, 2, 3", "{ blocks: 12 }");
    let memory = Memory::begun(&study);
    let mut orders = Vec::new();
    for seed in [1, 1, 2] {
        let mut study = study.clone();
        study.set_seed(seed);
        memory.begin_again(seed);
        let mut maker = Maker::new(&memory, &faster);
        run_study(&study, &memory, &mut maker).expect("it ends");
        assert_eq!(verdict(&memory), Some((Verdict::Complete, Some("blocks".to_owned()))));
        let made = memory.made();
        for block in made.chunks(3) {
            let mut variants: Vec<&str> = block.iter().map(|(_, _, variant, _)| variant.as_str()).collect();
            variants.sort_unstable();
            assert_eq!(variants, ["1 user n=1", "1 user n=2", "1 user n=3"]);
            assert!(block.iter().all(|(_, number, ..)| *number == block[0].1), "{block:?}");
        }
        let order =
            |block: &[Made]| block.iter().map(|(_, _, variant, _)| variant.clone()).collect::<Vec<_>>();
        let orders_of_blocks: BTreeSet<Vec<String>> = made.chunks(3).map(order).collect();
        assert!(orders_of_blocks.len() > 3, "each block is shuffled by itself: {orders_of_blocks:?}");
        // All variants of a block have the same arrivals, and blocks differ.
        let seeds: Vec<u64> = maker.seeds.chunks(3).map(|seeds| seeds[0]).collect();
        assert!(maker.seeds.chunks(3).all(|block| block.iter().all(|seed| *seed == block[0])));
        assert_eq!((seeds.len(), seeds.iter().collect::<BTreeSet<_>>().len()), (12, 12));
        let ahead = maker.ahead[3];
        assert_eq!((ahead.number, ahead.of, ahead.is_at_most), (3, Some(36), false));
        assert_eq!(ahead.left, Some(Duration::from_secs(66)), "33 runs of two seconds");
        orders.push(made);
    }
    assert_eq!(orders[0], orders[1]);
    assert_ne!(orders[0], orders[2]);
}

/// An interruption of any kind in any run leads to the same result, and repeats only the interrupted run.
#[test]
fn resumes_after_interruption_in_any_run() {
    for (name, study, procedure, simulate) in studies() {
        let memory = Memory::with_procedure(&study, procedure);
        memory.begin_again(study.seed);
        let mut whole = Maker::new(&memory, &simulate);
        run_study(&study, &memory, &mut whole).unwrap_or_else(|_| panic!("{name} ends"));
        let (expected, end, all) = (memory.made(), verdict(&memory), whole.made);
        assert!(all >= 8, "{name}: {all}");
        for at in 0..=all {
            for wrong in [None, Some(Interruption::Killed), Some(Interruption::Rejected)] {
                memory.begin_again(study.seed);
                let mut maker = Maker::new(&memory, &simulate);
                maker.stopped_in = wrong.is_none().then_some(at);
                maker.wrong = wrong.map(|wrong| (at, wrong));
                let ended = run_study(&study, &memory, &mut maker);
                let is_interrupted = at > 0 || wrong.is_none();
                match wrong.filter(|_| is_interrupted) {
                    Some(wrong) => {
                        assert!(matches!(ended, Err(RunStudyError::Run(said)) if said == wrong), "{name}")
                    }
                    None => assert!(ended.is_ok(), "{name}"),
                }
                let kept = verdict(&memory).map(|(verdict, _)| verdict);
                match wrong {
                    _ if !is_interrupted => assert_eq!(kept, Some(Verdict::Complete)),
                    // A killed process stores no ending.
                    Some(Interruption::Killed) => assert_eq!(kept, None),
                    _ => assert_eq!(kept, Some(Verdict::Partial), "{name}, interrupted in run {at}"),
                }
                memory.resume(None);
                let mut resumed = Maker::new(&memory, &simulate);
                run_study(&study, &memory, &mut resumed).unwrap_or_else(|_| panic!("{name} ends"));
                assert_eq!(memory.made(), expected, "{name}, {wrong:?} in run {at}");
                assert_eq!(verdict(&memory), end, "{name}, {wrong:?} in run {at}");
                let again = memory.runs_of_places().iter().filter(|runs| **runs > 1).count();
                assert_eq!(again, usize::from(is_interrupted && at > 0), "{name}, {wrong:?} in run {at}");
            }
        }
    }
}

#[test]
fn study_keeps_time_limit_and_finishes_every_block() {
    let study = of("1, 2, 3", "{ blocks: 5 }");
    let memory = Memory::begun(&study);
    let mut whole = Maker::new(&memory, &faster);
    run_study(&study, &memory, &mut whole).expect("it ends");
    let expected = memory.made();
    for within_s in 1..=32u32 {
        memory.begin_again(study.seed);
        memory.resume(Some(f64::from(within_s)));
        let mut maker = Maker::new(&memory, &faster);
        run_study(&study, &memory, &mut maker).expect("it ends");
        let within = Duration::from_secs(within_s.into());
        // Before the end of the first block, the time of a run in addition to its load is unknown.
        let first = Duration::from_secs(6);
        assert!(maker.elapsed() <= within.max(first), "{within:?}: {:?}", maker.elapsed());
        assert!(maker.made.is_multiple_of(3) || maker.made < 3, "{within:?}: {} runs", maker.made);
        let is_whole = maker.made == 15;
        assert_eq!(is_whole, within_s >= 30, "{within:?}: {} runs", maker.made);
        let is_told = maker.lines.iter().any(|line| line.starts_with("out of time"));
        assert_eq!(is_told, !is_whole, "{:?}", maker.lines);
        let end = if is_whole { (Verdict::Complete, "blocks") } else { (Verdict::Partial, "budget") };
        assert_eq!(verdict(&memory), Some((end.0, Some(end.1.to_owned()))));
        assert!(maker.ahead.iter().all(|ahead| ahead.budget.is_some_and(|left| left <= within)));
        // Given more time, the study makes the missing runs.
        memory.resume(Some(1_000.0));
        let mut resumed = Maker::new(&memory, &faster);
        run_study(&study, &memory, &mut resumed).expect("it ends");
        assert_eq!((memory.made(), maker.made + resumed.made), (expected.clone(), 15));
    }
}

#[test]
fn comparison_ends_when_decided_and_search_ends_with_best() {
    let ends = ["blocks", "decided", "blocks", "decided", "blocks", "decided"];
    for ((name, study, procedure, simulate), why) in studies().into_iter().zip(ends) {
        let memory = Memory::with_procedure(&study, procedure);
        let mut maker = Maker::new(&memory, &simulate);
        run_study(&study, &memory, &mut maker).expect("it ends");
        let end = Some((Verdict::Complete, Some(why.to_owned())));
        assert_eq!(verdict(&memory), end, "{name}: {:?}", maker.lines);
        assert!(memory.made().iter().all(|(.., verdict)| *verdict == Some(Verdict::Complete)));
        let most = maker.ahead[0].of.expect("it can be said");
        assert!(maker.made <= most, "{} of at most {most}", maker.made);
    }
}

#[test]
fn failed_runs_count_and_invalid_blocks_are_replaced() {
    let study = of("1, 2, 3", "{ blocks: 8 }");
    let memory = Memory::begun(&study);
    let simulate = |place: &StudyPlace| SimulatedRun {
        verdict: Some(match (n(place), place.block) {
            (1, _) => Verdict::Aborted,
            (2, 3) => Verdict::Invalid,
            _ => Verdict::Complete,
        }),
        ..faster(place)
    };
    let mut maker = Maker::new(&memory, &simulate);
    run_study(&study, &memory, &mut maker).expect("it ends");
    assert_eq!(maker.made, 27, "eight blocks, and one in place of the fourth");
    assert_eq!(maker.lines, ["3 more runs, in place of blocks with invalid runs"]);
    assert_eq!(verdict(&memory), Some((Verdict::Complete, Some("blocks".to_owned()))));
    assert!(memory.runs_of_places().iter().all(|runs| *runs == 1), "a system that fails, fails again");
}

#[test]
fn run_cut_short_repeatedly_ends_dependent_comparison() {
    let cut_short = |place: &StudyPlace| {
        let simulate = faster(place);
        let is_it = (place.stage.as_str(), place.block, n(place)) == (evidence::stage::BLOCK, 1, 2);
        SimulatedRun { verdict: if is_it { Some(Verdict::Partial) } else { simulate.verdict }, ..simulate }
    };
    let (comparison, blocks) = (of("1, 2", "{ pilot: 0, blocks: 12 }"), of("1, 2, 3", "{ blocks: 3 }"));
    let memory = Memory::begun(&comparison);
    let mut maker = Maker::new(&memory, &cut_short);
    run_study(&comparison, &memory, &mut maker).expect("it ends");
    assert_eq!(memory.runs_of_places().iter().max(), Some(&3));
    assert_eq!(verdict(&memory), Some((Verdict::Partial, None)));
    assert!(maker.lines.iter().any(|line| line.contains("cut short repeatedly")), "{:?}", maker.lines);
    let memory = Memory::begun(&blocks);
    let mut maker = Maker::new(&memory, &cut_short);
    run_study(&blocks, &memory, &mut maker).expect("it ends");
    assert_eq!(memory.runs_of_places(), [1; 9], "no decision hangs on it");
    assert_eq!(
        verdict(&memory),
        Some((Verdict::Partial, None)),
        "it can be made by whoever resumes the study"
    );
}

/// Prints the number of studies that are simulated per second. Asserts only that each study ends.
#[test]
#[allow(clippy::print_stdout, reason = "figures for whoever runs it with --nocapture")]
fn simulates_many_studies_per_second() {
    for (name, mut study, procedure, simulate) in studies() {
        let (memory, mut studies, mut runs) = (Memory::with_procedure(&study, procedure), 0u64, 0);
        // From here on, the figures of its runs are cached in memory.
        memory.begin_again(study.seed);
        run_study(&study, &memory, &mut Maker::new(&memory, &simulate)).expect("it ends");
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(200) {
            study.set_seed(studies);
            memory.begin_again(studies);
            let mut maker = Maker::new(&memory, &simulate);
            run_study(&study, &memory, &mut maker).expect("it ends");
            assert_eq!(verdict(&memory).map(|(verdict, _)| verdict), Some(Verdict::Complete));
            (studies, runs) = (studies + 1, runs + maker.made);
        }
        let per_s = studies as f64 / begun.elapsed().as_secs_f64();
        println!("{name}: {per_s:.0} studies of {} runs a second", runs as u64 / studies);
    }
}

#[test]
fn result_under_one_load_is_reported_once() {
    let study = with_text(
        "scenario: [ get: / ]\nload:\n  - { name: few, users: 1, warm-up: 1s, for: 8s }\n  \
         - { name: many, users: 9, warm-up: 1s, for: 8s }\nsystems:\n  web: { start: 'web {port} {n}', \
         vary: { n: [1, 2] } }\ncompare: { by: throughput }\n",
        false,
    );
    let memory = Memory::begun(&study);
    let simulate = |place: &StudyPlace| match place.load.as_str() {
        "few" => SimulatedRun::successful(1_000 * n(place)),
        _ => faster(place),
    };
    let mut maker = Maker::new(&memory, &simulate);
    run_study(&study, &memory, &mut maker).expect("it ends");
    let is_end_under = |line: &&String, load: &str| line.contains(load) && line.contains("decided");
    let told = ["few", "many"].map(|load| maker.lines.iter().filter(|line| is_end_under(line, load)).count());
    assert_eq!(told, [1, 1], "{:?}", maker.lines);
}

#[test]
fn study_out_of_time_has_its_experiment() {
    let mut study = of("1, 2", "{ blocks: 24, within: 20s }");
    let experiment =
        |within_s: u64| plan::Experiment { within_ns: within_s * 1_000_000_000, ..Default::default() };
    study.experiment = Some(experiment(480));
    let memory = Memory::begun(&study);
    let mut maker = Maker::new(&memory, &alike);
    run_study(&study, &memory, &mut maker).expect("it ends");
    let why = verdict(&memory).and_then(|(_, why)| why);
    assert_eq!(why.as_deref(), Some(evidence::OUT_OF_TIME));
    assert!(maker.lines.iter().any(|line| line.starts_with("experiment on web")), "{:?}", maker.lines);
    let made = memory.made();
    let of_experiment = made.iter().filter(|(stage, ..)| stage == stage::INTERVENTION).count();
    assert!(of_experiment >= 8 * 3, "{:?}", maker.lines);
    assert!(maker.elapsed() > Duration::from_secs(20), "the experiment has time of its own");
}
