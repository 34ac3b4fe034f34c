//! Trials of A/B duels.

use load::chance::Chance;
use load::open::Profile;
use load::{Load, Open, SECOND_NS, Schedule, Spacing};
use stats::{Duel, DuelRules, DuelStep, RunResult, Verdict};

use super::{seeds, shuffled};
use crate::{LoadTimes, Queue, Service, play};

/// Upper bound of the number of steps of a duel.
const STEPS_MAX: u32 = 10_000;

/// Setup of duels.
#[derive(Clone, Copy, Debug)]
pub struct DuelTrial {
    /// Rules of each duel.
    pub rules: DuelRules,
    /// True figure of A ÷ that of B.
    pub ratio: f64,
}

/// Number of duels by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Duels {
    /// Duels that ended.
    pub ended: u32,
    /// Duels that found a difference.
    pub differs: u32,
    /// Duels that found a difference in the wrong direction, or in any direction if both systems are equal.
    pub wrong: u32,
    /// Duels with an estimated difference above twice the threshold.
    pub wild: u32,
    /// Duels that found equivalence.
    pub equivalent: u32,
    /// Inconclusive duels.
    pub inconclusive: u32,
    /// Duels whose interval covers the true ratio.
    pub covered: u32,
    /// Counted blocks over all duels.
    pub blocks: u32,
}

/// Runs `count` duels. `systems` returns the run function of a duel for its seed, which takes the side, A (0) or B (1), and the
/// block.
pub fn duels<Run: FnMut(usize, u32) -> RunResult>(
    trial: &DuelTrial,
    seed: u64,
    count: u32,
    mut systems: impl FnMut(u64) -> Run,
) -> Duels {
    let mut found = Duels::default();
    for seed in seeds(seed, count) {
        let duel = run_duel(trial.rules, seed, systems(seed));
        found.note(&duel, trial.ratio);
    }
    found
}

/// Runs duels of two equal M/M/1 queues at 50 % utilization. A run lasts ten seconds at 100 requests per second, and is judged by
/// the mean response time.
pub fn duels_of_equal_queues(rules: DuelRules, seed: u64, count: u32) -> Duels {
    let queue = Queue { servers: 1, service: Service::Exponential { mean_ns: 5_000_000 } };
    let times = LoadTimes { warm_up_ns: SECOND_NS, stop_ns: 11 * SECOND_NS };
    duels(&DuelTrial { rules, ratio: 1.0 }, seed, count, |seed| {
        let mut runs = 0;
        move |_, block| {
            runs += 1;
            let spacing = Spacing::poisson(seed ^ u64::from(block));
            let profile = Profile::constant(100.0);
            let load = Load::Open(Open {
                schedule: Schedule::Rate(profile, spacing),
                connections: 1_000,
                shed_after_ns: None,
            });
            let played = play(&load, &queue, times, seed.wrapping_add(runs));
            let planned = played.tally.counts.ended();
            played.mean_response_s().map_or(RunResult::Invalid, |value| RunResult::exactly(value, 0, planned))
        }
    })
}

fn run_duel(rules: DuelRules, seed: u64, mut run: impl FnMut(usize, u32) -> RunResult) -> Duel {
    let mut duel = Duel::new(rules);
    // Random order of the two runs in a block.
    let mut chance = Chance::stream(seed, u64::MAX);
    for _ in 0..STEPS_MAX {
        match duel.next() {
            DuelStep::Pilot { block } => {
                let block = u32::MAX - block;
                duel.note_pilot([run(0, block), run(0, block)]);
            }
            DuelStep::Block { block } => {
                let mut seen = [RunResult::Missing; 2];
                for side in shuffled(vec![0, 1], &mut chance) {
                    seen[side] = run(side, block);
                }
                duel.note(seen);
            }
            DuelStep::Over(_) => break,
        }
    }
    duel
}

impl Duels {
    fn note(&mut self, duel: &Duel, truth: f64) {
        if !matches!(duel.next(), DuelStep::Over(_)) {
            return;
        }
        self.ended += 1;
        let finding = duel.finding();
        self.blocks += finding.common as u32;
        let ratio = finding.estimate.unwrap_or(1.0);
        match finding.verdict {
            Verdict::Differs { .. } => {
                self.differs += 1;
                self.wrong += u32::from(truth == 1.0 || (ratio > 1.0) != (truth > 1.0));
                self.wild += u32::from(ratio.ln().abs() > 2.0 * duel.rules().matters.size);
            }
            Verdict::Equivalent => self.equivalent += 1,
            Verdict::Inconclusive => self.inconclusive += 1,
            _ => {}
        }
        let is_covered = finding.interval.is_some_and(|[low, high]| (low..=high).contains(&truth));
        self.covered += u32::from(is_covered);
    }
}
