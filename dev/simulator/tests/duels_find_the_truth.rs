//! Runs a thousand duels of each kind: error rates and power.
//!
//! Seeds are fixed, and part of every failure message. A procedure with an error rate of 5 % errs in at most 7.07 % of a thousand
//! duels (5 % plus three standard errors), except for one in 700 seeds. Power must be at least the value in the test.

use simulator::trials::{DuelTrial, Duels, duels, duels_of_equal_queues};
use simulator::{Noise, Noisy, Shape};
use stats::{DuelRules, MinEffect};

const SEED: u64 = 20_261;
const DUELS: u32 = 1_000;
/// 5 % of a thousand plus three standard errors.
const WRONG_MAX: u32 = 70;

const RULES: DuelRules = DuelRules {
    matters: MinEffect::share(0.03),
    higher_is_better: true,
    blocks_max: 24,
    pilot_blocks: 0,
    family: 1,
    looks_early: false,
    has_control: false,
};

fn noisy(rules: DuelRules, ratio: f64, noise: Noise) -> Duels {
    duels(&DuelTrial { rules, ratio }, SEED, DUELS, |seed| {
        let mut systems = Noisy::new(vec![100.0 * ratio, 100.0], noise, seed);
        move |side, block| systems.run(side, block)
    })
}

fn noise(of_run: f64, shape: Shape) -> Noise {
    Noise { of_run, of_block: 0.05, wander: 0.0, shape }
}

#[test]
fn false_positive_rate_is_kept_for_any_noise() {
    for (of_run, wander, shape) in [
        (0.02, 0.0, Shape::Normal),
        (0.10, 0.0, Shape::Normal),
        (0.05, 0.0, Shape::Wild),
        (0.05, 0.0, Shape::Lopsided),
        (0.02, 0.02, Shape::Normal),
    ] {
        let found = noisy(RULES, 1.0, Noise { of_run, of_block: 0.05, wander, shape });
        assert_eq!(found.ended, DUELS, "seed {SEED}: {found:?}");
        assert!(found.differs <= WRONG_MAX, "{of_run} {wander} {shape:?}, seed {SEED}: {found:?}");
        assert!(found.covered >= DUELS - WRONG_MAX, "{of_run} {wander} {shape:?}, seed {SEED}: {found:?}");
        assert_eq!(found.differs + found.equivalent + found.inconclusive, DUELS, "seed {SEED}: {found:?}");
    }
}

#[test]
fn quick_mode_keeps_its_error_rate() {
    let found = noisy(DuelRules { blocks_max: 6, ..RULES }, 1.0, noise(0.03, Shape::Normal));
    // One look at six blocks: all six must agree, with probability 2 / 2⁶ = 3.1 %.
    assert!((10..=55).contains(&found.differs), "seed {SEED}: {found:?}");
    assert_eq!(found.blocks, 6 * DUELS);
}

#[test]
fn five_percent_difference_is_found() {
    // Paired log figures have a standard deviation of √2 · 1.4 % = 2 %. The difference is 2.5 times that, and 95 % are found at the
    // first look.
    let found = noisy(RULES, 1.05, noise(0.014, Shape::Normal));
    assert!(found.differs >= 990 && found.wrong == 0, "seed {SEED}: {found:?}");
    assert!(found.covered >= DUELS - WRONG_MAX, "seed {SEED}: {found:?}");
    assert!(found.blocks <= 9 * DUELS, "most need no more than eight blocks, seed {SEED}: {found:?}");
}

#[test]
fn half_a_percent_is_equivalent_at_a_threshold_of_three() {
    let found = noisy(RULES, 1.005, noise(0.014, Shape::Normal));
    assert!(found.equivalent >= 900, "seed {SEED}: {found:?}");
    assert_eq!(found.wild, 0, "no difference is reported that is large, seed {SEED}: {found:?}");
}

#[test]
fn false_positive_rate_is_kept_for_queues() {
    // Short simulated runs of about a thousand requests.
    let found = duels_of_equal_queues(RULES, SEED, 200);
    assert_eq!(found.ended, 200);
    // 5 % of two hundred plus three standard errors: 10 + 9.2.
    assert!(found.differs <= 19, "seed {SEED}: {found:?}");
}
