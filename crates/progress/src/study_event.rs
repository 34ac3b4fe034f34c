//! Events of a study, in the order in which they occur.

use std::time::Duration;

use evidence::{Cause, StudyPlace};

/// Run of a study that is about to start.
#[derive(Clone, Debug, PartialEq)]
pub struct Next {
    /// Place of the run in the study.
    pub place: StudyPlace,
    /// Remaining runs and time of the study.
    pub ahead: RemainingStudy,
}

/// Remaining runs and time of a study when one of its runs begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RemainingStudy {
    /// Number of the run among the runs of this process, from 0.
    pub number: usize,
    /// Total number of runs of this process. `None` if unknown.
    pub of: Option<usize>,
    /// Whether `of` is an upper bound.
    pub is_at_most: bool,
    /// Time of all remaining runs, or its upper bound. `None` if unknown.
    pub left: Option<Duration>,
    /// Rest of the study's time budget. `None` if it has no budget.
    pub budget: Option<Duration>,
}

/// Conclusion from the evidence so far.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// The figures of the run are in doubt.
    Doubt(Cause),
    /// A rule names a likely bottleneck of some variants.
    Bottleneck {
        /// Description of the bottleneck, from its rule.
        limit: &'static str,
        /// Variants, with their loads if a study has several.
        variants: Vec<String>,
    },
}

/// Block of a study whose last run is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockEnded {
    /// Stage of the study, as in [`StudyPlace::stage`].
    pub stage: String,
    /// Number of the block in its stage, from 0.
    pub block: u32,
}

/// State of a comparison of two variants under one load.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictSoFar {
    /// Name of the load.
    pub load: String,
    /// Names of the variants.
    pub variants: [String; 2],
    /// Number of counted blocks so far.
    pub blocks: u32,
    /// Maximum number of blocks of the comparison.
    pub blocks_max: u32,
    /// Result of the blocks so far.
    pub standing: Standing,
    /// Whether no more blocks follow.
    pub is_over: bool,
}

/// Result of the blocks of a comparison so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The result is not conclusive yet.
    Open,
    /// One variant is ahead by the metric.
    Ahead {
        /// Index of the variant in [`VerdictSoFar::variants`].
        variant: usize,
        /// Whether the difference is below the smallest one that matters.
        is_small: bool,
    },
    /// The variants are equal within the smallest difference that matters.
    Equal,
    /// One variant has more errors or outages.
    MoreErrors {
        /// Index of the variant in [`VerdictSoFar::variants`].
        variant: usize,
    },
}
