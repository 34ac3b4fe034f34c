//! Seeds of the random draws of runs. All variants of a block share one seed, so they receive identical arrivals.

use evidence::{StudyPlace, stage};
use load::chance::Chance;

/// Stream offset that separates draws of seeds from other draws of the study's seed.
const ARRIVALS_STREAM: u64 = 0x6172_7269_7600;
/// Factor of the stage in a stream number. It exceeds the number of blocks, so each stage and block has its own stream.
const STAGE_FACTOR: u64 = 1 << 32;
/// Factor of the slice in a stream number. It exceeds every combination of stage and block.
const SLICE_FACTOR: u64 = 1 << 40;

/// Returns the seed of all random draws of a run, from 0 to 2⁵³ − 1.
///
/// All runs of a block share the seed, so that random draws cause no difference between variants. Each block has its
/// own seed, so that no verdict depends on one series of draws. The first block uses the seed of the study.
///
/// `before` is the number of earlier slices of this variant in the block. The two slices of a pair share their draws.
pub(crate) fn seed(study_seed: u64, place: &StudyPlace, before: usize) -> u64 {
    if place.stage == stage::BLOCK && place.block == 0 {
        return study_seed;
    }
    let stage = stage::ALL.iter().position(|known| *known == place.stage).unwrap_or(stage::ALL.len()) as u64;
    let slice = if stage::is_slice(&place.stage) { before as u64 * SLICE_FACTOR } else { 0 };
    let of_place = stage * STAGE_FACTOR + u64::from(place.block);
    let mut chance = Chance::stream(study_seed, ARRIVALS_STREAM ^ of_place ^ slice);
    // Many JSON parsers, such as JavaScript's, represent whole numbers exactly only up to 2^53.
    (chance.unit() * (1u64 << 53) as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::place;

    #[test]
    fn variants_of_a_block_share_arrivals_and_blocks_differ() {
        let at = |variant: &str, stage: &str, block: u32| {
            seed(7, &StudyPlace { stage: stage.to_owned(), block, ..place("web", variant) }, 0)
        };
        assert_eq!(at("n=1", stage::BLOCK, 3), at("n=2", stage::BLOCK, 3));
        assert_eq!(at("n=1", stage::BLOCK, 0), 7);
        let mut seen = std::collections::BTreeSet::new();
        for stage in [stage::BLOCK, stage::PILOT, stage::CONFIRM] {
            seen.extend((0..100).map(|block| at("n=1", stage, block)));
        }
        assert_eq!(seen.len(), 300, "no two blocks have the same");
        let slice = |variant: &str, before| {
            seed(7, &StudyPlace { stage: stage::SLICE.to_owned(), ..place("web", variant) }, before)
        };
        assert_eq!(slice("n=1", 2), slice("n=2", 2), "a pair shares its draws");
        seen.extend((0..16).map(|before| slice("n=1", before)));
        assert_eq!(seen.len(), 316);
    }
}
