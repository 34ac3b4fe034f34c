//! A versus B, many times.

use load::chance::Chance;
use load::open::Profile;
use load::{Load, Open, SECOND_NS, Schedule, Spacing};
use stats::{Duel, DuelRules, DuelStep, Seen, Verdict};

use super::{seeds, shuffled};
use crate::{LoadTimes, Queue, Service, play};

/// More steps than these no duel may take.
const STEPS_MAX: u32 = 10_000;

/// What every duel is about.
#[derive(Clone, Copy, Debug)]
pub struct DuelTrial {
    /// What is laid down.
    pub rules: DuelRules,
    /// The true figure of A over that of B.
    pub ratio: f64,
}

/// How often what was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Duels {
    /// Duels that came to an end.
    pub ended: u32,
    /// They differ.
    pub differs: u32,
    /// They differ, in the wrong direction; where both are equal, in either.
    pub wrong: u32,
    /// They differ by more than twice what matters, as estimated.
    pub wild: u32,
    /// They are equivalent.
    pub equivalent: u32,
    /// Neither can be said.
    pub inconclusive: u32,
    /// The interval covers the true ratio.
    pub covered: u32,
    /// Blocks that counted, over all duels.
    pub blocks: u32,
}

/// Makes so many duels. `systems` makes the runs of one duel from its seed: of A (0) or B (1), in a block.
pub fn duels<Run: FnMut(usize, u32) -> Seen>(
    trial: &DuelTrial,
    seed: u64,
    count: u32,
    mut systems: impl FnMut(u64) -> Run,
) -> Duels {
    let mut found = Duels::default();
    for seed in seeds(seed, count) {
        let duel = fight(trial.rules, seed, systems(seed));
        found.note(&duel, trial.ratio);
    }
    found
}

/// Duels of two M/M/1 queues that are the same, half busy: a run is ten seconds at 100 requests per second, judged by the mean
/// response time.
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
            played.mean_response_s().map_or(Seen::Invalid, |value| Seen::Figure { value, errors: 0, planned })
        }
    })
}

fn fight(rules: DuelRules, seed: u64, mut run: impl FnMut(usize, u32) -> Seen) -> Duel {
    let mut duel = Duel::new(rules);
    // The coin that says who runs first.
    let mut chance = Chance::stream(seed, u64::MAX);
    for _ in 0..STEPS_MAX {
        match duel.next() {
            DuelStep::Pilot { block } => {
                let block = u32::MAX - block;
                duel.note_pilot([run(0, block), run(0, block)]);
            }
            DuelStep::Block { block } => {
                let mut seen = [Seen::Missing; 2];
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
