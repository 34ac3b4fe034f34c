//! Searches for a capacity, in virtual time: results, orders, and time limits.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use evidence::{Verdict, stage};
use judge::Setting;
use stats::SearchEnd;
use study::{Journal, run_study};

use crate::fakes::{Maker, Memory, search};
use crate::virtual_time::{four_workers, verdict};

#[test]
fn finds_planted_capacity_of_every_variant() {
    let (study, procedure) = search("1, 2, 5");
    let memory = Memory::with_procedure(&study, procedure);
    let mut maker = Maker::new(&memory, &four_workers);
    run_study(&study, &memory, &mut maker).expect("it ends");
    assert_eq!(verdict(&memory), Some((Verdict::Complete, Some("decided".to_owned()))));
    let kept = memory.study().expect("it is kept");
    for n in [1, 2, 5] {
        let setting = Setting { system: "web".to_owned(), variant: format!("n={n}") };
        let found = judge::search(&kept, &study.loads[0].name, &setting, &|run| Ok(memory.run(run)?));
        let found = found.expect("runs").expect("a search").finding();
        let capacity = f64::from(400 * n);
        let (held, failed) = (found.held_per_s.expect("it held"), found.failed_per_s.expect("it failed"));
        assert!(held <= capacity && capacity < failed && failed / held <= 1.031, "{held} {failed}");
        assert_eq!((found.is_confirmed, found.recovers, found.soaked), (true, Some(true), Some(true)));
        assert_eq!((found.end, found.ceiling_per_s), (Some(SearchEnd::Found), Some(capacity)));
        let told = format!("n={n}, so far it lies between");
        assert!(maker.lines.iter().any(|line| line.contains(&told)), "{:?}", maker.lines);
    }
    for stage in [stage::SIZING, stage::BRACKET, stage::BISECT, stage::CONFIRM, stage::OVERLOAD, stage::SOAK]
    {
        assert!(kept.new.planned.iter().any(|place| place.stage == stage), "{stage}");
    }
}

#[test]
fn rounds_have_each_open_variant_once_in_seeded_order() {
    let (study, procedure) = search("1, 2, 5");
    let memory = Memory::with_procedure(&study, procedure);
    let mut made = Vec::new();
    for seed in [1, 1, 2] {
        let mut study = study.clone();
        study.set_seed(seed);
        memory.begin_again(seed);
        let mut maker = Maker::new(&memory, &four_workers);
        run_study(&study, &memory, &mut maker).expect("it ends");
        let planned = memory.study().expect("it is kept").new.planned;
        let mut rounds: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
        for place in &planned {
            rounds.entry(place.block).or_default().push(&place.variant);
        }
        assert!(planned.is_sorted_by_key(|place| place.block), "a round after the other");
        let orders: BTreeSet<&Vec<&str>> = rounds.values().filter(|round| round.len() == 3).collect();
        assert!(orders.len() > 3, "each round is shuffled by itself: {orders:?}");
        for variants in rounds.values() {
            assert_eq!(variants.iter().collect::<BTreeSet<_>>().len(), variants.len());
        }
        // All runs of a round have the same arrivals, and rounds differ.
        let of_arrivals = |run: &usize| maker.amounts[*run].as_ref().map(|amount| amount.seed);
        let seeds = (0..planned.len()).map(|run| (planned[run].block, of_arrivals(&run)));
        let seeds: BTreeSet<(u32, Option<u64>)> = seeds.collect();
        assert_eq!(seeds.len(), rounds.len());
        assert_eq!(seeds.iter().map(|(_, seed)| seed).collect::<BTreeSet<_>>().len(), rounds.len());
        made.push(planned);
    }
    assert_eq!(made[0], made[1]);
    assert_ne!(made[0], made[2]);
}

#[test]
fn search_keeps_time_limit_and_finishes_every_round() {
    let (study, procedure) = search("1, 2");
    let memory = Memory::with_procedure(&study, procedure);
    let mut whole = Maker::new(&memory, &four_workers);
    run_study(&study, &memory, &mut whole).expect("it ends");
    let (expected, takes) = (memory.made(), whole.elapsed());
    let takes_s = takes.as_secs() as u32;
    for within_s in (4..takes_s + 24).step_by(3) {
        memory.begin_again(study.seed);
        memory.resume(Some(f64::from(within_s)));
        let mut maker = Maker::new(&memory, &four_workers);
        run_study(&study, &memory, &mut maker).expect("it ends");
        let within = Duration::from_secs(within_s.into());
        assert!(maker.elapsed() <= within, "{within:?}: {:?}", maker.elapsed());
        let kept = memory.study().expect("it is kept");
        let is_whole = maker.made == whole.made;
        assert!(is_whole || within < takes + Duration::from_secs(24), "{within:?}: {} runs", maker.made);
        let why = if is_whole { "decided" } else { "budget" };
        assert_eq!(verdict(&memory).and_then(|(_, why)| why).as_deref(), Some(why), "{within:?}");
        let missing: BTreeSet<u32> = kept.missing().map(|place| place.block).collect();
        let begun = kept.runs.iter().filter_map(|run| Some(run.new.place.as_ref()?.1.block));
        assert!(
            begun.into_iter().all(|block| !missing.contains(&block)),
            "{within:?}: a round was cut short"
        );
        // Given more time, the search makes the missing runs.
        memory.resume(Some(10_000.0));
        let mut resumed = Maker::new(&memory, &four_workers);
        run_study(&study, &memory, &mut resumed).expect("it ends");
        assert_eq!((memory.made(), maker.made + resumed.made), (expected.clone(), whole.made), "{within:?}");
    }
}
