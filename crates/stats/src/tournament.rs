//! The best of many settings: which of them to run in the next block, and which one is the best.
//!
//! The procedure, its sources and its measured error rates are in `docs/search.md`.

mod found;

pub use found::{Found, Left, TournamentEnd, WhyLeft};

use alloc::vec::Vec;

use crate::Seen;

/// What a tournament may do, fixed before its first run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TournamentRules {
    /// How many settings there are; they are numbered from 0.
    pub settings: usize,
    /// Differences up to this share do not matter: 0.03.
    pub matters: f64,
    /// Whether a larger figure is better.
    pub higher_is_better: bool,
    /// At most so many blocks of the search itself, and again of each round of halving, and of the confirmation.
    pub blocks_max: u32,
    /// The setting that is in use: the best is confirmed against it.
    pub incumbent: Option<usize>,
    /// Whether the best is confirmed on fresh blocks.
    pub has_confirmation: bool,
}

/// What the runs of a block are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TournamentStage {
    /// Of very many the worse half leaves after each round, counted from 1.
    Halving(u32),
    /// Who is clearly behind leaves after each block.
    Search,
    /// The best against its rival, as in a duel.
    Confirm,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum TournamentStep {
    /// One run of each of these settings, in random order, all with the same arrivals.
    Block {
        /// Its number, from 1, never used twice.
        block: u32,
        /// What for.
        stage: TournamentStage,
        /// The settings in ascending order. After a block in which some had no figure it is these alone, once more.
        of: Vec<usize>,
    },
    /// Nothing more.
    Over,
}

/// A tournament in progress. The same rules and the same notes give the same steps, so noting again what was kept
/// resumes it.
#[derive(Clone, Debug)]
pub struct Tournament {
    rules: TournamentRules,
}

impl Tournament {
    /// Before the first block.
    pub fn new(rules: TournamentRules) -> Self {
        Self { rules }
    }

    /// What to run next; the same until it is noted.
    pub fn next(&self) -> TournamentStep {
        let _ = self.rules;
        TournamentStep::Over
    }

    /// What the runs of the block of [`next`](Self::next) say, in any order. A setting that was asked for and is not here
    /// is missing; one that was not asked for says nothing.
    pub fn note(&mut self, _seen: &[(usize, Seen)]) {}

    /// What is known so far.
    pub fn finding(&self) -> Found {
        Found {
            best: None,
            tied: Vec::new(),
            left: Vec::new(),
            rival: None,
            confirmed: None,
            blocks: 0,
            end: None,
        }
    }
}
