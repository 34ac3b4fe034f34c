//! Noise model of the figures of runs, cheap enough for a hundred thousand runs.
//!
//! A log figure is the true log figure plus three disturbances. The first is common to all runs of a block, like their arrivals.
//! The second is a random walk from run to run, like a host that warms up or is shared. The third is specific to a run.

use load::chance::Chance;
use stats::RunResult;

use crate::service::normal;

/// Distribution of the disturbance of a single run. All shapes have equal standard deviations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Normal.
    Normal,
    /// Heavy-tailed on both sides: one run in ten has three times the deviation.
    Wild,
    /// Heavy-tailed on one side, as with pauses and noisy neighbors: exponential.
    Lopsided,
}

/// Standard deviations of the disturbances of log figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Standard deviation of the disturbance of a single run.
    pub of_run: f64,
    /// Standard deviation of the disturbance common to a block.
    pub of_block: f64,
    /// Standard deviation of a step of the random walk.
    pub wander: f64,
    /// Distribution of the disturbance of a single run.
    pub shape: Shape,
}

/// Variants with known true figures and noisy runs.
#[derive(Clone, Debug)]
pub struct Noisy {
    truths: Vec<f64>,
    noise: Noise,
    seed: u64,
    chance: Chance,
    wandered: f64,
}

impl Noisy {
    /// Creates variants with these true figures.
    pub fn new(truths: Vec<f64>, noise: Noise, seed: u64) -> Self {
        Self { truths, noise, seed, chance: Chance::stream(seed, 0), wandered: 0.0 }
    }

    /// Simulates a run of a variant in a block.
    pub fn run(&mut self, setting: usize, block: u32) -> RunResult {
        let of_block = normal(&mut Chance::stream(self.seed, 1 + u64::from(block))) * self.noise.of_block;
        self.wandered += normal(&mut self.chance) * self.noise.wander;
        let of_run = self.noise.shape.draw(&mut self.chance) * self.noise.of_run;
        let value = self.truths[setting] * (of_block + self.wandered + of_run).exp();
        RunResult::exactly(value, 0, 10_000)
    }
}

impl Shape {
    /// Draws a disturbance with mean 0 and standard deviation 1.
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
    fn runs_of_a_block_share_the_block_effect() {
        let noise = Noise { of_run: 0.0, of_block: 0.1, wander: 0.0, shape: Shape::Normal };
        let mut noisy = Noisy::new(vec![1.0, 2.0], noise, 1);
        let mut figure = |setting, block| noisy.run(setting, block).value().expect("a figure");
        let (one, two, other) = (figure(0, 1), figure(1, 1), figure(0, 2));
        assert!((two / one - 2.0).abs() < 1e-12);
        assert_ne!(one, other);
    }
}
