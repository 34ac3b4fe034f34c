//! What a tournament has found.

use alloc::vec::Vec;

use crate::Comparison;

/// What is known of the best of many.
#[derive(Clone, Debug, PartialEq)]
pub struct TournamentFindings {
    /// The setting that is best as far as is known; `None` before the first block, or if none could be measured.
    pub best: Option<usize>,
    /// The settings that are not told from the best by as much as matters, the best among them, in ascending order.
    pub tied: Vec<usize>,
    /// The settings that are out, in the order in which they left.
    pub left: Vec<Eliminated>,
    /// The setting that the best is confirmed against: the incumbent, or the next best if the best is the incumbent.
    pub rival: Option<usize>,
    /// The best against its rival on fresh blocks: the only figure to publish, as the blocks that chose the best flatter
    /// it. `None` before the first of these blocks, or if there are none.
    pub confirmed: Option<Comparison>,
    /// Blocks so far that were fit, without those of the confirmation.
    pub blocks: u32,
    /// Why it is over; `None` while it goes on.
    pub end: Option<TournamentEnd>,
}

/// A setting that is out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eliminated {
    /// Which one.
    pub setting: usize,
    /// After so many fit blocks of the whole tournament.
    pub after_blocks: u32,
    /// What for.
    pub why: EliminationReason,
    /// Its figure over that of the best, over the blocks that both were in; `None` without a common block.
    pub ratio: Option<f64>,
}

/// Why a setting is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EliminationReason {
    /// It was in the worse half of a round of halving.
    Halved,
    /// Another one is ahead of it by more than chance allows for.
    Behind,
    /// It has more errors than another one.
    MoreErrors,
    /// Its run was invalid four times in a row: that says nothing about how good it is.
    Invalid,
    /// It did not run, or had too few samples, four times in a row.
    NoFigure,
}

/// Why a tournament is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TournamentEnd {
    /// The best differs from all others, or tied with what is within what matters.
    Decided,
    /// The blocks were used up before; several may still be the best.
    OutOfBlocks,
    /// Fewer than two settings could be measured.
    NotFit,
    /// A setting that may be as good as the best left because its runs were invalid: nothing is reported, and nothing confirmed.
    Unmeasured,
}
