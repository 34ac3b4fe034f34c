//! Procedures for comparing the variants of a study, and the number of runs that each takes.

use std::fmt;

use judge::ComparedBy;

use super::{Compare, StoredBaseline, Study};

/// Min blocks before variants are eliminated.
pub(crate) const BEST_BLOCKS_MIN: u32 = 8;
/// Max blocks that confirm the winner at the end.
const CONFIRM_BLOCKS: u32 = 24;

/// Name in the store if nothing is compared.
const FAILURES: &str = "failures";

/// Target result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Find {
    /// Comparison of all variants.
    Every,
    /// The best variant.
    Best,
    /// The best variant of each system, and a comparison of these.
    BestOfEach,
    /// Variants that fail. Nothing is compared.
    Failures,
}

impl Find {
    /// All values, in the order of `NAMES`.
    pub(crate) const ALL: [Self; 4] = [Self::Every, Self::Best, Self::BestOfEach, Self::Failures];
    /// Names in plans.
    pub(crate) const NAMES: [&'static str; 4] = ["every", "best", "best of each", FAILURES];

    /// Name in plans.
    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().position(|find| *find == self).map_or(FAILURES, |at| Self::NAMES[at])
    }
}

/// Procedure of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonMethod {
    /// Runs every variant in a fixed number of blocks.
    Blocks,
    /// A/B comparison: two variants, until the result is conclusive.
    Duel,
    /// Best-of search: worse variants are eliminated, until the result is conclusive.
    Best,
    /// Sweep of all variants under the first load, then a final between the best of each system. The final has a fixed number of
    /// blocks, under all loads.
    BestOfEach {
        /// Blocks of the sweep.
        sweep_blocks: u32,
    },
}

/// Sweep that selects the finalists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// Runs of each variant.
    pub blocks: u32,
    /// Number of systems, and so of variants in the final.
    pub systems: u32,
}

impl Compare {
    /// Procedure for this number of variants.
    pub(crate) fn how(&self, variants: usize) -> ComparisonMethod {
        match self.find {
            Find::Every if variants == 2 && !self.has_all_blocks && self.first_look().is_some() => {
                ComparisonMethod::Duel
            }
            Find::Best if variants >= 2 && self.blocks >= BEST_BLOCKS_MIN => ComparisonMethod::Best,
            Find::BestOfEach => self.sweep.map_or(ComparisonMethod::Blocks, |sweep| {
                ComparisonMethod::BestOfEach { sweep_blocks: sweep.blocks }
            }),
            _ => ComparisonMethod::Blocks,
        }
    }

    /// Number of runs of the sweep, which has only the first load. 0 without a sweep.
    pub(crate) fn sweep_runs(&self, variants: usize) -> u64 {
        match self.how(variants) {
            ComparisonMethod::BestOfEach { sweep_blocks } => variants as u64 * u64::from(sweep_blocks),
            ComparisonMethod::Blocks | ComparisonMethod::Duel | ComparisonMethod::Best => 0,
        }
    }

    /// Runs per block of the final, under one load. 0 without a sweep.
    fn final_runs_per_block(&self) -> u64 {
        self.sweep.map_or(0, |sweep| u64::from(sweep.systems))
    }

    /// Max number of runs under one load, without the sweep.
    pub(crate) fn max_runs(&self, variants: usize) -> u64 {
        let all = variants as u64 * u64::from(self.blocks);
        match self.how(variants) {
            ComparisonMethod::Blocks => all,
            ComparisonMethod::Duel => all + 2 * u64::from(self.pilot),
            ComparisonMethod::Best => all + 2 * u64::from(CONFIRM_BLOCKS.min(self.blocks)),
            ComparisonMethod::BestOfEach { .. } => self.final_runs_per_block() * u64::from(self.blocks),
        }
    }

    /// Min number of runs under one load if no run fails: until a large difference is found, or all of them.
    pub(crate) fn min_runs(&self, variants: usize) -> u64 {
        let each = variants as u64;
        match self.how(variants) {
            ComparisonMethod::Blocks => each * u64::from(self.blocks),
            ComparisonMethod::Duel => 2 * u64::from(self.pilot + self.first_look().unwrap_or(self.blocks)),
            ComparisonMethod::Best => (each + 2) * u64::from(BEST_BLOCKS_MIN),
            ComparisonMethod::BestOfEach { .. } => self.final_runs_per_block() * u64::from(self.blocks),
        }
    }

    /// Blocks after which an A/B comparison can end for the first time. `None` if it cannot be decided.
    pub(crate) fn first_look(&self) -> Option<u32> {
        stats::first_look(self.blocks, self.family())
    }

    /// Number of tests that share the error rate in a comparison of two variants: one per metric.
    pub(crate) fn family(&self) -> u32 {
        u32::try_from(self.also.len()).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// Name of the primary metric in the store. If the study looks for failures, it is `failures`.
    pub fn primary_metric_name(&self) -> String {
        if self.find == Find::Failures { FAILURES.to_owned() } else { self.by.name() }
    }

    /// All metrics, the primary one first.
    pub fn metrics(&self) -> impl Iterator<Item = &ComparedBy> {
        std::iter::once(&self.by).chain(&self.also)
    }
}

impl Study {
    /// Procedure that answers the question of the study.
    pub fn how(&self) -> ComparisonMethod {
        self.compare.how(self.variants.len())
    }

    /// Baseline variant, as reports name it. `None` if there is none.
    pub fn baseline(&self) -> Option<String> {
        Some(self.row_name(self.compare.baseline?))
    }

    /// Variant as reports name it: `puma workers=8`, or the system alone if it has no parameters.
    pub fn row_name(&self, variant: usize) -> String {
        let variant = &self.variants[variant];
        let system = &self.systems[variant.system].name;
        if variant.name.is_empty() { system.clone() } else { format!("{system} {}", variant.name) }
    }
}

impl fmt::Display for StoredBaseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Label(label) => write!(f, "label {label}"),
            Self::File { name, .. } => write!(f, "file {name}"),
            Self::Run(name) => f.write_str(name),
        }
    }
}
