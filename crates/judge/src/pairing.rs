//! Pairs the blocks of two configurations, in a study that fixed their number when it began.

use std::collections::{BTreeMap, BTreeSet};

use stats::{Bounded, RunResult};

/// Blocks of two configurations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairing {
    /// Figures of both, in order of the blocks in which both have one with enough samples.
    pub pairs: Vec<(Bounded, Bounded)>,
    /// Number of blocks in which both have a valid run, but one has too few samples for a verdict.
    pub too_few_samples: usize,
    /// Max number of blocks in which both can still have a figure.
    pub attainable: usize,
}

impl Pairing {
    /// Pairs the observations of two configurations by block, out of `blocks` planned blocks.
    pub fn of(blocks: u32, a: &BTreeMap<u32, RunResult>, b: &BTreeMap<u32, RunResult>) -> Self {
        let mut pairing = Self::default();
        // A stored study may claim any number of blocks, so only blocks with an observation are visited.
        let known: BTreeSet<u32> = a.keys().chain(b.keys()).copied().collect();
        for block in &known {
            match [a, b].map(|setting| setting.get(block).copied().unwrap_or(RunResult::Missing)) {
                [RunResult::Figure { value: a, .. }, RunResult::Figure { value: b, .. }] => {
                    pairing.pairs.push((a, b))
                }
                [RunResult::Invalid | RunResult::Failed, _] | [_, RunResult::Invalid | RunResult::Failed] => {
                    continue;
                }
                [RunResult::TooFew, _] | [_, RunResult::TooFew] => {
                    pairing.too_few_samples += 1;
                    continue;
                }
                _ => {}
            }
            pairing.attainable += 1;
        }
        pairing.attainable += (blocks as usize).saturating_sub(known.len());
        // An extra block that replaces an invalid run of another configuration must not move a planned look.
        pairing.pairs.truncate(blocks as usize);
        pairing.attainable = pairing.attainable.min(blocks as usize);
        pairing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacement_block_counts_but_never_beyond_the_plan() {
        let all = |blocks: u32| -> BTreeMap<u32, RunResult> {
            (0..blocks).map(|block| (block, RunResult::exactly(1.0, 0, 9))).collect()
        };
        let mut disturbed = all(8);
        disturbed.insert(2, RunResult::Invalid);
        let pairing = Pairing::of(7, &all(8), &disturbed);
        assert_eq!((pairing.pairs.len(), pairing.attainable), (7, 7), "the eighth stands for the third");
        let pairing = Pairing::of(7, &all(8), &all(8));
        assert_eq!(
            (pairing.pairs.len(), pairing.attainable),
            (7, 7),
            "eight are looked at more strictly than seven"
        );
    }
}
