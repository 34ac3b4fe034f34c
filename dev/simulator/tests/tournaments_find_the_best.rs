//! Runs a thousand best-of searches among eight variants, with and without a best variant.
//!
//! Seeds are fixed, and part of every failure message. The procedure finds the best with a probability of 95 % if it leads by the
//! threshold.

use simulator::trials::{TournamentTrial, Tournaments, tournaments};
use simulator::{Noise, Noisy, Shape};
use stats::TournamentRules;

const SEED: u64 = 20_263;
const TOURNAMENTS: u32 = 1_000;
const SETTINGS: usize = 8;

fn play(truths: [f64; SETTINGS], best: Option<usize>, noise: Noise, higher_is_better: bool) -> Tournaments {
    let rules = TournamentRules {
        settings: SETTINGS,
        matters: 0.03,
        higher_is_better,
        blocks_max: 24,
        incumbent: None,
        has_confirmation: true,
    };
    tournaments(&TournamentTrial { rules, best }, SEED, TOURNAMENTS, |seed| {
        let mut systems = Noisy::new(truths.to_vec(), noise, seed);
        move |setting, block| systems.run(setting, block)
    })
}

fn noise(of_run: f64, shape: Shape) -> Noise {
    Noise { of_run, of_block: 0.05, wander: 0.0, shape }
}

/// Returns true figures where variant 5 leads all others by a share.
fn leading_by(share: f64) -> [f64; SETTINGS] {
    let mut truths = [100.0; SETTINGS];
    truths[5] *= 1.0 + share;
    truths
}

#[test]
fn best_of_eight_is_named() {
    for shape in [Shape::Normal, Shape::Wild, Shape::Lopsided] {
        let found = play(leading_by(0.05), Some(5), noise(0.014, shape), true);
        assert_eq!(found.ended, TOURNAMENTS, "seed {SEED}: {found:?}");
        assert!(found.right >= 930, "{shape:?}, seed {SEED}: {found:?}");
        assert!(found.confirmed >= 900, "{shape:?}, seed {SEED}: {found:?}");
    }
}

#[test]
fn lowest_latency_is_the_best() {
    let found = play(leading_by(-0.05), Some(5), noise(0.014, Shape::Normal), false);
    assert!(found.right >= 930, "seed {SEED}: {found:?}");
}

#[test]
fn equal_variants_have_no_confirmed_winner() {
    let found = play([100.0; SETTINGS], None, noise(0.014, Shape::Normal), true);
    assert_eq!(found.ended, TOURNAMENTS, "seed {SEED}: {found:?}");
    // 5 % plus three standard errors: 7.07 %.
    assert!(found.right >= 930, "seed {SEED}: {found:?}");
}
