//! Comparisons of more than two variants in slices, with known truth: family-wise error rate over all pairs, and power.
//!
//! `cargo run --profile checked -p simulator --example error_rates -- round-robin` prints rates of ten thousand of each kind.

use simulator::Shape;
use simulator::trials::{
    Aftereffect, Coupling, CouplingKind, Disturbed, RoundRobinTrial, RoundRobins, StartShape, round_robins,
};

const SEED: u64 = 35;
const COUNT: u32 = 400;
/// Maximum number of `COUNT` comparisons of equal variants that may find a difference: 5 % and three standard errors.
const WRONG_MAX: u32 = 33;

/// Compares variants in the default number of blocks.
fn compare(truths: &[f64], disturbed: Disturbed) -> RoundRobins {
    let pairs = truths.len() * (truths.len() - 1) / 2;
    let blocks = stats::min_blocks(pairs as u32).max(8);
    round_robins(
        &RoundRobinTrial {
            truths: truths.to_vec(),
            disturbed,
            blocks,
            lone_starts: stats::LONE_STARTS as usize,
        },
        SEED,
        COUNT,
    )
}

#[test]
fn any_pair_of_equal_variants_differs_in_at_most_one_of_twenty() {
    let quiet = Disturbed::normal(0.02, 0.02);
    let coupled = |kind| Disturbed { coupled: Some(Coupling { slower: 2.4, kind }), ..quiet };
    for disturbed in [
        quiet,
        Disturbed { shape: StartShape::Of(Shape::Wild), ..quiet },
        coupled(CouplingKind::Either),
        coupled(CouplingKind::First),
        coupled(CouplingKind::InTurn),
        Disturbed { drift_per_hour: -0.7, ..quiet },
    ] {
        for variants in [3, 5] {
            let wrong = compare(&vec![100.0; variants], disturbed).wrong;
            assert!(wrong <= WRONG_MAX, "seed {SEED}, {variants} variants, {disturbed:?}: {wrong}");
        }
    }
}

#[test]
fn carry_over_of_any_length_is_no_difference_between_many() {
    for (share, lasts_s) in [(0.06, 0.5), (0.06, 3.0), (0.47, 3.0), (0.15, 10.0), (0.9, 10.0)] {
        for variants in [3, 5] {
            let lasting = Some(Aftereffect { share, lasts_s });
            let disturbed = Disturbed { lasting, ..Disturbed::normal(0.005, 0.02) };
            let wrong = compare(&vec![100.0; variants], disturbed).wrong;
            assert!(wrong <= WRONG_MAX, "seed {SEED}, {variants} variants, {share} for {lasts_s} s: {wrong}");
        }
    }
}

#[test]
fn variant_that_differs_by_ten_percent_is_found_among_equal_ones() {
    for truths in [&[100.0, 110.0, 100.0][..], &[100.0, 100.0, 100.0, 100.0, 110.0]] {
        let found = compare(truths, Disturbed::normal(0.005, 0.02));
        assert!(found.found_all * 10 >= COUNT * 8 && found.wrong <= WRONG_MAX, "{truths:?}: {found:?}");
    }
}
