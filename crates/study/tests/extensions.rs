//! Extensions of finished studies: only new blocks are made, the time limit holds, and they can be resumed after an
//! interruption at any time.

use std::time::Duration;

use evidence::{StudyPlace, Verdict, stage};
use study::{Journal, RunStudyError, extend_study, run_study};

use crate::fakes::{Interruption, Made, Maker, Memory, SimulatedRun, n, of};
use crate::virtual_time::{alike, faster, verdict};

/// Finishes a study, and plans its extension to `blocks` blocks. Returns the runs before the extension.
fn extended(
    memory: &Memory,
    study: &plan::Study,
    simulate: &dyn Fn(&StudyPlace) -> SimulatedRun,
    blocks: u32,
) -> Vec<Made> {
    memory.begin_again(study.seed);
    run_study(study, memory, &mut Maker::new(memory, simulate)).expect("it ends");
    let before = memory.made();
    let kept = memory.study().expect("it is kept");
    extend_study(study, &kept, blocks, None, memory).expect("it can be");
    before
}

/// Name, plan, and results of a kind of study, its extended number of blocks, and its numbers of runs before and after.
type Kind = (&'static str, plan::Study, fn(&StudyPlace) -> SimulatedRun, u32, [usize; 2]);

fn kinds() -> [Kind; 2] {
    [
        ("a comparison", of("1, 2", "{ pilot: 2, blocks: 8 }"), alike, 12, [20, 28]),
        ("blocks", of("1, 2, 3", "{ blocks: 6 }"), faster, 9, [18, 27]),
    ]
}

#[test]
fn extension_adds_blocks_and_resumes_after_any_interruption() {
    for (name, study, simulate, blocks, [runs_before, runs_after]) in kinds() {
        let memory = Memory::begun(&study);
        let before = extended(&memory, &study, &simulate, blocks);
        let mut maker = Maker::new(&memory, &simulate);
        run_study(&study, &memory, &mut maker).expect("it ends");
        let whole = memory.made();
        let end = Some((Verdict::Complete, Some("blocks".to_owned())));
        assert_eq!(
            (before.len(), whole.len(), maker.made),
            (runs_before, runs_after, runs_after - runs_before)
        );
        assert_eq!(verdict(&memory), end, "{name}");
        assert_eq!(whole[..runs_before], before, "{name}");
        assert!(memory.runs_of_places().iter().all(|runs| *runs == 1), "{name}");
        for at in 0..=maker.made {
            for wrong in [None, Some(Interruption::Killed), Some(Interruption::Rejected)] {
                extended(&memory, &study, &simulate, blocks);
                let mut maker = Maker::new(&memory, &simulate);
                maker.stopped_in = wrong.is_none().then_some(at);
                maker.wrong = wrong.map(|wrong| (at, wrong));
                let ended = run_study(&study, &memory, &mut maker);
                let is_interrupted = at > 0 || wrong.is_none();
                assert_eq!(
                    matches!(ended, Err(RunStudyError::Run(said)) if Some(said) == wrong),
                    is_interrupted && wrong.is_some(),
                    "{name}, {wrong:?} in run {at}"
                );
                let is_told = memory.ending().map(|ending| ending.verdict);
                match wrong {
                    _ if !is_interrupted => assert_eq!(is_told, Some(Verdict::Complete)),
                    Some(Interruption::Killed) => assert_eq!(is_told, None),
                    _ => assert_eq!(is_told, Some(Verdict::Partial)),
                }
                memory.resume(None);
                run_study(&study, &memory, &mut Maker::new(&memory, &simulate)).expect("it ends");
                assert_eq!(memory.made(), whole, "{name}, {wrong:?} in run {at}");
                assert_eq!(verdict(&memory), end, "{name}, {wrong:?} in run {at}");
                let again = memory.runs_of_places().iter().filter(|runs| **runs > 1).count();
                assert_eq!(again, usize::from(is_interrupted && at > 0), "{name}, {wrong:?} in run {at}");
            }
        }
    }
}

#[test]
fn added_blocks_have_new_orders_and_arrivals() {
    let study = of("1, 2, 3", "{ blocks: 6 }");
    let memory = Memory::begun(&study);
    let before = extended(&memory, &study, &faster, 30);
    let mut maker = Maker::new(&memory, &faster);
    run_study(&study, &memory, &mut maker).expect("it ends");
    let whole = memory.made();
    let mut orders = std::collections::BTreeSet::new();
    for (number, block) in (6..).zip(whole[before.len()..].chunks(3)) {
        assert!(block.iter().all(|(of, at, ..)| (of.as_str(), *at) == (stage::BLOCK, number)), "{block:?}");
        let variants: Vec<&str> = block.iter().map(|(_, _, variant, _)| variant.as_str()).collect();
        let mut sorted = variants.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, ["1 user n=1", "1 user n=2", "1 user n=3"]);
        orders.insert(variants.join(" "));
    }
    assert_eq!((whole.len(), orders.len()), (90, 6), "every order there is");
    let seeds: Vec<u64> = maker.seeds.chunks(3).map(|seeds| seeds[0]).collect();
    assert!(maker.seeds.chunks(3).all(|block| block.iter().all(|seed| *seed == block[0])));
    assert_eq!(seeds.iter().collect::<std::collections::BTreeSet<_>>().len(), 24, "arrivals of their own");
}

#[test]
fn extension_keeps_time_limit_of_whole_study() {
    let study = of("1, 2, 3", "{ blocks: 6 }");
    let memory = Memory::begun(&study);
    // The runs before the extension took 36 s.
    for within_s in 36..=56u32 {
        memory.begin_again(study.seed);
        run_study(&study, &memory, &mut Maker::new(&memory, &faster)).expect("it ends");
        let kept = memory.study().expect("it is kept");
        extend_study(&study, &kept, 9, Some(f64::from(within_s)), &memory).expect("it can be");
        let mut maker = Maker::new(&memory, &faster);
        run_study(&study, &memory, &mut maker).expect("it ends");
        let left = Duration::from_secs(u64::from(within_s - 36));
        assert!(maker.elapsed() <= left, "{within_s}: {:?}", maker.elapsed());
        assert!(maker.made.is_multiple_of(3), "{within_s}: {} runs", maker.made);
        assert_eq!(maker.made == 9, within_s >= 54, "{within_s}: {} runs", maker.made);
        let why = if maker.made == 9 { "blocks" } else { "budget" };
        assert_eq!(verdict(&memory).and_then(|(_, why)| why).as_deref(), Some(why), "{within_s}");
        memory.resume(Some(1_000.0));
        let mut resumed = Maker::new(&memory, &faster);
        run_study(&study, &memory, &mut resumed).expect("it ends");
        assert_eq!((maker.made + resumed.made, memory.made().len()), (9, 27), "{within_s}");
        memory.resume(None);
        memory.no_time_limit();
    }
}

#[test]
fn replaces_invalid_block_of_extension() {
    let study = of("1, 2, 3", "{ blocks: 6 }");
    let memory = Memory::begun(&study);
    let simulate = |place: &StudyPlace| {
        let is_lost = (n(place), place.block) == (2, 7);
        SimulatedRun {
            verdict: Some(if is_lost { Verdict::Invalid } else { Verdict::Complete }),
            ..faster(place)
        }
    };
    extended(&memory, &study, &simulate, 9);
    let mut maker = Maker::new(&memory, &simulate);
    run_study(&study, &memory, &mut maker).expect("it ends");
    assert_eq!(maker.made, 12, "three blocks, and one in place of the second");
    assert_eq!(verdict(&memory), Some((Verdict::Complete, Some("blocks".to_owned()))));
}
