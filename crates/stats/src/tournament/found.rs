//! Result of a best-of search.

use alloc::vec::Vec;

use crate::Comparison;

/// Findings of a best-of search so far.
#[derive(Clone, Debug, PartialEq)]
pub struct TournamentFindings {
    /// Best variant so far. `None` before the first block, or if none could be measured.
    pub best: Option<usize>,
    /// Variants not significantly worse than the best by the smallest difference that matters, including the best, in ascending
    /// order.
    pub tied: Vec<usize>,
    /// Eliminated variants, in order of elimination.
    pub left: Vec<Eliminated>,
    /// Variant that the best is confirmed against: the incumbent, or the next best if the best is the incumbent.
    pub rival: Option<usize>,
    /// Comparison of the best with its rival on fresh blocks. Publish only this figure, because the blocks that selected the best
    /// overestimate it. `None` before the first fresh block, or without a confirmation.
    pub confirmed: Option<Comparison>,
    /// Number of valid blocks so far, without those of the confirmation.
    pub blocks: u32,
    /// Reason why the search ended. `None` while it is in progress.
    pub end: Option<TournamentEnd>,
}

/// Eliminated variant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eliminated {
    /// Number of the variant.
    pub setting: usize,
    /// Number of valid blocks of the whole search at the elimination.
    pub after_blocks: u32,
    /// Reason for the elimination.
    pub why: EliminationReason,
    /// Figure of the variant ÷ figure of the best, over common blocks. `None` without a common block.
    pub ratio: Option<f64>,
}

/// Reason why a variant was eliminated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EliminationReason {
    /// Eliminated in the worse half of a round of halving.
    Halved,
    /// Another variant is significantly ahead of it.
    Behind,
    /// Significantly more errors than another variant.
    MoreErrors,
    /// The variant's run was invalid four times in a row, which says nothing about its performance.
    Invalid,
    /// The variant's run failed, or had too few samples, four times in a row.
    NoFigure,
}

/// Reason why a best-of search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TournamentEnd {
    /// The best differs from all others, or is tied with those within the smallest difference that matters.
    Decided,
    /// The blocks were used up first; several variants may still be the best.
    OutOfBlocks,
    /// Fewer than two variants could be measured.
    NotFit,
    /// A variant that may be as good as the best was eliminated for invalid runs. Nothing is reported or confirmed.
    Unmeasured,
}
