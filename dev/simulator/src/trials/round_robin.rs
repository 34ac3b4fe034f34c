//! Trials of comparisons of more than two variants in slices: all pairs are judged as duels that share one error rate.
//!
//! A log figure is the true one plus a disturbance drawn per start and one drawn per slice. Starts of a block may be coupled, and the load
//! on the first variant may take a share from the others for some time after it.

use std::collections::BTreeSet;

use load::chance::Chance;
use stats::{
    Comparison, Duel, DuelEnd, DuelRules, DuelStep, MinEffect, RunResult, Slice, Verdict, judge_together,
};

use super::coupling::Aftereffect;
use super::interleaved::{Disturbed, StartShape};
use super::{seeds, shuffled};
use crate::service::normal;

/// Time of a start with its warm-up, in seconds.
const START_S: f64 = 1.5;
/// Time excluded from each further slice, in seconds.
const SETTLE_S: f64 = 0.25;
/// Measured time of a slice, in seconds.
const SLICE_S: f64 = 1.0;
/// Slices of each variant in a block.
const SLICES: usize = 2;

/// Comparison of several variants.
#[derive(Clone, Debug)]
pub struct RoundRobinTrial {
    /// True figure of each variant.
    pub truths: Vec<f64>,
    /// Disturbances of starts and slices, coupling of starts, and the lasting effect of the load on the first variant on all others.
    pub disturbed: Disturbed,
    /// Blocks of each pair.
    pub blocks: u32,
    /// Starts of each variant alone, if first slices do not confirm a difference.
    pub lone_starts: usize,
}

/// Results of many comparisons.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoundRobins {
    /// Comparisons in which any pair was reported to differ although it does not, or in the wrong direction.
    pub wrong: u32,
    /// Comparisons in which all pairs that differ were found.
    pub found_all: u32,
    /// Pairs that differ and were found, over all comparisons.
    pub found_pairs: u32,
    /// Comparisons that needed lone starts.
    pub alone: u32,
    /// Sum of the durations of all comparisons, in seconds.
    pub total_s: f64,
}

/// Runs `count` comparisons.
pub fn round_robins(trial: &RoundRobinTrial, seed: u64, count: u32) -> RoundRobins {
    let mut results = RoundRobins::default();
    for seed in seeds(seed, count) {
        Course::new(trial, seed).run(&mut results);
    }
    results
}

/// A comparison in progress.
struct Course<'a> {
    trial: &'a RoundRobinTrial,
    chance: Chance,
    now_s: f64,
    /// End of the last load on the first variant in this block. `None` if there was none.
    loaded_s: Option<f64>,
}

impl<'a> Course<'a> {
    fn new(trial: &'a RoundRobinTrial, seed: u64) -> Self {
        Self { trial, chance: Chance::stream(seed, 11), now_s: 0.0, loaded_s: None }
    }

    fn run(&mut self, results: &mut RoundRobins) {
        let variants = self.trial.truths.len();
        let pairs: Vec<[usize; 2]> =
            (0..variants).flat_map(|a| (a + 1..variants).map(move |b| [a, b])).collect();
        let rules = DuelRules {
            matters: MinEffect::share(0.03),
            higher_is_better: true,
            blocks_max: self.trial.blocks,
            pilot_blocks: 0,
            family: pairs.len() as u32,
            looks_early: false,
            has_control: false,
        };
        let mut duels: Vec<Duel> = pairs.iter().map(|_| Duel::new(rules)).collect();
        let (mut block, mut is_confirmed) = (0, false);
        loop {
            let found = judge_together(&duels.iter().collect::<Vec<_>>());
            if !is_confirmed && duels.iter().zip(&found).any(|(duel, found)| duel.needs_lone_starts(found)) {
                is_confirmed = true;
                results.alone += 1;
                self.lone_starts(&pairs, &found, &mut duels);
            }
            if duels.iter().all(|duel| matches!(duel.next(), DuelStep::Over(_))) {
                break;
            }
            self.block(block, &pairs, &mut duels);
            block += 1;
        }
        assert!(
            duels.iter().all(|duel| duel.next() != DuelStep::Over(DuelEnd::NotFit)),
            "no slice is invalid"
        );
        let found = judge_together(&duels.iter().collect::<Vec<_>>());
        self.count(&pairs, &found, results);
    }

    fn count(&self, pairs: &[[usize; 2]], found: &[Comparison], results: &mut RoundRobins) {
        let (mut is_wrong, mut right, mut planted) = (false, 0, 0);
        for (pair, found) in pairs.iter().zip(found) {
            let [a, b] = pair.map(|variant| self.trial.truths[variant]);
            let differs = matches!(found.verdict, Verdict::Differs { .. });
            let is_right = a != b && found.is_first_larger() == Some(a > b);
            planted += u32::from(a != b);
            right += u32::from(differs && is_right);
            is_wrong |= differs && !is_right;
        }
        results.wrong += u32::from(is_wrong);
        results.found_all += u32::from(right == planted);
        results.found_pairs += right;
        results.total_s += self.now_s;
    }

    /// Makes a block: all variants in random order, then in reverse order.
    fn block(&mut self, number: u64, pairs: &[[usize; 2]], duels: &mut [Duel]) {
        let variants = self.trial.truths.len();
        let order = shuffled((0..variants).collect(), &mut self.chance);
        let slow =
            self.trial.disturbed.coupled.map(|coupling| {
                (coupling.kind.slow_start(number, variants, &mut self.chance), coupling.slower)
            });
        self.loaded_s = None;
        let mut starts = vec![0.0; variants];
        let mut slices: Vec<Vec<Slice>> = vec![Vec::new(); variants];
        let mut before = None;
        for (place, variant) in order.iter().chain(order.iter().rev()).copied().enumerate() {
            if place < variants {
                starts[variant] = self.start();
                if let Some((_, slower)) = slow.filter(|(slow, _)| *slow == place) {
                    starts[variant] -= slower.ln();
                }
            } else {
                self.now_s += SETTLE_S;
            }
            let seen = self.measure(variant, starts[variant]);
            let is_after_other = before.is_some_and(|before| before != variant);
            slices[variant].push(Slice { seen, is_after_other, taken_cores: None });
            before = Some(variant);
        }
        for ([a, b], duel) in pairs.iter().zip(duels) {
            let of_pair: Vec<[Slice; 2]> =
                (0..SLICES).map(|slice| [slices[*a][slice], slices[*b][slice]]).collect();
            duel.note_slices(&of_pair);
        }
    }

    /// Starts each variant of a pair that is open or needs it alone.
    fn lone_starts(&mut self, pairs: &[[usize; 2]], found: &[Comparison], duels: &mut [Duel]) {
        let is_open = |duel: &Duel| !matches!(duel.next(), DuelStep::Over(_));
        let asking = pairs.iter().zip(&*duels).zip(found);
        let asking = asking.filter(|((_, duel), found)| is_open(duel) || duel.needs_lone_starts(found));
        let variants: BTreeSet<usize> = asking.flat_map(|((pair, _), _)| *pair).collect();
        let mut starts: Vec<(usize, Slice)> = Vec::new();
        for _ in 0..self.trial.lone_starts {
            for variant in shuffled(variants.iter().copied().collect(), &mut self.chance) {
                self.loaded_s = None;
                let start = self.start();
                let seen = self.measure(variant, start);
                starts.push((variant, Slice { seen, is_after_other: false, taken_cores: None }));
            }
        }
        for (pair, duel) in pairs.iter().zip(duels) {
            let of_pair = starts.iter().filter(|(variant, _)| pair.contains(variant));
            let of_pair: Vec<(bool, Slice)> =
                of_pair.map(|(variant, slice)| (pair[0] == *variant, *slice)).collect();
            duel.note_lone_starts(&of_pair);
        }
    }

    fn start(&mut self) -> f64 {
        self.now_s += START_S;
        let drawn = match self.trial.disturbed.shape {
            StartShape::Of(shape) => shape.draw(&mut self.chance),
            StartShape::TwoValues if self.chance.unit() < 0.5 => 1.0,
            StartShape::TwoValues => -1.0,
        };
        drawn * self.trial.disturbed.of_start
    }

    /// Measures a slice.
    fn measure(&mut self, variant: usize, start: f64) -> RunResult {
        let began_s = self.now_s;
        self.now_s += SLICE_S;
        let own = normal(&mut self.chance) * self.trial.disturbed.of_second / SLICE_S.sqrt();
        let leaves =
            |lasting: Aftereffect, ended_s: f64| lasting.leaves(began_s - ended_s, self.now_s - ended_s);
        let lasting = self.trial.disturbed.lasting.zip(self.loaded_s).filter(|_| variant > 0);
        let left = lasting.map_or(1.0, |(lasting, ended_s)| leaves(lasting, ended_s));
        if variant == 0 {
            self.loaded_s = Some(self.now_s);
        }
        let drift = self.trial.disturbed.drift_per_hour * began_s / 3_600.0;
        RunResult::exactly(self.trial.truths[variant] * left * (start + own + drift).exp(), 0, 10_000)
    }
}
