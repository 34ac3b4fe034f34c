//! Procedures: rules that choose the next runs of a study.

use serde::{Deserialize, Serialize};

use crate::stage;

/// Procedure of a study.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Procedure {
    /// Every variant in every block. All runs are planned when the study begins.
    #[default]
    Blocks,
    /// Comparison of two variants, in blocks, until the result is conclusive.
    Duel {
        /// Pilot blocks, which compare the first variant with itself, before the other blocks and between them.
        pilot_blocks: u32,
        /// Whether the study may end after seven blocks, before the first regular look. Earlier versions allowed this
        /// only for slices, and did not store it.
        #[serde(default, skip_serializing_if = "is_false")]
        looks_early: bool,
        /// Rules of slices, if both systems stay up for a block and take turns under load. `None` if each run starts its system.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slices: Option<SliceRules>,
    },
    /// Comparison of more than two variants in slices: every pair, or every other variant with the baseline.
    RoundRobin {
        /// Number of pairs that are compared. All of them share one error rate.
        pairs: u32,
        /// Rules of slices, as in [`Self::Duel`].
        slices: SliceRules,
    },
    /// Search for the best of many variants.
    Best {
        /// Row in use today: `system variant`, as in reports.
        incumbent: Option<String>,
        /// Rules of slices, as in [`Self::Duel`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slices: Option<SliceRules>,
    },
    /// Sweep of all variants under the first load, then a final of the best variant of each system under every load. The blocks of
    /// the study are those of the final.
    BestOfEach {
        /// Number of blocks of the sweep.
        sweep_blocks: u32,
    },
    /// Maximum sustainable load of every variant.
    Capacity(CapacityRules),
}

/// Returns whether serde should skip a `false` flag.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Rules of a study in slices. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SliceRules {
    /// Measured length of a slice.
    pub slice_s: f64,
    /// Time left out at the start of each slice.
    pub settle_s: f64,
    /// Time left out at the start of the first slice after a start.
    pub warm_up_s: f64,
    /// Max slices of each variant in a block; at least 2.
    pub pairs_most: u32,
    /// Whether a system is paused while the other is under load.
    pub pauses_idle: bool,
    /// Whether CPU use by other processes serves as a control variate, to explain a part of the variance between slices.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_control: bool,
    /// Whether every block has `pairs_most` slices of each variant, because conditions or percentiles of the tail need the samples.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_full_blocks: bool,
}

/// Rules of a search for the maximum sustainable load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapacityRules {
    /// Conditions that a run must pass, such as `p(99)<200ms`.
    pub slos: Vec<String>,
    /// Max distance between the highest passing and the lowest failing rate, as a share: 0.03 is 3 %.
    pub resolution: f64,
    /// First rate of the search; `None` if closed loads find it.
    pub from_per_s: Option<f64>,
    /// Highest rate of the search; `None` for no bound.
    pub to_per_s: Option<f64>,
    /// Number of runs at each edge that confirm it.
    pub confirm_runs: u32,
    /// Margin by which runs must contradict the result at an edge to overrule it. 0 for studies of earlier versions,
    /// which accept any margin.
    #[serde(default)]
    pub overruled_by: u32,
    /// Whether the load after an overload is tested.
    pub has_overload: bool,
    /// Length of the final soak run at 95 % of the highest passing rate; `None` for no soak run.
    pub soak_s: Option<f64>,
    /// Max number of runs.
    pub runs_max: u32,
}

impl Procedure {
    /// Returns the word for the procedure in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Blocks => "blocks",
            Self::Duel { .. } => "duel",
            Self::RoundRobin { .. } => "round_robin",
            Self::Best { .. } => "best",
            Self::BestOfEach { .. } => "best_of_each",
            Self::Capacity(_) => "capacity",
        }
    }

    /// Returns the rules of slices; `None` if the blocks do not consist of slices.
    pub const fn slices(&self) -> Option<&SliceRules> {
        match self {
            Self::Duel { slices, .. } | Self::Best { slices, .. } => slices.as_ref(),
            Self::RoundRobin { slices, .. } => Some(slices),
            _ => None,
        }
    }

    /// Returns whether blocks can be added after the end. The error rate of an extension is known only for
    /// procedures by blocks.
    pub const fn can_be_extended(&self) -> bool {
        matches!(self, Self::Blocks | Self::Duel { .. } | Self::RoundRobin { .. } | Self::BestOfEach { .. })
    }

    /// Returns the number of blocks of the sweep; `None` if there is no sweep.
    pub const fn sweep_blocks(&self) -> Option<u32> {
        match self {
            Self::BestOfEach { sweep_blocks } => Some(*sweep_blocks),
            _ => None,
        }
    }

    /// Returns the stage of the runs that decide, for procedures that decide by blocks.
    pub const fn stage_of_blocks(&self) -> &'static str {
        if self.slices().is_some() { stage::SLICE } else { stage::BLOCK }
    }

    /// Returns whether every figure is finite. NaN and infinity can be neither stored nor printed.
    pub(crate) fn is_finite(&self) -> bool {
        let is_finite_slice = |slices: &SliceRules| {
            [slices.slice_s, slices.settle_s, slices.warm_up_s].into_iter().all(f64::is_finite)
        };
        match self {
            Self::Blocks | Self::BestOfEach { .. } => true,
            Self::Duel { .. } | Self::RoundRobin { .. } | Self::Best { .. } => {
                self.slices().is_none_or(is_finite_slice)
            }
            Self::Capacity(CapacityRules { resolution, from_per_s, to_per_s, soak_s, .. }) => {
                [Some(*resolution), *from_per_s, *to_per_s, *soak_s].into_iter().flatten().all(f64::is_finite)
            }
        }
    }
}
