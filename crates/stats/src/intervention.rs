//! Whether a change of one thing moved a figure as predicted: runs with the change and without it in the same blocks, next to
//! a control of the control.

use alloc::vec::Vec;

use libm::{exp, fabs, log, log1p};

use crate::holm::holm;
use crate::scale::log_ratio;
use crate::signed_rank::{critical_value, p_value};
use crate::spread::median;
use crate::walsh::Walsh;

/// The chance that any of the interventions of a family is found to act though none does.
const ALPHA: f64 = 0.05;
/// From the median of absolute values to the standard deviation, of normal noise.
const NORMAL: f64 = 1.4826;

/// One thing that was changed, and what came of it.
#[derive(Clone, Copy, Debug)]
pub struct Intervention<'a> {
    /// The figure with the change and without it, in the blocks that have both.
    pub pairs: &'a [(f64, f64)],
    /// What the resource was multiplied by: 0.8 or 2, never 1. If it is the limit, the figure moves along.
    pub factor: f64,
    /// The elasticity from which on the resource is the limit: ln(figure ÷ figure) ÷ ln(factor), 1 where both change alike.
    pub limit_from: f64,
    /// How far two runs without any change lie apart, as a standard deviation of log ratios; `None`: not known.
    pub spread: Option<f64>,
}

/// What an intervention showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// In so many blocks.
    pub blocks: usize,
    /// The figure with the change ÷ without it (Hodges and Lehmann).
    pub ratio: Option<f64>,
    /// What that lies in with a confidence of 95 % or a little more; `None` of fewer than 6 blocks.
    pub interval: Option<[f64; 2]>,
    /// ln(ratio) ÷ ln(factor).
    pub elasticity: Option<f64>,
    /// Of the signed-rank test against the predicted direction, one-sided; not corrected for the number of interventions.
    pub p: Option<f64>,
    /// What follows.
    pub finding: Finding,
}

/// What follows from an intervention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The figure moved as predicted of a limit.
    Confirmed,
    /// It moved in that direction, by enough to matter, and by less than predicted of a limit.
    Contributing,
    /// It moved by less than predicted of a limit, or not at all.
    Refuted,
    /// The blocks do not decide.
    Undecided(Undecided),
}

/// Why the blocks do not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecided {
    /// Too few blocks have both runs.
    TooFewBlocks,
    /// The figure is zero in a run.
    NoRatio,
    /// Two runs without any change differ by more than half of the effect.
    Noise,
    /// The interval holds what a limit would show, and what it would not.
    Wide,
}

/// How far two runs without any change lie apart: the standard deviation of their log ratios, estimated by the median. `None`
/// without any.
pub fn spread_of_controls(pairs: &[(f64, f64)]) -> Option<f64> {
    let apart: Option<Vec<f64>> = pairs.iter().map(|pair| log_ratio(*pair).map(fabs)).collect();
    Some(NORMAL * median(apart?)?)
}

/// The same where all ratios may share a factor, as of systems that have just been started to one that has run for a while.
pub fn spread_around_median(pairs: &[(f64, f64)]) -> Option<f64> {
    let logs: Option<Vec<f64>> = pairs.iter().map(|pair| log_ratio(*pair)).collect();
    let logs = logs?;
    let center = median(logs.iter().copied())?;
    Some(NORMAL * median(logs.iter().map(|log| fabs(log - center)))?)
}

/// What the interventions of a family show, which share an error rate of 5 % by Holm. `matters` is the smallest relevant
/// difference, as a share.
pub fn interventions(all: &[Intervention<'_>], matters: f64) -> Vec<Effect> {
    let seen: Vec<Seen> = all.iter().map(Seen::of).collect();
    let p: Vec<f64> = seen.iter().map(|seen| seen.p.unwrap_or(f64::NAN)).collect();
    let significant = holm(&p, ALPHA);
    let judged = all.iter().zip(&seen).zip(significant);
    judged
        .map(|((of, seen), is_significant)| {
            let finding = seen.finding(of, is_significant, log1p(matters.max(0.0)));
            seen.effect(of, finding)
        })
        .collect()
}

/// Log ratios in the predicted direction.
struct Seen {
    centre: Option<f64>,
    interval: Option<[f64; 2]>,
    p: Option<f64>,
    has_ratio: bool,
}

impl Seen {
    fn of(of: &Intervention<'_>) -> Self {
        let sign = if of.factor < 1.0 { -1.0 } else { 1.0 };
        let logs: Option<Vec<f64>> =
            of.pairs.iter().map(|pair| log_ratio(*pair).map(|log| sign * log)).collect();
        let (has_ratio, logs) = (logs.is_some(), logs.unwrap_or_default());
        let walsh = Walsh::of(&logs);
        let blocks = u32::try_from(logs.len()).unwrap_or(u32::MAX);
        // With fewer blocks no p-value is small enough, whatever they show.
        let critical = critical_value(blocks, ALPHA);
        Self {
            centre: walsh.centre(),
            interval: critical.and_then(|critical| walsh.interval(critical)),
            // Half of the two-sided one, which is 1 at most: then this says no more than that the direction is another.
            p: critical.map(|_| p_value(blocks, walsh.sum_not_above()) / 2.0),
            has_ratio,
        }
    }

    fn finding(&self, of: &Intervention<'_>, is_significant: bool, matters: f64) -> Finding {
        if !self.has_ratio {
            return Finding::Undecided(Undecided::NoRatio);
        }
        let (Some(effect), Some([_, high])) = (self.centre, self.interval) else {
            return Finding::Undecided(Undecided::TooFewBlocks);
        };
        let of_limit = (of.limit_from * fabs(log(of.factor))).max(matters);
        if is_significant && effect >= matters {
            return match of.spread {
                Some(spread) if spread <= effect / 2.0 => {
                    if effect >= of_limit {
                        Finding::Confirmed
                    } else {
                        Finding::Contributing
                    }
                }
                _ => Finding::Undecided(Undecided::Noise),
            };
        }
        if high < of_limit { Finding::Refuted } else { Finding::Undecided(Undecided::Wide) }
    }

    fn effect(&self, of: &Intervention<'_>, finding: Finding) -> Effect {
        let along = |log: f64| if of.factor < 1.0 { -log } else { log };
        let finite = |figure: f64| Some(figure).filter(|figure| figure.is_finite());
        let ends = self.interval.map(|ends| ends.map(|end| exp(along(end))));
        let ends = ends.map(|[a, b]| [a.min(b), a.max(b)]);
        Effect {
            blocks: of.pairs.len(),
            ratio: self.centre.and_then(|centre| finite(exp(along(centre)))),
            interval: ends.filter(|ends| ends.iter().all(|end| end.is_finite())),
            elasticity: self.centre.and_then(|centre| finite(centre / fabs(log(of.factor)))),
            p: self.p,
            finding,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    const CHANGES: usize = 6;
    /// What the interventions of a diagnosis multiply: users, CPU time twice, a parameter, and I/O twice.
    const FACTORS: [f64; CHANGES] = [2.0, 0.8, 0.9, 2.0, 0.8, 0.9];
    /// The one that needs a restart, and so a control of its own.
    const RESTARTS: usize = 3;
    const BLOCKS: usize = 8;

    /// What disturbs the runs of a diagnosis.
    #[derive(Clone, Copy, Default)]
    struct World {
        /// The standard deviation of the log of a figure.
        deviation: f64,
        /// One run in so many loses 40 %; zero is none.
        disturbed: usize,
        /// By how much the log of a figure grows from run to run, as of a system that gets faster.
        trend: f64,
        /// From this run on a neighbor takes a quarter of everything, and makes it twice as noisy.
        neighbor_from: Option<usize>,
        /// The log of what a system that has just been started does ÷ what one does that has run for a while.
        restarted: f64,
        /// The run with the third change fails in one block of so many; zero is never.
        fails: usize,
    }

    const CALM: World =
        World { deviation: 0.02, disturbed: 0, trend: 0.0, neighbor_from: None, restarted: 0.0, fails: 0 };
    const BUSY: World = World { disturbed: 20, ..CALM };

    /// A diagnosis of so many blocks: a control, its own control, and each change with its true log effect in an order of chance; before
    /// or after these, by turns, a control that is restarted and the change that needs it.
    fn diagnosed(truth: [f64; CHANGES], world: World, chance: &mut Chance) -> Vec<Effect> {
        let mut pairs: [Vec<(f64, f64)>; CHANGES] = Default::default();
        let (mut controls, mut restarted, mut runs) = (Vec::new(), Vec::new(), 0_usize);
        for block in 0..BLOCKS {
            // Control, control again, the changes, and the control that is restarted.
            let mut order: [usize; CHANGES + 3] = core::array::from_fn(|place| place);
            chance.shuffle(&mut order);
            let is_restarted = |of: usize| of == RESTARTS + 2 || of == CHANGES + 2;
            order.sort_by_key(|of| is_restarted(*of) != (block % 2 == 1));
            let mut figures = [0.0; CHANGES + 3];
            for of in order {
                let is_neighbor_there = world.neighbor_from.is_some_and(|from| runs >= from);
                let (lost, noisier) = if is_neighbor_there { (0.25, 2.0) } else { (0.0, 1.0) };
                let is_disturbed = world.disturbed > 0 && chance.below(world.disturbed) == 0;
                let noise =
                    noisier * world.deviation * chance.normal() - if is_disturbed { 0.5 } else { 0.0 };
                let effect = of.checked_sub(2).and_then(|change| truth.get(change)).copied().unwrap_or(0.0)
                    + if is_restarted(of) { world.restarted } else { 0.0 };
                figures[of] = 1_000.0 * exp(world.trend * runs as f64 + effect + noise - lost);
                runs += 1;
            }
            let fails = world.fails > 0 && chance.below(world.fails) == 0;
            controls.push((figures[1], figures[0]));
            restarted.push((figures[CHANGES + 2], figures[0]));
            for (change, pairs) in pairs.iter_mut().enumerate() {
                if !(change == 2 && fails) {
                    let control = if change == RESTARTS { CHANGES + 2 } else { 0 };
                    pairs.push((figures[change + 2], figures[control]));
                }
            }
        }
        let of_controls = spread_of_controls(&controls);
        let of_restarted =
            [spread_around_median(&restarted), of_controls].into_iter().flatten().reduce(f64::max);
        let all: Vec<Intervention<'_>> = pairs
            .iter()
            .zip(FACTORS)
            .enumerate()
            .map(|(change, (pairs, factor))| {
                let spread = if change == RESTARTS { of_restarted } else { of_controls };
                Intervention { pairs, factor, limit_from: 0.5, spread }
            })
            .collect();
        interventions(&all, 0.03)
    }

    fn is_found(effect: &Effect) -> bool {
        matches!(effect.finding, Finding::Confirmed | Finding::Contributing)
    }

    #[test]
    fn of_a_thousand_diagnoses_in_which_nothing_acts_few_find_anything() {
        let worlds = [
            ("calm", World { deviation: 0.01, ..CALM }),
            ("busy", World { deviation: 0.05, ..BUSY }),
            ("noisy", World { deviation: 0.3, ..BUSY }),
            ("faster and faster", World { trend: 0.01, ..BUSY }),
            ("a neighbor from the fourth block on", World { neighbor_from: Some(24), ..BUSY }),
            ("a change that fails", World { fails: 3, ..BUSY }),
            ("slow after a start", World { restarted: -0.7, trend: -0.01, ..BUSY }),
        ];
        for (name, world) in worlds {
            let mut chance = Chance::of(11);
            let wrong =
                (0..1_000).filter(|_| diagnosed([0.0; CHANGES], world, &mut chance).iter().any(is_found));
            let wrong = wrong.count();
            assert!(wrong <= 50, "{wrong} of 1,000: {name}");
        }
    }

    /// How many of the changes that act were confirmed, how many of all confirmations were of these, and how many were refuted.
    fn confirmations(world: World) -> [usize; 4] {
        let limit = FACTORS.map(log);
        let truths: [[f64; CHANGES]; 5] = [
            // The load; the CPU; a parameter; I/O; CPU and parameter, each a part of the way.
            [limit[0], 0.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, limit[1], limit[2], 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, limit[3], 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, limit[4], limit[5]],
            [0.0, 0.7 * limit[1], 0.7 * limit[2], 0.7 * limit[3], 0.0, 0.0],
        ];
        let mut chance = Chance::of(5);
        let (mut confirmed, mut true_ones, mut refuted, mut acting) = (0, 0, 0, 0);
        for trial in 0..600 {
            let truth = truths[trial % truths.len()];
            for (effect, truth) in diagnosed(truth, world, &mut chance).iter().zip(truth) {
                let acts = truth != 0.0;
                acting += usize::from(acts);
                confirmed += usize::from(effect.finding == Finding::Confirmed);
                true_ones += usize::from(effect.finding == Finding::Confirmed && acts);
                refuted += usize::from(effect.finding == Finding::Refuted && acts);
            }
        }
        [acting, confirmed, true_ones, refuted]
    }

    #[test]
    fn what_acts_is_confirmed_and_what_does_not_is_refuted() {
        let [acting, confirmed, true_ones, refuted] = confirmations(CALM);
        assert!(true_ones * 100 >= confirmed * 95, "{true_ones} of {confirmed} confirmations are true");
        assert!(true_ones * 100 >= acting * 95, "{true_ones} of {acting} limits were found");
        assert!(refuted * 100 <= acting, "{refuted} of {acting} limits were refuted");
        // A run in twenty loses 40 %: less is found, and nothing wrong.
        let [acting, confirmed, true_ones, refuted] = confirmations(BUSY);
        assert!(true_ones * 100 >= confirmed * 95, "{true_ones} of {confirmed} confirmations are true");
        assert!(true_ones * 100 >= acting * 70, "{true_ones} of {acting} limits were found");
        assert!(refuted * 100 <= acting * 5, "{refuted} of {acting} limits were refuted");
    }

    fn alone(with: &[f64], without: &[f64], again: &[f64]) -> Effect {
        let pairs: Vec<(f64, f64)> = with.iter().copied().zip(without.iter().copied()).collect();
        let controls: Vec<(f64, f64)> = again.iter().copied().zip(without.iter().copied()).collect();
        let spread = spread_of_controls(&controls);
        let of = Intervention { pairs: &pairs, factor: 0.8, limit_from: 0.5, spread };
        interventions(&[of], 0.03)[0]
    }

    const LEVEL: [f64; 8] = [100.0, 101.0, 99.0, 100.0, 102.0, 98.0, 100.0, 101.0];

    fn times(factor: f64) -> [f64; 8] {
        LEVEL.map(|figure| figure * factor)
    }

    #[test]
    fn a_factor_that_all_ratios_share_is_no_spread() {
        let pairs = [(50.0, 100.0), (51.0, 100.0), (49.0, 100.0)];
        assert!(spread_of_controls(&pairs).is_some_and(|spread| spread > 0.9));
        let expected = NORMAL * log(51.0 / 50.0);
        assert!(spread_around_median(&pairs).is_some_and(|spread| fabs(spread - expected) < 1e-3));
        assert_eq!(spread_around_median(&[]), None);
    }

    #[test]
    fn a_finding_depends_on_size_and_direction_and_noise() {
        let found = |with: &[f64]| alone(with, &LEVEL, &times(1.01)).finding;
        assert_eq!(found(&times(0.8)), Finding::Confirmed);
        assert_eq!(found(&times(0.95)), Finding::Contributing, "a quarter of what a limit would show");
        assert_eq!(found(&times(0.99)), Finding::Refuted, "below what matters");
        assert_eq!(found(&times(1.2)), Finding::Refuted, "the other direction");
        let effect = alone(&times(0.8), &LEVEL, &times(1.01));
        assert!((effect.elasticity.unwrap() - 1.0).abs() < 1e-9 && effect.p == Some(1.0 / 256.0));
        let noisy = alone(&times(0.8), &LEVEL, &times(1.12));
        assert_eq!(noisy.finding, Finding::Undecided(Undecided::Noise));
        assert_eq!(
            alone(&times(0.8), &LEVEL, &[]).finding,
            Finding::Undecided(Undecided::Noise),
            "no control"
        );
        let few = alone(&times(0.8)[..5], &LEVEL, &times(1.0));
        assert_eq!((few.finding, few.interval), (Finding::Undecided(Undecided::TooFewBlocks), None));
        assert_eq!(alone(&[0.0; 8], &LEVEL, &LEVEL).finding, Finding::Undecided(Undecided::NoRatio));
        let wide = [50.0, 100.0, 140.0, 60.0, 100.0, 101.0, 99.0, 70.0];
        assert_eq!(alone(&wide, &LEVEL, &LEVEL).finding, Finding::Undecided(Undecided::Wide));
    }
}
