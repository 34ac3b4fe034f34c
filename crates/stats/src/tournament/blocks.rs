//! Transitions of a best-of search after each block.

use alloc::vec::Vec;

use super::block::Block;
use super::halving::{FIELD_MAX, PILOT_BLOCKS, RACE_MAX, blocks_needed, noise, rounds, survivor_count};
use super::kn::{FIRST_BLOCKS, Race};
use super::{Elimination, EliminationReason, Phase, Tournament, TournamentEnd};
use crate::{Duel, DuelRules, FIXED, MinEffect};

/// Probability of eliminating a best variant that leads by the smallest difference that matters. Halving and the race share it if
/// there are both.
const ALPHA: f64 = 0.05;

// Calling order: `begin`, then `after_block` for each complete block, until `finish`.
impl Tournament {
    /// Begins the first round of halving, or the race.
    pub(super) fn begin(&mut self) {
        if self.field.len() > RACE_MAX {
            self.begin_round(1);
        } else {
            self.begin_race(ALPHA);
        }
    }

    fn begin_round(&mut self, round: u32) {
        let block = Block::of(&self.field);
        self.phase = Phase::Halving { round, from: self.rows.len(), needed: None, block };
    }

    fn begin_race(&mut self, alpha: f64) {
        let race = Race {
            from: self.rows.len(),
            settings: self.field.len(),
            alpha,
            matters: self.matters,
            first_blocks: FIRST_BLOCKS.min(self.rules.blocks_max),
        };
        self.phase = Phase::Race { race, block: Block::of(&self.field) };
        self.race = Some(race);
        self.after_race_block(race);
    }

    /// Eliminates variants after a complete block, and chooses the next phase.
    pub(super) fn after_block(&mut self) {
        match self.phase {
            Phase::Halving { round, from, needed, .. } => self.after_round_block(round, from, needed),
            Phase::Race { race, .. } => self.after_race_block(race),
            Phase::Confirm(_) | Phase::Over => {}
        }
    }

    fn after_round_block(&mut self, round: u32, from: usize, mut needed: Option<u32>) {
        let blocks = (self.rows.len() - from) as u32;
        let most = self.rules.blocks_max.max(1);
        if needed.is_none() && (blocks >= PILOT_BLOCKS || blocks >= most) {
            let alpha = ALPHA / 2.0 / f64::from(rounds(self.rules.settings).max(1));
            let asked = blocks_needed(noise(&self.rows, from, &self.field), self.matters, alpha)
                .max(f64::from(PILOT_BLOCKS));
            self.is_capped |= asked > f64::from(most);
            needed = Some(asked.min(f64::from(most)) as u32);
        }
        if self.field.len() <= 1 {
            self.finish(TournamentEnd::Decided);
        } else if needed.is_some_and(|needed| blocks >= needed) {
            self.halve(from);
            if self.field.len() > FIELD_MAX {
                self.begin_round(round + 1);
            } else {
                self.begin_race(ALPHA / 2.0);
            }
        } else {
            self.phase = Phase::Halving { round, from, needed, block: Block::of(&self.field) };
        }
    }

    /// Eliminates the worse half, and variants with more errors.
    fn halve(&mut self, from: usize) {
        self.eliminate_by_errors(from);
        let mut order: Vec<(usize, f64)> = self
            .field
            .iter()
            .map(|setting| (*setting, self.rows.mean(from, *setting).unwrap_or(f64::NEG_INFINITY)))
            .collect();
        order.sort_by(|one, other| other.1.total_cmp(&one.1));
        let better: Vec<usize> =
            order.iter().take(survivor_count(order.len())).map(|(setting, _)| *setting).collect();
        self.keep(&better, EliminationReason::Halved);
    }

    fn after_race_block(&mut self, race: Race) {
        let blocks = (self.rows.len() - race.from) as u32;
        self.eliminate_by_errors(race.from);
        let left = race.survivors(&self.rows, &self.field);
        self.keep(&left.settings, EliminationReason::Behind);
        if left.is_decided || self.field.len() <= 1 {
            self.finish(if self.is_capped { TournamentEnd::OutOfBlocks } else { TournamentEnd::Decided });
        } else if blocks >= self.rules.blocks_max {
            self.finish(TournamentEnd::OutOfBlocks);
        } else {
            self.phase = Phase::Race { race, block: Block::of(&self.field) };
        }
    }

    /// Eliminates variants with significantly more errors than the one with the fewest. Errors take precedence over figures.
    fn eliminate_by_errors(&mut self, from: usize) {
        let Some(fewest) = self.rows.fewest_errors(from, &self.field) else { return };
        let errs = |setting: &usize| *setting != fewest && self.rows.has_more_errors(from, *setting, fewest);
        let rest: Vec<usize> = self.field.iter().copied().filter(|setting| !errs(setting)).collect();
        self.keep(&rest, EliminationReason::MoreErrors);
    }

    fn keep(&mut self, rest: &[usize], why: EliminationReason) {
        let after = self.rows.len() as u32;
        let gone = self.field.iter().copied().filter(|setting| !rest.contains(setting));
        let gone: Vec<Elimination> = gone.map(|setting| (setting, after, why)).collect();
        self.left.extend(gone);
        self.field.retain(|setting| rest.contains(setting));
    }

    /// Ends the search. Begins the confirmation if the rules ask for it and there is a rival.
    fn finish(&mut self, end: TournamentEnd) {
        let unmeasured =
            |out: &&Elimination| matches!(out.2, EliminationReason::Invalid | EliminationReason::NoFigure);
        let measured = self.rules.settings - self.left.iter().filter(unmeasured).count();
        let is_fit = measured >= self.rules.settings.min(2) && self.rules.settings > 0;
        let best = self.best();
        self.phase = Phase::Over;
        self.end = Some(match best {
            _ if !is_fit => TournamentEnd::NotFit,
            Some(best) if !self.unresolved(best).is_empty() => TournamentEnd::Unmeasured,
            _ => end,
        });
        let Some(best) = best.filter(|_| self.end != Some(TournamentEnd::Unmeasured)) else { return };
        let Some(rival) = self.rival(best).filter(|_| is_fit) else { return };
        self.finalists = Some((best, rival));
        if self.rules.has_confirmation {
            self.phase = Phase::Confirm(Duel::new(DuelRules {
                matters: MinEffect::share(self.rules.matters),
                higher_is_better: self.rules.higher_is_better,
                blocks_max: self.rules.blocks_max.max(FIXED.blocks),
                pilot_blocks: 0,
                family: 1,
                looks_early: false,
                has_control: false,
            }));
        }
    }

    /// Returns the best remaining variant over the blocks of the current round or race, or over all blocks.
    pub(super) fn best(&self) -> Option<usize> {
        let from = match &self.phase {
            Phase::Halving { from, .. } => *from,
            Phase::Race { race, .. } => race.from,
            Phase::Confirm(_) | Phase::Over => 0,
        };
        self.rows.best(from, &self.field).or_else(|| self.rows.best(0, &self.field)).or(self
            .field
            .first()
            .copied()
            .filter(|_| self.field.len() == 1))
    }

    /// Returns the incumbent. If the incumbent is the best, or has no figure, returns the variant closest behind the best.
    fn rival(&self, best: usize) -> Option<usize> {
        let left_for = |setting: usize, why: EliminationReason| {
            self.left.iter().any(|out| out.0 == setting && out.2 == why)
        };
        // Another run of a variant that could not be measured would be lost again.
        let is_lost = |setting: usize| {
            [EliminationReason::Invalid, EliminationReason::NoFigure]
                .iter()
                .any(|why| left_for(setting, *why))
        };
        let behind = |setting: usize| {
            self.rows.lead(0, best, setting).filter(|_| setting != best && !is_lost(setting))
        };
        if let Some(incumbent) = self.rules.incumbent.filter(|incumbent| behind(*incumbent).is_some()) {
            return Some(incumbent);
        }
        let rivals =
            (0..self.rules.settings).filter(|setting| !left_for(*setting, EliminationReason::MoreErrors));
        let rivals = rivals.filter_map(|setting| Some((setting, behind(setting)?)));
        rivals.reduce(|first, next| if next.1 < first.1 { next } else { first }).map(|(setting, _)| setting)
    }

    /// Returns the variants whose runs became invalid before they were significantly behind the best.
    pub(super) fn unresolved(&self, best: usize) -> Vec<usize> {
        let is_behind = |setting: usize| match &self.race {
            Some(race) => !race.survivors(&self.rows, &[best, setting]).settings.contains(&setting),
            None => self.rows.lead(0, best, setting).is_some_and(|lead| lead >= self.matters),
        };
        let was_measured = |setting: usize| self.rows.lead(0, best, setting).is_some();
        let left = self.left.iter().filter(|out| out.2 == EliminationReason::Invalid).map(|out| out.0);
        left.filter(|setting| was_measured(*setting) && !is_behind(*setting)).collect()
    }

    /// Returns the variants that are not significantly worse than the best: those within the threshold over common blocks, those still
    /// racing when the blocks were used up, and those that could not be measured to the end.
    pub(super) fn tied_with(&self, best: usize) -> Vec<usize> {
        let is_open = self.end != Some(TournamentEnd::Decided);
        let unresolved = self.unresolved(best);
        let is_tied = |setting: usize| {
            let has_errors =
                self.left.iter().any(|out| out.0 == setting && out.2 == EliminationReason::MoreErrors);
            let is_near = || self.rows.lead(0, best, setting).is_some_and(|lead| lead < self.matters);
            setting == best
                || unresolved.contains(&setting)
                || (is_open && self.field.contains(&setting))
                || (!has_errors && is_near())
        };
        (0..self.rules.settings).filter(|setting| is_tied(*setting)).collect()
    }
}
