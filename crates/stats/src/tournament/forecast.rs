//! Forecasts the remaining runs of a best-of search from its blocks so far.

use alloc::vec::Vec;

use libm::sqrt;

use super::{Phase, Tournament, TournamentStep};
use crate::RunResult;
use crate::chance::Chance;

/// Number of simulations of the rest of the search.
const SIMULATIONS: usize = 60;
/// Indexes of the 10 %, 50 %, and 90 % quantiles among the sorted simulations.
const QUANTILE_INDEXES: [usize; 3] = [SIMULATIONS / 10, SIMULATIONS / 2, SIMULATIONS * 9 / 10];

/// Remaining runs of a best-of search; in slices, remaining starts of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TournamentForecast {
    /// 10 %, 50 %, and 90 % quantiles of the remaining runs of searches that begin like this one.
    pub runs: [u32; 3],
    /// True if the variance is still unknown. Then all three are the smallest possible number.
    pub is_least: bool,
}

/// Model that simulated blocks are drawn from.
struct BlockModel {
    settings: Vec<usize>,
    /// Mean merit of each variant over the common blocks.
    means: Vec<f64>,
    /// Number of common blocks.
    blocks: f64,
    /// Residual standard deviation of a variant in a block, without the block effect.
    spread: f64,
    /// Degrees of freedom of `spread`.
    freedom: usize,
}

impl Tournament {
    /// Simulates the rest of the search many times. Future blocks have the means of those so far plus normal noise, both as
    /// uncertain as they are after these blocks. Each simulation draws a variance (scaled inverse χ²), and then means (A. Gelman
    /// and others, *Bayesian Data Analysis*, 3rd edition 2013, section 3.2).
    ///
    /// Equal seeds give equal forecasts. `None` before the first block, during halving, and when nothing is left to do.
    pub fn forecast(&self, seed: u64) -> Option<TournamentForecast> {
        let (settings, from) = match (&self.phase, self.finalists) {
            (Phase::Race { race, .. }, _) => (self.field.clone(), race.from),
            (Phase::Confirm(_), Some((best, rival))) => {
                (Vec::from([best, rival]), self.race.map_or(0, |race| race.from))
            }
            _ => return None,
        };
        let drawn = self.drawn(settings, from)?;
        let is_least = drawn.freedom == 0;
        let mut chance = Chance::of(seed);
        let mut runs: Vec<u32> =
            (0..SIMULATIONS).map(|_| self.clone().simulate(&drawn, &mut chance)).collect();
        runs.sort_unstable();
        Some(TournamentForecast { runs: QUANTILE_INDEXES.map(|place| runs[place]), is_least })
    }

    fn drawn(&self, settings: Vec<usize>, from: usize) -> Option<BlockModel> {
        let merits = |row| settings.iter().map(|setting| self.rows.merit(row, *setting)).collect();
        let blocks: Vec<Vec<f64>> = self.rows.since(from).iter().filter_map(merits).collect();
        let (count, size) = (blocks.len(), settings.len());
        let mean = |place: usize| blocks.iter().map(|block| block[place]).sum::<f64>() / count as f64;
        let means: Vec<f64> = (0..size).map(mean).collect();
        let all = means.iter().sum::<f64>() / size as f64;
        let squares = |block: &Vec<f64>| {
            let common = block.iter().sum::<f64>() / size as f64 - all;
            let left = block.iter().zip(&means).map(|(of, mean)| of - mean - common);
            left.map(|left| left * left).sum::<f64>()
        };
        let freedom = (count.max(1) - 1) * (size - 1);
        let sum: f64 = blocks.iter().map(squares).sum();
        let spread = sqrt(sum / freedom.max(1) as f64);
        (count > 0).then_some(BlockModel { settings, means, blocks: count as f64, spread, freedom })
    }

    /// Simulates to the end. Returns the number of runs.
    fn simulate(mut self, drawn: &BlockModel, chance: &mut Chance) -> u32 {
        let squares: f64 = (0..drawn.freedom).map(|_| chance.normal()).map(|draw| draw * draw).sum();
        let spread =
            if drawn.freedom > 0 { drawn.spread * sqrt(drawn.freedom as f64 / squares) } else { 0.0 };
        let uncertain = spread / sqrt(drawn.blocks);
        let means: Vec<f64> = drawn.means.iter().map(|mean| mean + uncertain * chance.normal()).collect();
        let mut runs = 0;
        while let TournamentStep::Block { of, .. } = self.next() {
            let mut seen = Vec::with_capacity(of.len());
            for setting in &of {
                let place = drawn.settings.iter().position(|known| known == setting);
                let merit = place.map(|place| means[place] + spread * chance.normal());
                if let Some(value) = merit.and_then(|merit| self.rows.ratio(merit)) {
                    seen.push((*setting, RunResult::exactly(value, 0, 1)));
                }
            }
            runs += of.len() as u32;
            self.note(&seen);
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TournamentRules;

    fn begun(blocks: &[[f64; 3]]) -> Tournament {
        let mut tournament = Tournament::new(TournamentRules {
            settings: 3,
            matters: 0.03,
            higher_is_better: true,
            blocks_max: 24,
            incumbent: None,
            has_confirmation: false,
        });
        for block in blocks {
            let seen = |(setting, value): (usize, &f64)| (setting, RunResult::exactly(*value, 0, 1));
            tournament.note(&block.iter().enumerate().map(seen).collect::<Vec<_>>());
        }
        tournament
    }

    #[test]
    fn first_elimination_without_noise_is_after_eight_blocks() {
        let least = TournamentForecast { runs: [21; 3], is_least: true };
        assert_eq!(begun(&[[100.0, 90.0, 80.0]]).forecast(1), Some(least));
        let sure = TournamentForecast { runs: [18; 3], is_least: false };
        assert_eq!(begun(&[[100.0, 90.0, 80.0]; 2]).forecast(1), Some(sure));
        assert_eq!(begun(&[]).forecast(1), None, "nothing was seen");
        assert_eq!(begun(&[[100.0, 90.0, 80.0]; 8]).forecast(1), None, "it is over");
    }

    #[test]
    fn noise_between_close_variants_takes_longer() {
        let noisy: Vec<[f64; 3]> =
            (0..6).map(|block| [100.0 + 12.0 * f64::from(block % 2), 102.0, 70.0]).collect();
        let [low, middle, high] = begun(&noisy).forecast(1).expect("a forecast").runs;
        assert!(low <= middle && middle <= high && high > 6, "{low} {middle} {high}");
        assert_eq!(begun(&noisy).forecast(1), begun(&noisy).forecast(1), "chance is seeded");
    }
}
