//! The best of many settings: which of them to run in the next block, and which one is the best.
//!
//! The procedure, its sources and its measured error rates are in `docs/search.md`.

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

use crate::{Comparison, Duel, DuelStep, Seen};
use block::{Block, Lost};
pub use forecast::TournamentForecast;
pub use halving::RACE_MAX;
use kn::Race;
use rows::Rows;

/// What a tournament may do, fixed before its first run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TournamentRules {
    /// How many settings there are; they are numbered from 0.
    pub settings: usize,
    /// Differences up to this share do not matter: 0.03.
    pub matters: f64,
    /// Whether a larger figure is better.
    pub higher_is_better: bool,
    /// At most so many blocks of the search itself, and again of each round of halving, and of the confirmation (at least
    /// six, as fewer have no verdict).
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
    /// What matters, as the logarithm of a ratio.
    matters: f64,
    rows: Rows,
    field: Vec<usize>,
    left: Vec<Out>,
    /// Blocks that were asked for and noted.
    noted: u32,
    /// Whether a round of halving needed more blocks than there may be.
    is_capped: bool,
    /// The last race, by which those are judged that left it without a word about how good they are.
    race: Option<Race>,
    /// The best and its rival, once they are known.
    finalists: Option<(usize, usize)>,
    phase: Phase,
    confirmed: Option<Comparison>,
    end: Option<TournamentEnd>,
}

/// A setting that is out: which, after how many fit blocks, and what for.
type Out = (usize, u32, EliminationReason);

#[derive(Clone, Debug)]
enum Phase {
    /// Blocks since `from` belong to the round; `needed` is known after the first few of them.
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

/// More blocks are not made, and more settings not compared, whatever the rules say.
const BLOCKS_MAX: u32 = 1_000;
const SETTINGS_MAX: usize = 4_096;
/// A smaller difference always is of no account.
const MATTERS_MIN: f64 = 1e-4;
/// A setting without a figure is run again so many times.
const AGAIN_MAX: u32 = 3;

impl Tournament {
    /// Before the first block. Rules out of their bounds are brought into them.
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
            matters: log1p(if rules.matters.is_finite() { rules.matters.max(MATTERS_MIN) } else { 0.03 }),
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

    /// What to run next; the same until it is noted.
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

    /// What the runs of the block of [`next`](Self::next) say, in any order. A setting that was asked for and is not here
    /// is missing; one that was not asked for says nothing.
    pub fn note(&mut self, seen: &[(usize, Seen)]) {
        let said = |setting: usize| {
            seen.iter().find(|(of, _)| *of == setting).map_or(Seen::Missing, |(_, said)| *said)
        };
        match &mut self.phase {
            Phase::Halving { block, .. } | Phase::Race { block, .. } => {
                let lost = block.note(said, AGAIN_MAX);
                let is_complete = block.is_complete();
                if is_complete {
                    self.rows.push(block.row(self.rules.settings));
                }
                self.leave_without_figure(lost);
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

    /// What is known so far.
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

    fn leave_without_figure(&mut self, lost: Vec<Lost>) {
        let after = self.rows.len() as u32;
        for Lost { setting, is_invalid } in lost {
            self.field.retain(|left| *left != setting);
            let why = if is_invalid { EliminationReason::Invalid } else { EliminationReason::NoFigure };
            self.left.push((setting, after, why));
        }
    }
}
