//! A documented model of what runs of real systems say: cheap enough for a hundred thousand of them.
//!
//! The logarithm of a figure is that of the truth, and three disturbances on top: one that all runs of a block share (as they
//! share their arrivals), one that wanders from run to run (a host that warms up or is used by others), and one of the run alone.

use load::chance::Chance;
use stats::Seen;

use crate::service::normal;

/// How the disturbance of a single run is spread, each with the same standard deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Normal.
    Normal,
    /// Now and then far away on either side: one run in ten has a deviation that is three times as large.
    Wild,
    /// Now and then far away on one side only, as by pauses and neighbours: exponential.
    Lopsided,
}

/// What disturbs the figures of runs; deviations are of their natural logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Standard deviation of what a run has for itself.
    pub of_run: f64,
    /// Standard deviation of what all runs of a block share.
    pub of_block: f64,
    /// Standard deviation of the step from one run to the next, which stays.
    pub wander: f64,
    /// The shape of what a run has for itself.
    pub shape: Shape,
}

/// Settings whose true figures are known, and what runs of them say.
#[derive(Clone, Debug)]
pub struct Noisy {
    truths: Vec<f64>,
    noise: Noise,
    seed: u64,
    chance: Chance,
    wandered: f64,
}

impl Noisy {
    /// The true figures of the settings, disturbed.
    pub fn new(truths: Vec<f64>, noise: Noise, seed: u64) -> Self {
        Self { truths, noise, seed, chance: Chance::stream(seed, 0), wandered: 0.0 }
    }

    /// A run of a setting in a block.
    pub fn run(&mut self, setting: usize, block: u32) -> Seen {
        let of_block = normal(&mut Chance::stream(self.seed, 1 + u64::from(block))) * self.noise.of_block;
        self.wandered += normal(&mut self.chance) * self.noise.wander;
        let of_run = self.noise.shape.draw(&mut self.chance) * self.noise.of_run;
        let value = self.truths[setting] * (of_block + self.wandered + of_run).exp();
        Seen::Figure { value, errors: 0, planned: 10_000 }
    }
}

impl Shape {
    /// With mean 0 and standard deviation 1.
    pub fn draw(self, chance: &mut Chance) -> f64 {
        match self {
            Self::Normal => normal(chance),
            Self::Wild => {
                // 0.9·1² + 0.1·3² = 1.8.
                let factor = if chance.unit() < 0.1 { 3.0 } else { 1.0 };
                normal(chance) * factor / 1.8f64.sqrt()
            }
            Self::Lopsided => chance.exponential() - 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_has_mean_zero_and_deviation_one() {
        for shape in [Shape::Normal, Shape::Wild, Shape::Lopsided] {
            let mut chance = Chance::stream(3, 0);
            let draws: Vec<f64> = (0..100_000).map(|_| shape.draw(&mut chance)).collect();
            let n = draws.len() as f64;
            assert!((draws.iter().sum::<f64>() / n).abs() < 0.02, "{shape:?}");
            let variance = draws.iter().map(|draw| draw * draw).sum::<f64>() / n;
            assert!((variance - 1.0).abs() < 0.05, "{shape:?}: {variance}");
        }
    }

    #[test]
    fn runs_of_a_block_share_what_is_the_blocks() {
        let noise = Noise { of_run: 0.0, of_block: 0.1, wander: 0.0, shape: Shape::Normal };
        let mut noisy = Noisy::new(vec![1.0, 2.0], noise, 1);
        let mut figure = |setting, block| noisy.run(setting, block).value().expect("a figure");
        let (one, two, other) = (figure(0, 1), figure(1, 1), figure(0, 2));
        assert!((two / one - 2.0).abs() < 1e-12);
        assert_ne!(one, other);
    }
}
