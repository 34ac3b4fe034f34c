//! Procedures: they choose the next runs of a study.

use serde::{Deserialize, Serialize};

use crate::stage;

/// How a study finds its answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Procedure {
    /// Every variant in every block; all runs are planned when the study begins.
    #[default]
    Blocks,
    /// Two variants in blocks, until the result is conclusive.
    Duel {
        /// Blocks of the first variant against itself, before the others and between them.
        pilot_blocks: u32,
        /// Whether an obvious difference may end it after its first blocks. Earlier versions did so in slices alone, and wrote nothing.
        #[serde(default, skip_serializing_if = "is_false")]
        looks_early: bool,
        /// Where both stay up in a block, and the load goes to one at a time; `None`: each run has a start of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slices: Option<SliceRules>,
    },
    /// The best of many variants.
    Best {
        /// The row in use today: `system variant`, as reports write it.
        incumbent: Option<String>,
        /// As of a duel.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slices: Option<SliceRules>,
    },
    /// All variants in a sweep under the first load, and then the best of each system in a final under every load. The blocks of the
    /// study are those of the final.
    BestOfEach {
        /// Blocks of the sweep.
        sweep_blocks: u32,
    },
    /// The highest rate that holds, of every variant.
    Capacity(CapacityRules),
}

/// Leaves out of the JSON a flag that is false.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Rules of a study in slices. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SliceRules {
    /// How long a slice is measured.
    pub slice_s: f64,
    /// Time left out at its beginning.
    pub settle_s: f64,
    /// Time left out at the beginning of the first slice after a start.
    pub warm_up_s: f64,
    /// Slices of each variant in a block, at most; two at least.
    pub pairs_most: u32,
    /// Whether a system is stopped while the load goes to the other.
    pub pauses_idle: bool,
    /// Whether what others take of the CPU is to explain a part of the variance of slices.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_control: bool,
}

/// Rules of a search for a capacity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapacityRules {
    /// Conditions that a run must hold, such as `p(99)<200ms`.
    pub slos: Vec<String>,
    /// How close the rate that held and the rate that failed must come, as a share: 0.03 is 3 %.
    pub resolution: f64,
    /// Where the search begins; `None`: found by closed loads.
    pub from_per_s: Option<f64>,
    /// Where it ends at the latest.
    pub to_per_s: Option<f64>,
    /// Runs at each edge that confirm it.
    pub confirm_runs: u32,
    /// By how many of them must say the opposite of what told an edge to overrule it; to earlier versions any number would do.
    #[serde(default)]
    pub overruled_by: u32,
    /// Whether the load after an overload is tried.
    pub has_overload: bool,
    /// How long the last run takes, at 95 % of what held; `None`: there is none.
    pub soak_s: Option<f64>,
    /// Runs at most.
    pub runs_max: u32,
}

impl Procedure {
    /// The word in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Blocks => "blocks",
            Self::Duel { .. } => "duel",
            Self::Best { .. } => "best",
            Self::BestOfEach { .. } => "best_of_each",
            Self::Capacity(_) => "capacity",
        }
    }

    /// Its rules of slices, if its blocks are made of slices.
    pub const fn slices(&self) -> Option<&SliceRules> {
        match self {
            Self::Duel { slices, .. } | Self::Best { slices, .. } => slices.as_ref(),
            _ => None,
        }
    }

    /// Whether further blocks can be added after its end. Only then its error rate is known.
    pub const fn can_be_extended(&self) -> bool {
        matches!(self, Self::Blocks | Self::Duel { .. } | Self::BestOfEach { .. })
    }

    /// The blocks of its sweep, if it has one.
    pub const fn sweep_blocks(&self) -> Option<u32> {
        match self {
            Self::BestOfEach { sweep_blocks } => Some(*sweep_blocks),
            _ => None,
        }
    }

    /// The stage of the runs by which it judges, where it judges by blocks.
    pub const fn stage_of_blocks(&self) -> &'static str {
        if self.slices().is_some() { stage::SLICE } else { stage::BLOCK }
    }

    /// Whether every figure is finite, and so can be kept and printed.
    pub(crate) fn is_finite(&self) -> bool {
        match self {
            Self::Blocks | Self::BestOfEach { .. } => true,
            Self::Duel { slices, .. } | Self::Best { slices, .. } => slices.is_none_or(|slices| {
                [slices.slice_s, slices.settle_s, slices.warm_up_s].into_iter().all(f64::is_finite)
            }),
            Self::Capacity(CapacityRules { resolution, from_per_s, to_per_s, soak_s, .. }) => {
                [Some(*resolution), *from_per_s, *to_per_s, *soak_s].into_iter().flatten().all(f64::is_finite)
            }
        }
    }
}
