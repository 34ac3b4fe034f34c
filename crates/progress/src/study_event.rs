//! The facts of a study, in the order in which they become known.

use std::time::Duration;

use evidence::{Cause, StudyPlace};

/// A run of a study that is about to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Next {
    /// Its place in the study.
    pub place: StudyPlace,
    /// Rest of the study.
    pub ahead: RemainingStudy,
}

/// Rest of a study when one of its runs begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RemainingStudy {
    /// The number of the run among those that this process makes, from 0.
    pub number: usize,
    /// How many those are; `None` if unknown.
    pub of: Option<usize>,
    /// Whether they may turn out to be fewer.
    pub is_at_most: bool,
    /// Time that all runs that are left will take, or take at most; `None` if unknown.
    pub left: Option<Duration>,
    /// Rest of the time that the study may take; `None` if it has no bound.
    pub budget: Option<Duration>,
}

/// A conclusion from the evidence so far.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// The figures of the run are in doubt.
    Doubt(Cause),
    /// A rule names a likely bottleneck of some variants.
    Bottleneck {
        /// The limit in the words of its rule.
        limit: &'static str,
        /// The variants, with their loads where a study has several.
        variants: Vec<String>,
    },
}

/// A block of a study whose last run is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockEnded {
    /// The stage of the study, as in [`StudyPlace::stage`].
    pub stage: String,
    /// The number of the block in its stage, from 0.
    pub block: u32,
}

/// The state of a comparison of two variants under one load.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictSoFar {
    /// The name of the load.
    pub load: String,
    /// The names of the variants.
    pub variants: [String; 2],
    /// Blocks that count so far.
    pub blocks: u32,
    /// Blocks that the comparison has at most.
    pub blocks_max: u32,
    /// Result of the blocks.
    pub standing: Standing,
    /// Whether no more blocks follow.
    pub is_over: bool,
}

/// Result of the blocks of a comparison so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing is conclusive.
    Open,
    /// One variant is ahead by the metric.
    Ahead {
        /// Number of that variant in [`VerdictSoFar::variants`].
        variant: usize,
        /// Whether the difference is below the one that matters.
        is_small: bool,
    },
    /// The variants are equal within the difference that matters.
    Equal,
    /// One variant has more errors or outages.
    MoreErrors {
        /// Number of that variant in [`VerdictSoFar::variants`].
        variant: usize,
    },
}
