//! How the variants of a study are compared, and how many runs that takes.

use std::fmt;

use judge::ComparedBy;
use stats::Scale;

use super::{Compare, StoredBaseline, Study};

/// The blocks after which the first variants can be eliminated.
pub(crate) const BEST_BLOCKS_LEAST: u32 = 8;
/// The maximum of blocks in which the winner is confirmed at the end.
const CONFIRM_BLOCKS: u32 = 24;

/// What decides in the store where nothing is compared.
const FAILURES: &str = "failures";

/// What is to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Find {
    /// How all variants compare.
    Every,
    /// The best variant.
    Best,
    /// The best variant of each system, and how these compare.
    BestOfEach,
    /// Which variants fail: nothing is compared.
    Failures,
}

impl Find {
    /// All, in the order of their names.
    pub(crate) const ALL: [Self; 4] = [Self::Every, Self::Best, Self::BestOfEach, Self::Failures];
    /// As plans write them.
    pub(crate) const NAMES: [&'static str; 4] = ["every", "best", "best of each", FAILURES];

    /// As plans write it.
    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().position(|find| *find == self).map_or(FAILURES, |at| Self::NAMES[at])
    }
}

/// How it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Every variant in a fixed number of blocks.
    Blocks,
    /// A/B comparison: two variants, until the result is conclusive.
    Duel,
    /// Best-of search: worse variants are eliminated, until the result is conclusive.
    Best,
    /// Every variant in a sweep under the first load, then the best of each system in a fixed number of blocks under all loads.
    BestOfEach {
        /// Blocks of the sweep.
        sweep_blocks: u32,
    },
}

/// What comes before the blocks that judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// How often every variant is run.
    pub blocks: u32,
    /// How many systems there are: so many variants are in the final.
    pub systems: u32,
}

impl Compare {
    /// How it is found between so many variants.
    pub(crate) fn how(&self, variants: usize) -> How {
        match self.find {
            Find::Every if variants == 2 && self.first_look().is_some() => How::Duel,
            Find::Best if variants >= 2 && self.blocks >= BEST_BLOCKS_LEAST => How::Best,
            Find::BestOfEach => {
                self.sweep.map_or(How::Blocks, |sweep| How::BestOfEach { sweep_blocks: sweep.blocks })
            }
            _ => How::Blocks,
        }
    }

    /// How many runs come before them, under the first load alone.
    pub(crate) fn runs_of_sweep(&self, variants: usize) -> u64 {
        match self.how(variants) {
            How::BestOfEach { sweep_blocks } => variants as u64 * u64::from(sweep_blocks),
            How::Blocks | How::Duel | How::Best => 0,
        }
    }

    /// How many runs of one load each block of the final has.
    fn finalists(&self) -> u64 {
        self.sweep.map_or(0, |sweep| u64::from(sweep.systems))
    }

    /// How many runs that takes under one load, at most; a sweep not counted.
    pub(crate) fn runs_most(&self, variants: usize) -> u64 {
        let all = variants as u64 * u64::from(self.blocks);
        match self.how(variants) {
            How::Blocks => all,
            How::Duel => all + 2 * u64::from(self.pilot),
            How::Best => all + 2 * u64::from(CONFIRM_BLOCKS.min(self.blocks)),
            How::BestOfEach { .. } => self.finalists() * u64::from(self.blocks),
        }
    }

    /// How many runs it takes under one load at least, if nothing goes wrong: until an obvious difference is found, or all.
    pub(crate) fn runs_least(&self, variants: usize) -> u64 {
        let each = variants as u64;
        match self.how(variants) {
            How::Blocks => each * u64::from(self.blocks),
            How::Duel => {
                2 * u64::from(self.pilot + self.obvious_look().or(self.first_look()).unwrap_or(self.blocks))
            }
            How::Best => (each + 2) * u64::from(BEST_BLOCKS_LEAST),
            How::BestOfEach { .. } => self.finalists() * u64::from(self.blocks),
        }
    }

    /// The blocks after which it can be decided for the first time between two variants; `None`: never.
    pub(crate) fn first_look(&self) -> Option<u32> {
        stats::looks(self.blocks as usize, self.family()).next().map(|look| look.blocks)
    }

    /// The blocks after which an obvious difference between two variants can be decided; `None` where a figure has no ratio.
    pub(crate) fn obvious_look(&self) -> Option<u32> {
        let are_ratios = self.metrics().all(|by| by.scale() == Scale::Ratio);
        are_ratios.then(|| self.blocks.min(stats::OBVIOUS_BLOCKS as u32))
    }

    /// How many comparisons of two variants share the error rate: one by each figure.
    pub(crate) fn family(&self) -> u32 {
        u32::try_from(self.also.len()).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// What decides, as the store has it: the figure, or that failures are looked for.
    pub fn by_name(&self) -> String {
        if self.find == Find::Failures { FAILURES.to_owned() } else { self.by.name() }
    }

    /// Every figure that decides, the first one first.
    pub fn metrics(&self) -> impl Iterator<Item = &ComparedBy> {
        std::iter::once(&self.by).chain(&self.also)
    }
}

impl Study {
    /// How the answer to its question is found.
    pub fn how(&self) -> How {
        self.compare.how(self.variants.len())
    }

    /// The variant that the others are compared with, as reports write it.
    pub fn baseline(&self) -> Option<String> {
        Some(self.row_name(self.compare.baseline?))
    }

    /// A variant as reports write it: `puma workers=8`, or the system alone if nothing of it varies.
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
