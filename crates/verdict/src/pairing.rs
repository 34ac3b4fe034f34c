//! The blocks that two settings share, where every block was planned when the study began.

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
        pairing
    }
}
