//! Runs a thousand comparisons in slices of each kind: error rates, and comparison with whole runs.
//!
//! Seeds are fixed, and part of every failure message. A procedure with an error rate of 5 % errs in at most 70 of a thousand (5 %
//! plus three standard errors), except for one in 700 seeds.

use simulator::Shape;
use simulator::trials::{Disturbed, Figure, Interleaved, LoadSchedule, Neighbor, StartShape, run_duels};
use stats::{DuelRules, MinEffect};

const SEED: u64 = 20_262;
const DUELS: u32 = 1_000;
const WRONG_MAX: u32 = 70;

const RULES: DuelRules = DuelRules {
    matters: MinEffect::share(0.03),
    higher_is_better: true,
    blocks_max: 24,
    pilot_blocks: 0,
    family: 1,
    looks_early: true,
    has_control: false,
};
const IN_SLICES: LoadSchedule =
    LoadSchedule::InSlices { warm_up_s: 1.0, settle_s: 0.25, slice_s: 1.0, pairs_most: 8 };
const IN_RUNS: LoadSchedule = LoadSchedule::InRuns { warm_up_s: 1.0, measured_s: 8.0 };
const NEIGHBOR: Neighbor = Neighbor { count: 1, mean_s: 3.0, leaves: 0.6 };

fn trial(ratio: f64, disturbed: Disturbed) -> Interleaved {
    Interleaved { rules: RULES, figure: Figure::Throughput, ratio, disturbed, made: IN_SLICES, start_s: 0.5 }
}

fn disturbed(of_start: f64, of_second: f64) -> Disturbed {
    Disturbed::normal(of_start, of_second)
}

#[test]
fn false_positive_rate_is_kept_for_any_split_of_the_variance() {
    let shaped = |shape| Disturbed { shape, ..disturbed(0.05, 0.01) };
    for disturbed in [
        disturbed(0.0, 0.03),
        disturbed(0.005, 0.03),
        disturbed(0.02, 0.02),
        disturbed(0.05, 0.005),
        disturbed(0.05, 0.0),
        shaped(StartShape::Of(Shape::Wild)),
        shaped(StartShape::Of(Shape::Lopsided)),
        shaped(StartShape::TwoValues),
        // Starts that differ by a factor of four.
        Disturbed { of_start: 0.7, shape: StartShape::TwoValues, ..disturbed(0.0, 0.01) },
        Disturbed { neighbor: Some(NEIGHBOR), ..disturbed(0.01, 0.02) },
    ] {
        let found = run_duels(&trial(1.0, disturbed), SEED, DUELS);
        assert!(found.differs <= WRONG_MAX, "seed {SEED}, {disturbed:?}: {found:?}");
        assert!(found.covered >= DUELS - WRONG_MAX, "seed {SEED}, {disturbed:?}: {}", found.covered);
    }
}

#[test]
fn number_of_slices_follows_the_variance() {
    let pairs = |of_start, of_second| run_duels(&trial(1.0, disturbed(of_start, of_second)), SEED, 100).pairs;
    let [starts, both, slices] = [pairs(0.05, 0.005), pairs(0.02, 0.03), pairs(0.0, 0.03)];
    assert!(starts < 2.2 && both > starts && slices > both, "{starts} {both} {slices}");
}

#[test]
fn large_difference_takes_seven_or_eight_blocks() {
    let found = run_duels(&trial(2.5, disturbed(0.03, 0.03)), SEED, DUELS);
    // Seven or eight blocks of two starts, two warm-ups, and four slices.
    assert!(
        found.differs == DUELS && found.wrong == 0 && found.seconds_at(0.9) < 61.0,
        "{:?}",
        found.seconds_at(0.9)
    );
}

#[test]
fn slices_take_less_time_than_runs() {
    let quiet = disturbed(0.005, 0.02);
    let noisy = Disturbed { neighbor: Some(NEIGHBOR), ..quiet };
    let brief = Disturbed { neighbor: Some(Neighbor { count: 1, mean_s: 0.3, leaves: 0.6 }), ..quiet };
    // Columns 3 and 4: max duration relative to whole runs, and min number of two hundred duels that find the difference.
    for (ratio, disturbed, share, found_least) in
        [(1.05, quiet, 0.4, 190), (1.02, quiet, 1.4, 70), (1.05, brief, 1.2, 40), (1.05, noisy, 0.65, 10)]
    {
        let slices = run_duels(&trial(ratio, disturbed), SEED, 200);
        let rules = DuelRules { pilot_blocks: 3, looks_early: false, ..RULES };
        let runs = run_duels(&Interleaved { rules, made: IN_RUNS, ..trial(ratio, disturbed) }, SEED, 200);
        assert_eq!(slices.wrong, 0);
        let medians_s = [slices.seconds_at(0.5), runs.seconds_at(0.5)];
        assert!(medians_s[0] < share * medians_s[1], "seed {SEED}, {ratio}, {disturbed:?}: {medians_s:?}");
        assert!(slices.differs >= found_least, "seed {SEED}, {disturbed:?}: {}", slices.differs);
    }
}

#[test]
fn carry_over_is_detected_instead_of_a_difference() {
    let of = |spills| Disturbed { spills, ..disturbed(0.002, 0.01) };
    // A's delayed work takes a tenth of the machine from B in the slice that follows.
    let spilled = run_duels(&trial(1.0, of(0.1)), SEED, 200);
    assert!(spilled.carried >= 190 && spilled.differs <= 10, "seed {SEED}: {spilled:?}");
    let none = run_duels(&trial(1.0, of(0.0)), SEED, DUELS);
    assert!(none.carried <= 19, "seed {SEED}: {}", none.carried);
}

/// Returns disturbances of a quiet machine with a neighbor that comes and goes.
fn beside(mean_s: f64) -> Disturbed {
    Disturbed { neighbor: Some(Neighbor { count: 1, mean_s, leaves: 0.6 }), ..disturbed(0.005, 0.02) }
}

#[test]
fn control_variate_reduces_noise_without_more_errors() {
    let explained = |ratio, disturbed| {
        let rules = DuelRules { has_control: true, ..RULES };
        Interleaved { rules, ..trial(ratio, disturbed) }
    };
    for mean_s in [0.3, 3.0] {
        let equal = run_duels(&explained(1.0, beside(mean_s)), SEED, DUELS);
        assert!(equal.differs <= WRONG_MAX, "seed {SEED}, {mean_s} s: {}", equal.differs);
        let of = |trial| run_duels(&trial, SEED, 200);
        let [plain, found] = [of(trial(1.05, beside(mean_s))), of(explained(1.05, beside(mean_s)))];
        assert!(found.differs >= 150 && found.wrong == 0, "seed {SEED}, {mean_s} s: {}", found.differs);
        assert!(found.seconds_at(0.5) < 0.6 * plain.seconds_at(0.5), "seed {SEED}, {mean_s} s");
    }
}

#[test]
fn variant_that_affects_the_readings_biases_the_result() {
    let rules = DuelRules { has_control: true, ..RULES };
    let hidden = Disturbed { hides: 0.5, ..beside(3.0) };
    let found = run_duels(&Interleaved { rules, ..trial(1.0, hidden) }, SEED, 200);
    let bias = found.estimates / 200.0;
    assert!(bias < -0.03, "seed {SEED}: {bias}");
}
