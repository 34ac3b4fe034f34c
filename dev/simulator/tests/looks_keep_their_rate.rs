//! Error rates of comparisons of equal systems whose starts, machine, or neighbor are not independent within a block.
//!
//! `cargo run --profile checked -p simulator --example error_rates` runs ten thousand of each kind.

use simulator::Shape;
use simulator::trials::{
    Aftereffect, Coupling, CouplingKind, Disturbed, Figure, Interleaved, LoadSchedule, Neighbor, StartShape,
    run_duels,
};
use stats::{DuelRules, MinEffect};

const SEED: u64 = 35;
/// Maximum share of comparisons of equal systems that may find a difference.
const WRONG_SHARE: f64 = 0.05;

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

fn trial(ratio: f64, disturbed: Disturbed, made: LoadSchedule) -> Interleaved {
    Interleaved { rules: RULES, figure: Figure::Throughput, ratio, disturbed, made, start_s: 0.5 }
}

/// Returns disturbances of equal systems, with their names.
fn kinds() -> Vec<(&'static str, Disturbed)> {
    let quiet = Disturbed::normal(0.02, 0.02);
    let coupled = |kind| Disturbed { coupled: Some(Coupling { slower: 2.4, kind }), ..quiet };
    let beside = |mean_s| Disturbed { neighbor: Some(Neighbor { count: 1, mean_s, leaves: 0.6 }), ..quiet };
    vec![
        ("independent, normal", quiet),
        ("independent, heavy tails", Disturbed { shape: StartShape::Of(Shape::Wild), ..quiet }),
        (
            "independent, a factor of four",
            Disturbed { of_start: 0.7, shape: StartShape::TwoValues, ..Disturbed::normal(0.0, 0.02) },
        ),
        ("one start of a block is slow, by chance", coupled(CouplingKind::Either)),
        ("the first start of a block is slow", coupled(CouplingKind::First)),
        ("the first and the second start in turn", coupled(CouplingKind::InTurn)),
        ("drift of a factor of two per hour", Disturbed { drift_per_hour: -0.7, ..quiet }),
        ("neighbor of 0.3 s", beside(0.3)),
        ("neighbor of 3 s", beside(3.0)),
        ("neighbor of 30 s", beside(30.0)),
    ]
}

/// Returns the maximum number of `count` comparisons that may find a difference: three standard errors above [`WRONG_SHARE`].
fn wrong_max(count: u32) -> u32 {
    let count = f64::from(count);
    (WRONG_SHARE * count + 3.0 * (WRONG_SHARE * (1.0 - WRONG_SHARE) * count).sqrt()) as u32
}

#[test]
fn dependent_starts_and_disturbances_keep_the_error_rate() {
    for (kind, disturbed) in kinds() {
        for made in [IN_RUNS, IN_SLICES] {
            let found = run_duels(&trial(1.0, disturbed, made), SEED, 1_000);
            assert!(found.differs <= wrong_max(1_000), "seed {SEED}, {kind}, {made:?}: {}", found.differs);
        }
    }
}

/// Returns disturbances of equal systems where the load on A takes `share` of B's figure for `lasts_s` after it ends.
fn lasting(share: f64, lasts_s: f64) -> Disturbed {
    Disturbed { lasting: Some(Aftereffect { share, lasts_s }), ..Disturbed::normal(0.005, 0.02) }
}

#[test]
fn carry_over_of_any_length_is_no_difference() {
    let as_small_as_the_noise = [(0.03, 0.5), (0.03, 10.0), (0.06, 1.0)];
    for (share, lasts_s) in
        [(0.05, 3.0), (0.47, 3.0), (0.1, 10.0), (0.9, 10.0)].into_iter().chain(as_small_as_the_noise)
    {
        let found = run_duels(&trial(1.0, lasting(share, lasts_s), IN_SLICES), SEED, 500);
        assert!(found.differs <= wrong_max(500), "seed {SEED}, {share} for {lasts_s} s: {}", found.differs);
    }
}
