//! Comparisons on all machines are seldom wrong, and find large differences.
//!
//! `cargo run --profile checked -p simulator --example grid` runs two thousand comparisons for each cell of the complete grid.

use simulator::trials::{
    Cell, Disturbed, Figure, Interleaved, LoadArrangement, LoadSchedule, MACHINES, OwnDelay, run_duels,
};
use stats::{DuelRules, MinEffect};

const SEED: u64 = 35;
const COUNT: u32 = 200;
/// 5 % of two hundred plus three standard errors.
const WRONG_MAX: u32 = 19;

#[test]
fn equal_systems_differ_seldom_and_ten_percent_is_never_reversed() {
    for machine in MACHINES {
        for (figure, way) in [
            (Figure::Throughput, LoadArrangement::Slices),
            (Figure::P99, LoadArrangement::Slices),
            (Figure::Mean, LoadArrangement::Blocks),
        ] {
            let answers = |planted| Cell { machine, figure, planted, way }.compare(SEED, COUNT);
            let equal = answers(0.0);
            assert!(
                equal.wrong <= WRONG_MAX,
                "seed {SEED}, {}, {figure:?}, {way:?}: {equal:?}",
                machine.name
            );
            let apart = answers(0.1);
            assert_eq!(apart.wrong, 0, "seed {SEED}, {}, {figure:?}, {way:?}: {apart:?}", machine.name);
        }
    }
}

#[test]
fn tenfold_difference_is_found_on_every_machine() {
    for machine in MACHINES {
        let found = Cell { machine, figure: Figure::Throughput, planted: 9.0, way: LoadArrangement::Slices };
        let found = found.compare(SEED, COUNT);
        // Up to 10 % of the duels may be slower: the random order may put one system first in all of seven or eight blocks, which
        // is inconclusive.
        let is_quick = found.right_within_60_s >= COUNT - COUNT / 10;
        assert!(found.right == COUNT && is_quick, "seed {SEED}, {}: {found:?}", machine.name);
    }
}

/// Returns a comparison of equal systems, or with A ahead by the share `planted`. The generator may take the shares `most` from
/// runs of A and of B.
fn disturbed_by_generator(planted: f64, most: [f64; 2]) -> Interleaved {
    let rules = DuelRules {
        matters: MinEffect::share(0.03),
        higher_is_better: true,
        blocks_max: 24,
        pilot_blocks: 0,
        family: 1,
        looks_early: false,
        has_control: false,
    };
    let disturbed = Disturbed { generator: Some(OwnDelay { most }), ..Disturbed::normal(0.005, 0.01) };
    let made = LoadSchedule::InRuns { warm_up_s: 1.0, measured_s: 8.0 };
    Interleaved { rules, figure: Figure::Throughput, ratio: 1.0 + planted, disturbed, made, start_s: 0.5 }
}

#[test]
fn generator_that_disturbs_one_system_more_makes_no_difference() {
    // On average, the generator makes A measure about 5 % below B.
    let found = run_duels(&disturbed_by_generator(0.0, [0.15, 0.0]), SEED, COUNT);
    assert!(found.differs <= WRONG_MAX, "seed {SEED}: {}", found.differs);
    let found = run_duels(&disturbed_by_generator(0.3, [0.15, 0.0]), SEED, COUNT);
    assert_eq!((found.differs, found.wrong), (COUNT, 0), "the worst case decides");
}
