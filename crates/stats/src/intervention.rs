//! Judges whether changing one resource moved a figure as predicted: runs with and without the change in the same blocks, next to a
//! repeated control that measures the noise.

use alloc::vec::Vec;

use libm::{exp, fabs, log, log1p};

use crate::holm::holm;
use crate::scale::log_ratio;
use crate::signed_rank::{critical_value, p_value};
use crate::spread::median;
use crate::walsh::Walsh;

/// Family-wise error rate: the probability of finding an effect of any intervention if none has one.
const ALPHA: f64 = 0.05;
/// Factor from the median absolute value to the standard deviation of normal noise.
const MAD_TO_DEVIATION: f64 = 1.4826;

/// Change of one resource, and the runs that test it.
#[derive(Clone, Copy, Debug)]
pub struct Intervention<'a> {
    /// Figures with the change and without it, in the blocks that have both.
    pub pairs: &'a [(f64, f64)],
    /// Factor by which the resource was multiplied, such as 0.8 or 2; never 1. If the resource is the limit, the figure scales with
    /// it.
    pub factor: f64,
    /// Smallest elasticity at which the resource counts as the limit. The elasticity is ln(figure ÷ figure) ÷ ln(factor), and 1 if
    /// both scale alike.
    pub limit_from: f64,
    /// Standard deviation of the log ratio of two runs without a change. `None` if it is unknown.
    pub spread: Option<f64>,
}

/// Effect of an intervention.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// Number of blocks.
    pub blocks: usize,
    /// Figure with the change ÷ figure without it (Hodges–Lehmann estimate).
    pub ratio: Option<f64>,
    /// Confidence interval of the ratio at 95 % or a little more. `None` with fewer than 6 blocks.
    pub interval: Option<[f64; 2]>,
    /// Elasticity: ln(ratio) ÷ ln(factor).
    pub elasticity: Option<f64>,
    /// One-sided p-value of the signed-rank test in the predicted direction, not corrected for the number of interventions.
    pub p: Option<f64>,
    /// Conclusion about the resource.
    pub finding: Finding,
}

/// Conclusion from an intervention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The figure moved as predicted for the limiting resource.
    Confirmed,
    /// The figure moved in the predicted direction by enough to matter, but by less than predicted for the limiting resource.
    Contributing,
    /// The figure moved by less than predicted for the limiting resource, or not at all.
    Refuted,
    /// The blocks are inconclusive.
    Undecided(Undecided),
}

/// Reason why the blocks are inconclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecided {
    /// Too few blocks have both runs.
    TooFewBlocks,
    /// The figure is zero or not finite in a run.
    NoRatio,
    /// The noise between two runs without a change exceeds half of the effect, or is unknown.
    Noise,
    /// The interval includes both the effect of a limiting resource and a smaller one.
    Wide,
}

/// Returns the standard deviation of the log ratios of pairs of runs without a change, estimated from the median. `None` without pairs.
pub fn spread_of_controls(pairs: &[(f64, f64)]) -> Option<f64> {
    let apart: Option<Vec<f64>> = pairs.iter().map(|pair| log_ratio(*pair).map(fabs)).collect();
    Some(MAD_TO_DEVIATION * median(apart?)?)
}

/// Like [`spread_of_controls`], but around the median, for pairs whose ratios share a factor: a freshly started system compared
/// with one that has run for a while.
pub fn spread_around_median(pairs: &[(f64, f64)]) -> Option<f64> {
    let logs: Option<Vec<f64>> = pairs.iter().map(|pair| log_ratio(*pair)).collect();
    let logs = logs?;
    let median_log = median(logs.iter().copied())?;
    Some(MAD_TO_DEVIATION * median(logs.iter().map(|log| fabs(log - median_log)))?)
}

/// Judges a family of interventions that share an error rate of 5 % by Holm. `matters` is the smallest difference that matters, as
/// a share.
pub fn interventions(all: &[Intervention<'_>], matters: f64) -> Vec<Effect> {
    let seen: Vec<LogRatios> = all.iter().map(LogRatios::of).collect();
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

/// Statistics of the log ratios, with the sign flipped for factors below 1, so that the predicted direction is positive.
struct LogRatios {
    center: Option<f64>,
    interval: Option<[f64; 2]>,
    p: Option<f64>,
    has_ratio: bool,
}

impl LogRatios {
    fn of(of: &Intervention<'_>) -> Self {
        let sign = if of.factor < 1.0 { -1.0 } else { 1.0 };
        let logs: Option<Vec<f64>> =
            of.pairs.iter().map(|pair| log_ratio(*pair).map(|log| sign * log)).collect();
        let (has_ratio, logs) = (logs.is_some(), logs.unwrap_or_default());
        let walsh = Walsh::of(&logs);
        let blocks = u32::try_from(logs.len()).unwrap_or(u32::MAX);
        // With fewer blocks, no p-value can be small enough.
        let critical = critical_value(blocks, ALPHA);
        Self {
            center: walsh.center(),
            interval: critical.and_then(|critical| walsh.interval(critical)),
            // Half of the two-sided p-value, which is capped at 1: at 0.5 it only says that the direction is not the predicted one.
            p: critical.map(|_| p_value(blocks, walsh.rank_sum_not_above()) / 2.0),
            has_ratio,
        }
    }

    fn finding(&self, of: &Intervention<'_>, is_significant: bool, matters: f64) -> Finding {
        if !self.has_ratio {
            return Finding::Undecided(Undecided::NoRatio);
        }
        let (Some(effect), Some([_, high])) = (self.center, self.interval) else {
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
            ratio: self.center.and_then(|center| finite(exp(along(center)))),
            interval: ends.filter(|ends| ends.iter().all(|end| end.is_finite())),
            elasticity: self.center.and_then(|center| finite(center / fabs(log(of.factor)))),
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
    /// Factors of a diagnosis: users, CPU time twice, a parameter, and I/O twice.
    const FACTORS: [f64; CHANGES] = [2.0, 0.8, 0.9, 2.0, 0.8, 0.9];
    /// Index of the change that needs a restart and therefore has a separate control.
    const RESTARTS: usize = 3;
    const BLOCKS: usize = 8;

    /// Disturbances of the runs of a diagnosis.
    #[derive(Clone, Copy, Default)]
    struct World {
        /// Standard deviation of a log figure.
        deviation: f64,
        /// Interval of disturbed runs: one in this many runs loses 40 %. 0 for none.
        disturbed: usize,
        /// Growth of the log figure from run to run, as in a system that gets faster.
        trend: f64,
        /// Index of the first run with a noisy neighbor, which takes a quarter of the capacity and doubles the noise.
        neighbor_from: Option<usize>,
        /// Log of the performance of a freshly started system ÷ that of one that has run for a while.
        restarted: f64,
        /// The run with the third change fails in one of this many blocks; 0 for never.
        fails: usize,
    }

    const CALM: World =
        World { deviation: 0.02, disturbed: 0, trend: 0.0, neighbor_from: None, restarted: 0.0, fails: 0 };
    const BUSY: World = World { disturbed: 20, ..CALM };

    /// Simulates a diagnosis of [`BLOCKS`] blocks. Each block has, in random order, a control, a repeated control, and each change
    /// with its true log effect. Before or after these, in turn, come a restarted control and the change that needs a restart.
    fn simulate_diagnosis(truth: [f64; CHANGES], world: World, chance: &mut Chance) -> Vec<Effect> {
        let mut pairs: [Vec<(f64, f64)>; CHANGES] = Default::default();
        let (mut controls, mut restarted, mut runs) = (Vec::new(), Vec::new(), 0_usize);
        for block in 0..BLOCKS {
            // Control, repeated control, the changes, and the restarted control.
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
    fn false_positive_rate_without_any_effect() {
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
            let wrong = (0..1_000)
                .filter(|_| simulate_diagnosis([0.0; CHANGES], world, &mut chance).iter().any(is_found));
            let wrong = wrong.count();
            assert!(wrong <= 50, "{wrong} of 1,000: {name}");
        }
    }

    /// Returns the number of acting changes, of confirmations, of true confirmations, and of refutations of acting changes.
    fn confirmations(world: World) -> [usize; 4] {
        let limit = FACTORS.map(log);
        let truths: [[f64; CHANGES]; 5] = [
            // Limits: load; CPU; a parameter; I/O; CPU and parameter, each in part.
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
            for (effect, truth) in simulate_diagnosis(truth, world, &mut chance).iter().zip(truth) {
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
    fn acting_changes_are_confirmed_and_others_refuted() {
        let [acting, confirmed, true_ones, refuted] = confirmations(CALM);
        assert!(true_ones * 100 >= confirmed * 95, "{true_ones} of {confirmed} confirmations are true");
        assert!(true_ones * 100 >= acting * 95, "{true_ones} of {acting} limits were found");
        assert!(refuted * 100 <= acting, "{refuted} of {acting} limits were refuted");
        // One run in twenty loses 40 %: fewer effects are found, and none is wrong.
        let [acting, confirmed, true_ones, refuted] = confirmations(BUSY);
        assert!(true_ones * 100 >= confirmed * 95, "{true_ones} of {confirmed} confirmations are true");
        assert!(true_ones * 100 >= acting * 70, "{true_ones} of {acting} limits were found");
        assert!(refuted * 100 <= acting * 5, "{refuted} of {acting} limits were refuted");
    }

    fn single_effect(with: &[f64], without: &[f64], again: &[f64]) -> Effect {
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
    fn common_factor_of_all_ratios_is_no_spread() {
        let pairs = [(50.0, 100.0), (51.0, 100.0), (49.0, 100.0)];
        assert!(spread_of_controls(&pairs).is_some_and(|spread| spread > 0.9));
        let expected = MAD_TO_DEVIATION * log(51.0 / 50.0);
        assert!(spread_around_median(&pairs).is_some_and(|spread| fabs(spread - expected) < 1e-3));
        assert_eq!(spread_around_median(&[]), None);
    }

    #[test]
    fn finding_depends_on_size_direction_and_noise() {
        let found = |with: &[f64]| single_effect(with, &LEVEL, &times(1.01)).finding;
        assert_eq!(found(&times(0.8)), Finding::Confirmed);
        assert_eq!(found(&times(0.95)), Finding::Contributing, "a quarter of what a limit would show");
        assert_eq!(found(&times(0.99)), Finding::Refuted, "below what matters");
        assert_eq!(found(&times(1.2)), Finding::Refuted, "the other direction");
        let effect = single_effect(&times(0.8), &LEVEL, &times(1.01));
        assert!((effect.elasticity.unwrap() - 1.0).abs() < 1e-9 && effect.p == Some(1.0 / 256.0));
        let noisy = single_effect(&times(0.8), &LEVEL, &times(1.12));
        assert_eq!(noisy.finding, Finding::Undecided(Undecided::Noise));
        assert_eq!(
            single_effect(&times(0.8), &LEVEL, &[]).finding,
            Finding::Undecided(Undecided::Noise),
            "no control"
        );
        let few = single_effect(&times(0.8)[..5], &LEVEL, &times(1.0));
        assert_eq!((few.finding, few.interval), (Finding::Undecided(Undecided::TooFewBlocks), None));
        assert_eq!(single_effect(&[0.0; 8], &LEVEL, &LEVEL).finding, Finding::Undecided(Undecided::NoRatio));
        let wide = [50.0, 100.0, 140.0, 60.0, 100.0, 101.0, 99.0, 70.0];
        assert_eq!(single_effect(&wide, &LEVEL, &LEVEL).finding, Finding::Undecided(Undecided::Wide));
    }
}
