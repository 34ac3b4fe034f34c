//! Transitions between the phases of a search.

use super::confirm::Confirmation;
use super::level::rounded;
use super::level_runs::{LevelRuns, LevelVerdict};
use super::rate_verdicts::Need;
use super::{
    At, LEVEL_RUNS_MAX, Level, NEAR_RATIO_MAX, OVERRULE_LEAD, Phase, RECOVERY_SHARE, ROUGH_LEVEL_RUNS_MAX,
    START_SHARE, Search, SearchEnd, SearchStage, Tally,
};

impl Search {
    /// Returns the verdict of the runs at a rate. `None` if they do not decide yet.
    pub(super) fn told(&self, stage: SearchStage, lead: LevelRuns) -> Option<LevelVerdict> {
        if stage == SearchStage::Bracket {
            return if lead.has_only_passes() {
                Some(LevelVerdict::Holds)
            } else {
                lead.told(2, ROUGH_LEVEL_RUNS_MAX)
            };
        }
        let is_near = match (self.ends.low, self.ends.high) {
            (Some(low), Some(high)) => high.per_s / low.per_s <= NEAR_RATIO_MAX,
            _ => true,
        };
        let by = if is_near || stage == SearchStage::Edge { OVERRULE_LEAD } else { 2 };
        lead.told(by, LEVEL_RUNS_MAX)
    }

    /// Tries more users, or continues with rates if throughput no longer grows.
    pub(super) fn after_sizing(&mut self) {
        match self.sizing.next() {
            Some(users) => self.phase = Phase::Sizing { users },
            None => self.begin_rates(),
        }
    }

    fn begin_rates(&mut self) {
        let Some(ceiling) = self.sizing.ceiling_per_s() else {
            self.phase = Phase::Over(SearchEnd::NotFit);
            return;
        };
        let start = (ceiling * START_SHARE).min(self.rules.to_per_s.unwrap_or(f64::INFINITY));
        self.ends.start_per_s = Some(rounded(start, self.rules.resolution)).filter(|start| *start > 0.0);
        self.advance();
    }

    /// Continues with the next rate, or with the phase after the rates.
    pub(super) fn advance(&mut self) {
        self.phase = match self.ends.need() {
            Need::Rate { per_s, stage } => Phase::Rate { per_s, stage, lead: LevelRuns::default() },
            Need::NothingHolds if self.ends.unmeasurable_per_s.is_some() => Phase::Over(SearchEnd::NotFit),
            Need::NothingHolds => Phase::Over(SearchEnd::NothingHolds),
            Need::Confirmation => {
                let is_open = |end: super::rate_verdicts::End| !end.is_confirmed;
                let (low, high) = (self.ends.low.is_some_and(is_open), self.ends.high.is_some_and(is_open));
                if self.rules.confirm_runs > 0 && (low || high) {
                    Phase::Confirm(Confirmation::of(low, high, &self.rules, &mut self.chance))
                } else {
                    self.after_confirmation();
                    return;
                }
            }
        };
    }

    fn after_confirmation(&mut self) {
        match (self.ends.low, self.ends.high) {
            (Some(low), Some(_)) if self.rules.has_overload => {
                self.phase = Phase::Overload { per_s: self.below(low.per_s), lead: LevelRuns::default() };
            }
            _ => self.after_overload(),
        }
    }

    pub(super) fn after_overload(&mut self) {
        match self.ends.low {
            Some(low) if self.rules.has_soak => {
                self.phase = Phase::Soak { per_s: self.below(low.per_s) };
            }
            _ => self.end(),
        }
    }

    fn below(&self, per_s: f64) -> f64 {
        rounded(per_s * RECOVERY_SHARE, self.rules.resolution)
    }

    pub(super) fn end(&mut self) {
        self.phase = Phase::Over(match (self.ends.high, self.ends.unmeasurable_per_s) {
            (Some(_), _) => SearchEnd::Found,
            (None, Some(_)) => SearchEnd::NotFit,
            (None, None) => SearchEnd::NothingFails,
        });
    }

    /// Gives up the level of the current phase because it cannot be measured.
    pub(super) fn give_up(&mut self) {
        match self.phase {
            // Throughput with more users is not needed.
            Phase::Sizing { .. } => self.begin_rates(),
            Phase::Rate { per_s, .. } if self.ends.drop_unmeasurable(per_s) => self.advance(),
            Phase::Rate { .. } | Phase::Confirm(_) => self.phase = Phase::Over(SearchEnd::NotFit),
            Phase::Overload { .. } => self.after_overload(),
            Phase::Soak { .. } => self.end(),
            Phase::Over(_) => {}
        }
    }

    /// Ends the search if the maximum number of runs is reached.
    pub(super) fn stop_at_run_limit(&mut self) {
        if self.runs < self.rules.runs_max {
            return;
        }
        match self.phase {
            Phase::Over(_) => {}
            // The capacity is already known in these phases.
            Phase::Overload { .. } | Phase::Soak { .. } => self.end(),
            _ => self.phase = Phase::Over(SearchEnd::OutOfRuns),
        }
    }

    /// Counts a run, except those of the overload and soak stages.
    pub(super) fn tally(&mut self, level: Level, has_passed: Option<bool>) {
        let At::PerS(per_s) = level.at else { return };
        if matches!(level.stage, SearchStage::Overload | SearchStage::Soak) {
            return;
        }
        let place = self.tallies.partition_point(|tally| tally.per_s < per_s);
        if self.tallies.get(place).is_none_or(|tally| tally.per_s != per_s) {
            self.tallies.insert(place, Tally { per_s, passed: 0, failed: 0, invalid: 0 });
        }
        let tally = &mut self.tallies[place];
        *match has_passed {
            Some(true) => &mut tally.passed,
            Some(false) => &mut tally.failed,
            None => &mut tally.invalid,
        } += 1;
    }
}
