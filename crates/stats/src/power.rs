//! Power of the looks of a duel, from simulations of whole duels with normal noise.

use alloc::vec::Vec;
use core::array;

use crate::chance::Chance;
use crate::duel::DuelRules;
use crate::look::{EARLY, LOOKS, Look, looks};
use crate::walsh::Walsh;

/// Differences that a duel finds with 90 % power if it ends at this look or earlier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Power {
    /// Number of blocks at the look.
    pub(crate) blocks: u32,
    /// Smallest detectable difference, in standard deviations.
    pub(crate) found_from: f64,
    /// Smallest threshold within which equal systems are called equivalent, in standard deviations.
    pub(crate) equivalent_from: f64,
}

/// Number of simulated duels. It gives both values to about 1 % in some tens of milliseconds.
const DUELS: usize = 4_000;
/// Fixed seed, so that forecasts are reproducible. Its results are within 1 % of those of 400,000 duels.
const SEED: u64 = 25;
const BLOCKS_MAX: usize = LOOKS[LOOKS.len() - 1].blocks as usize;

/// Returns the power of each look, in order, of a duel with these rules.
///
/// A difference only shifts an interval. So a simulated duel without a difference shows which differences it would have found.
pub(crate) fn power(rules: &DuelRules) -> Vec<Power> {
    let early = rules.has_early_look().then_some(EARLY);
    let looks: Vec<Look> = early.into_iter().chain(looks(rules.blocks_max as usize, rules.family)).collect();
    let known = if early.is_some() { &SINGLE_WITH_EARLY_LOOK[..] } else { &SINGLE[..] };
    // A larger family has looks at the same numbers of blocks, but stricter ones.
    let known =
        |look: &Look| known.iter().find(|known| rules.family <= 1 && known.blocks == look.blocks).copied();
    looks.iter().map(known).collect::<Option<Vec<Power>>>().unwrap_or_else(|| simulate(&looks))
}

/// Precomputed power of a single comparison, so that its forecast is available immediately.
const SINGLE: [Power; 5] = [
    Power { blocks: 6, found_from: 2.117_860_448_450_813, equivalent_from: 2.522_484_857_907_891_3 },
    Power { blocks: 8, found_from: 2.222_963_717_662_077_3, equivalent_from: 2.513_657_925_278_944_4 },
    Power { blocks: 12, found_from: 1.300_794_940_186_31, equivalent_from: 1.459_488_788_322_66 },
    Power { blocks: 16, found_from: 1.072_965_159_376_256_1, equivalent_from: 1.193_547_407_103_887_6 },
    Power { blocks: 24, found_from: 0.833_885_234_100_848_1, equivalent_from: 0.943_212_171_566_442_1 },
];

/// Precomputed power of a single comparison with the look [`EARLY`].
const SINGLE_WITH_EARLY_LOOK: [Power; 5] = [
    Power { blocks: 7, found_from: 2.180_604_327_023_822_5, equivalent_from: 2.508_342_165_329_999_3 },
    Power { blocks: 8, found_from: 2.180_604_327_023_822_5, equivalent_from: 2.508_342_165_329_999_3 },
    Power { blocks: 12, found_from: 1.295_265_216_647_070_2, equivalent_from: 1.464_815_873_676_413_2 },
    Power { blocks: 16, found_from: 1.069_408_729_204_818_2, equivalent_from: 1.201_659_684_431_876_8 },
    Power { blocks: 24, found_from: 0.830_472_585_103_839_9, equivalent_from: 0.949_763_767_074_222_3 },
];

/// Simulates the duels.
fn simulate(looks: &[Look]) -> Vec<Power> {
    let mut least: Vec<[Vec<f64>; 2]> = looks.iter().map(|_| [Vec::new(), Vec::new()]).collect();
    let mut chance = Chance::of(SEED);
    for _ in 0..DUELS {
        let noise: [f64; BLOCKS_MAX] = array::from_fn(|_| chance.normal());
        let [mut upwards, mut downwards, mut within] = [f64::INFINITY; 3];
        let mut differs = false;
        for (look, [found, equivalent]) in looks.iter().zip(&mut least) {
            let judged = &noise[..look.blocks as usize];
            let Some([low, high]) = Walsh::interval_without_sorting(judged, look.critical) else { continue };
            (upwards, downwards) = (upwards.min(-low), downwards.min(high));
            found.extend([upwards, downwards]);
            // A duel that is wrongly decided here has no later look.
            differs |= low > 0.0 || high < 0.0;
            if !differs {
                within = within.min(high.max(-low));
            }
            equivalent.push(within);
        }
    }
    let power = |(look, [found, equivalent]): (&Look, [Vec<f64>; 2])| Power {
        blocks: look.blocks,
        found_from: percentile_90(found),
        equivalent_from: percentile_90(equivalent),
    };
    looks.iter().zip(least).map(power).collect()
}

/// Returns the 90 % quantile.
fn percentile_90(mut figures: Vec<f64>) -> f64 {
    let place = (figures.len() * 9 / 10).saturating_sub(1);
    if figures.is_empty() {
        return f64::INFINITY;
    }
    *figures.select_nth_unstable_by(place, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::MinEffect;

    /// Returns the rules of a duel of up to `blocks_max` blocks, without the look [`EARLY`].
    fn rules(blocks_max: u32, family: u32) -> DuelRules {
        DuelRules {
            matters: MinEffect::share(0.03),
            higher_is_better: true,
            blocks_max,
            pilot_blocks: 0,
            family,
            looks_early: false,
            has_control: false,
        }
    }

    fn power(blocks_max: u32, family: u32) -> Vec<Power> {
        super::power(&rules(blocks_max, family))
    }

    fn found_from(blocks_max: u32, family: u32) -> Vec<(u32, f64)> {
        power(blocks_max, family).into_iter().map(|power| (power.blocks, power.found_from)).collect()
    }

    #[test]
    fn single_unanimous_look_matches_the_closed_form() {
        // All n blocks are above zero with 90 % power if the difference is the normal quantile of 0.9^(1/n).
        for (blocks_max, family, blocks, exact) in [
            (6, 1, 6, 2.1109),
            (7, 2, 7, 2.1716),
            (8, 1, 8, 2.2232),
            (11, 6, 8, 2.2232),
            (11, 20, 10, 2.3087),
        ] {
            let found = found_from(blocks_max, family);
            assert!(found.len() == 1 && found[0].0 == blocks, "{found:?}");
            assert!((found[0].1 / exact - 1.0).abs() < 0.015, "{found:?}, not {exact}");
        }
    }

    #[test]
    fn unreachable_looks_have_no_power() {
        assert_eq!(power(5, 1), []);
        assert_eq!(power(6, 2), []);
        assert_eq!(power(8, 7), []);
        assert_eq!(power(0, u32::MAX), []);
    }

    #[test]
    fn larger_family_needs_larger_differences() {
        let families = [1, 2, 3, 6, 20, 1_000, u32::MAX];
        let last = families.map(|family| power(24, family).pop().unwrap());
        assert!(last.iter().all(|power| power.blocks == 24 && power.found_from < power.equivalent_from));
        assert!(last.is_sorted_by_key(|power| power.found_from), "{last:?}");
        assert!(last.is_sorted_by_key(|power| power.equivalent_from), "{last:?}");
    }

    #[test]
    fn precomputed_power_equals_simulated_power() {
        for blocks_max in [5, 6, 7, 8, 12, 16, 23, 24, 1_000] {
            let looks: Vec<Look> = looks(blocks_max, 1).collect();
            assert_eq!(power(blocks_max as u32, 1), simulate(&looks), "{blocks_max}");
            let early = super::power(&DuelRules { looks_early: true, ..rules(blocks_max as u32, 1) });
            let looks: Vec<Look> = core::iter::once(EARLY).chain(looks).collect();
            assert_eq!(early, if blocks_max < 8 { power(blocks_max as u32, 1) } else { simulate(&looks) });
        }
    }

    #[test]
    fn power_is_reproducible() {
        assert_eq!(power(24, 3), power(24, 3));
        // A duel that may go on longer has the same first looks.
        assert_eq!(power(16, 3)[..], power(24, 3)[..2]);
    }
}
