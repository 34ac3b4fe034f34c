//! Best-of search among many variants: which variants to run in the next block, and which one is best.
//!
//! `docs/search.md` describes the procedure, its sources, and its measured error rates.

mod block;
mod blocks;
mod forecast;
mod found;
mod halving;
mod kn;
mod rows;

pub use found::{Eliminated, EliminationReason, TournamentEnd, TournamentFindings};

use alloc::vec::Vec;

use libm::log1p;

use crate::{Comparison, Duel, DuelStep, RunResult};
use block::{Block, Lost};
pub use forecast::TournamentForecast;
pub use halving::RACE_MAX;
use kn::Race;
use rows::Rows;

/// Rules of a best-of search, fixed before its first run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TournamentRules {
    /// Number of variants, which are numbered from 0.
    pub settings: usize,
    /// Largest difference that does not matter, as a share, such as 0.03.
    pub matters: f64,
    /// True if a larger figure is better.
    pub higher_is_better: bool,
    /// Maximum number of blocks of the race, of each round of halving, and of the confirmation. The confirmation has at least six,
    /// because fewer give no verdict.
    pub blocks_max: u32,
    /// Variant in use, against which the best is confirmed. `None` if there is none.
    pub incumbent: Option<usize>,
    /// True if the best is confirmed on fresh blocks.
    pub has_confirmation: bool,
}

/// Stage that a block belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TournamentStage {
    /// Successive halving of many variants. The worse half is eliminated after each round, counted from 1.
    Halving(u32),
    /// Race: variants that are clearly behind are eliminated after each block.
    Search,
    /// Head-to-head comparison of the best with its rival, as in a duel.
    Confirm,
}

/// Next step of a best-of search.
#[derive(Clone, Debug, PartialEq)]
pub enum TournamentStep {
    /// Run each of these variants once, in random order, all with the same arrivals.
    Block {
        /// Number of the block, from 1, unique.
        block: u32,
        /// Stage of the block.
        stage: TournamentStage,
        /// Variants in ascending order. If some had no figure in the block, only those are repeated.
        of: Vec<usize>,
    },
    /// The search is over.
    Over,
}

/// Best-of search in progress. Equal rules and equal notes give equal steps, so noting stored results again resumes it.
#[derive(Clone, Debug)]
pub struct Tournament {
    rules: TournamentRules,
    /// Smallest difference that matters, as a log ratio.
    matters: f64,
    rows: Rows,
    field: Vec<usize>,
    left: Vec<Elimination>,
    /// Number of noted blocks that were requested.
    noted: u32,
    /// True if a round of halving needed more blocks than the maximum.
    is_capped: bool,
    /// Last race. It provides the judgment of variants that left it without a verdict on their performance.
    race: Option<Race>,
    /// Best variant and its rival, once they are known.
    finalists: Option<(usize, usize)>,
    phase: Phase,
    confirmed: Option<Comparison>,
    end: Option<TournamentEnd>,
}

/// Eliminated variant: its number, the number of valid blocks before, and the reason.
type Elimination = (usize, u32, EliminationReason);

#[derive(Clone, Debug)]
enum Phase {
    /// Blocks since `from` belong to the round. `needed` is known after the first few of them.
    Halving {
        round: u32,
        from: usize,
        needed: Option<u32>,
        block: Block,
    },
    Race {
        race: Race,
        block: Block,
    },
    Confirm(Duel),
    Over,
}

/// Upper bound of the number of blocks, regardless of the rules.
const BLOCKS_MAX: u32 = 1_000;
/// Upper bound of the number of variants, regardless of the rules.
const SETTINGS_MAX: usize = 4_096;
/// Lower bound of the smallest difference that matters.
const MIN_EFFECT_MIN: f64 = 1e-4;
/// Maximum number of repeated runs of a variant without a figure.
const REPEATS_MAX: u32 = 3;

impl Tournament {
    /// Creates a search before its first block. Out-of-range rules are clamped.
    pub fn new(rules: TournamentRules) -> Self {
        let settings = rules.settings.min(SETTINGS_MAX);
        let rules = TournamentRules {
            settings,
            blocks_max: rules.blocks_max.min(BLOCKS_MAX),
            incumbent: rules.incumbent.filter(|incumbent| *incumbent < settings),
            ..rules
        };
        let mut tournament = Self {
            rules,
            matters: log1p(if rules.matters.is_finite() { rules.matters.max(MIN_EFFECT_MIN) } else { 0.03 }),
            rows: Rows::new(rules.higher_is_better),
            field: (0..settings).collect(),
            left: Vec::new(),
            noted: 0,
            is_capped: false,
            race: None,
            finalists: None,
            phase: Phase::Over,
            confirmed: None,
            end: None,
        };
        tournament.begin();
        tournament
    }

    /// Returns the next step. It stays the same until results are noted.
    pub fn next(&self) -> TournamentStep {
        let (stage, of) = match &self.phase {
            Phase::Halving { round, block, .. } => (TournamentStage::Halving(*round), block.missing()),
            Phase::Race { block, .. } => (TournamentStage::Search, block.missing()),
            Phase::Confirm(_) => {
                let Some((best, rival)) = self.finalists else { return TournamentStep::Over };
                (TournamentStage::Confirm, Vec::from([best.min(rival), best.max(rival)]))
            }
            Phase::Over => return TournamentStep::Over,
        };
        TournamentStep::Block { block: self.noted + 1, stage, of }
    }

    /// Notes the results of the block of [`next`](Self::next), in any order. A requested variant without a result is missing; a
    /// result that was not requested is ignored.
    pub fn note(&mut self, seen: &[(usize, RunResult)]) {
        let said = |setting: usize| {
            seen.iter().find(|(of, _)| *of == setting).map_or(RunResult::Missing, |(_, said)| *said)
        };
        match &mut self.phase {
            Phase::Halving { block, .. } | Phase::Race { block, .. } => {
                let lost = block.note(said, REPEATS_MAX);
                let is_complete = block.is_complete();
                if is_complete {
                    self.rows.push(block.row(self.rules.settings));
                }
                self.eliminate_without_figure(lost);
                if is_complete {
                    self.after_block();
                }
            }
            Phase::Confirm(duel) => {
                let Some((best, rival)) = self.finalists else { return };
                duel.note([said(best), said(rival)]);
                if matches!(duel.next(), DuelStep::Over(_)) {
                    self.confirmed = Some(duel.finding());
                    self.phase = Phase::Over;
                }
            }
            Phase::Over => return,
        }
        self.noted += 1;
    }

    /// Returns the result so far.
    pub fn finding(&self) -> TournamentFindings {
        let best = self.finalists.map(|(best, _)| best).or_else(|| self.best());
        let ratio_of = |setting: usize| {
            let lead = self.rows.lead(0, setting, best.filter(|best| *best != setting)?)?;
            self.rows.ratio(lead)
        };
        TournamentFindings {
            best,
            tied: best.map_or(Vec::new(), |best| self.tied_with(best)),
            left: self
                .left
                .iter()
                .map(|(setting, after_blocks, why)| Eliminated {
                    setting: *setting,
                    after_blocks: *after_blocks,
                    why: *why,
                    ratio: ratio_of(*setting),
                })
                .collect(),
            rival: self.finalists.map(|(_, rival)| rival),
            confirmed: match &self.phase {
                Phase::Confirm(duel) if duel.blocks().is_empty() => None,
                Phase::Confirm(duel) => Some(duel.finding()),
                _ => self.confirmed,
            },
            blocks: self.rows.len() as u32,
            end: self.end.filter(|_| matches!(self.phase, Phase::Over)),
        }
    }

    fn eliminate_without_figure(&mut self, lost: Vec<Lost>) {
        let after = self.rows.len() as u32;
        for Lost { setting, is_invalid } in lost {
            self.field.retain(|left| *left != setting);
            let why = if is_invalid { EliminationReason::Invalid } else { EliminationReason::NoFigure };
            self.left.push((setting, after, why));
        }
    }
}
