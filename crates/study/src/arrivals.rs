//! Which arrivals a run of a study has: those of its block, whichever variant it is.

use evidence::{StudyPlace, stage};
use load::chance::Chance;

/// Tells these draws from other draws of the same seed.
const ARRIVALS_STREAM: u64 = 0x6172_7269_7600;
/// More stages than there are, and fewer blocks than this, are distinguished by a number.
const BLOCKS: u64 = 1 << 32;
/// Above every stage and block.
const SLICES: u64 = 1 << 40;

/// The seed of everything that a run draws: the same for every run of a block, so that chance does not tell variants apart,
/// and another for every block, so that no verdict hangs on one series of draws. The first block has the study's own.
/// `before`: how many slices of the same block and variant come before it; the two of a pair share their draws.
pub(crate) fn seed(study_seed: u64, place: &StudyPlace, before: usize) -> u64 {
    if place.stage == stage::BLOCK && place.block == 0 {
        return study_seed;
    }
    let stage = stage::ALL.iter().position(|known| *known == place.stage).unwrap_or(stage::ALL.len()) as u64;
    let slice = if stage::is_slice(&place.stage) { before as u64 * SLICES } else { 0 };
    let of_place = stage * BLOCKS + u64::from(place.block);
    let mut chance = Chance::stream(study_seed, ARRIVALS_STREAM ^ of_place ^ slice);
    // Programs that read JSON as JavaScript does know whole numbers up to 2^53 only.
    (chance.unit() * (1u64 << 53) as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::place;

    #[test]
    fn a_block_has_arrivals_of_its_own_and_its_variants_share_them() {
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
