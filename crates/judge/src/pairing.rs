//! The blocks that two settings share, where their number was laid down when the study began.

use std::collections::{BTreeMap, BTreeSet};

use stats::Seen;

/// The blocks of two settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairing {
    /// The figures of both, in order of the blocks in which both have one that carries a verdict.
    pub pairs: Vec<(f64, f64)>,
    /// Blocks in which both have a valid run, but one has too few samples for a verdict.
    pub too_few_samples: usize,
    /// In how many blocks both can ever have a figure.
    pub attainable: usize,
}

impl Pairing {
    /// Of what two settings said by block, of so many blocks that are planned.
    pub fn of(blocks: u32, a: &BTreeMap<u32, Seen>, b: &BTreeMap<u32, Seen>) -> Self {
        let mut pairing = Self::default();
        // A study may claim any number of blocks; only those in which something was run or lost need a look.
        let known: BTreeSet<u32> = a.keys().chain(b.keys()).copied().collect();
        for block in &known {
            match [a, b].map(|setting| setting.get(block).copied().unwrap_or(Seen::Missing)) {
                [Seen::Figure { value: a, .. }, Seen::Figure { value: b, .. }] => pairing.pairs.push((a, b)),
                [Seen::Invalid | Seen::Failed, _] | [_, Seen::Invalid | Seen::Failed] => continue,
                [Seen::TooFew, _] | [_, Seen::TooFew] => {
                    pairing.too_few_samples += 1;
                    continue;
                }
                _ => {}
            }
            pairing.attainable += 1;
        }
        pairing.attainable += (blocks as usize).saturating_sub(known.len());
        // A block more, which made up for an invalid run of others, must not move the look that was laid down.
        pairing.pairs.truncate(blocks as usize);
        pairing.attainable = pairing.attainable.min(blocks as usize);
        pairing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_makes_up_for_another_counts_in_its_place_and_never_beyond() {
        let all = |blocks: u32| -> BTreeMap<u32, Seen> {
            (0..blocks).map(|block| (block, Seen::Figure { value: 1.0, errors: 0, planned: 9 })).collect()
        };
        let mut disturbed = all(8);
        disturbed.insert(2, Seen::Invalid);
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
