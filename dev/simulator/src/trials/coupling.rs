//! Dependence between the two systems of a block: starts that are not independent, and load on one system that affects the other.

use load::chance::Chance;

/// Dependent starts of identical systems: exactly one start in each block is slower.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coupling {
    /// Figure of the other start ÷ that of the slow one.
    pub slower: f64,
    /// Rule by which one of the two starts is slow.
    pub kind: CouplingKind,
}

/// Rule by which one of the two starts of a block is slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CouplingKind {
    /// Either start, at random, as with a lock that one of them acquires.
    Either,
    /// First start, as with a cache that the first user fills.
    First,
    /// First and second start in turn, as with a state that each block toggles.
    InTurn,
}

impl CouplingKind {
    /// Returns true if the first start of a block is the slow one. Blocks count from 0.
    pub(crate) fn is_first_slow(self, block: u64, chance: &mut Chance) -> bool {
        match self {
            Self::Either => chance.unit() < 0.5,
            Self::First => true,
            Self::InTurn => block.is_multiple_of(2),
        }
    }

    /// Returns the place of the slow start among the `starts` starts of a block. Blocks and places count from 0.
    pub(crate) fn slow_start(self, block: u64, starts: usize, chance: &mut Chance) -> usize {
        match self {
            Self::Either => chance.within(0, starts.saturating_sub(1) as i64) as usize,
            Self::First => 0,
            Self::InTurn => (block % starts.max(1) as u64) as usize,
        }
    }
}

/// Aftereffect on B of the load on A, starting when that load ends. A restart ends the effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aftereffect {
    /// Share of B's figure that is lost while the effect lasts.
    pub share: f64,
    /// Duration of the effect, in seconds.
    pub lasts_s: f64,
}

impl Aftereffect {
    /// Returns the share of B's figure that remains in a period, given in seconds since the end of the load on A.
    pub(crate) fn leaves(self, from_s: f64, to_s: f64) -> f64 {
        let affected_s = (to_s.min(self.lasts_s) - from_s).max(0.0);
        1.0 - self.share * affected_s / (to_s - from_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effect_counts_for_the_time_that_it_lasts() {
        let lasting = Aftereffect { share: 0.5, lasts_s: 2.0 };
        let left = [(0.0, 1.0), (1.5, 2.5), (2.0, 3.0)].map(|(from_s, to_s)| lasting.leaves(from_s, to_s));
        assert_eq!(left, [0.5, 0.75, 1.0]);
    }

    #[test]
    fn one_start_of_each_block_is_slow() {
        let mut chance = Chance::stream(1, 0);
        let mut slow = |kind: CouplingKind| {
            (0..4).map(|block| kind.is_first_slow(block, &mut chance)).collect::<Vec<_>>()
        };
        assert_eq!(slow(CouplingKind::First), [true; 4]);
        assert_eq!(slow(CouplingKind::InTurn), [true, false, true, false]);
        assert!(
            (0..10).any(|_| slow(CouplingKind::Either)[0]) && (0..10).any(|_| !slow(CouplingKind::Either)[0])
        );
    }
}
