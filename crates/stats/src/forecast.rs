//! Forecasts the cost of a duel and its smallest detectable difference, from A/A pilot blocks or from its own first blocks.

use alloc::vec::Vec;

use libm::{log1p, sqrt};

use crate::duel::DuelRules;
use crate::power::{Power, power};
use crate::scale::Scale;
use crate::slices::VarianceComponents;
use crate::student::mean_and_error;

/// Forecast from pilot blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// Number of pilot blocks with two figures.
    pub pilots: usize,
    /// Standard deviation about 0 of the difference in a block, or of the log ratio.
    pub spread: f64,
    /// Upper end of the one-sided 90 % interval of `spread`, which few blocks estimate poorly.
    pub spread_high: f64,
    /// Number of blocks in which the smallest difference that matters is found with 90 % power. `None` if it exceeds the maximum
    /// number of blocks.
    pub blocks: Option<u32>,
    /// Smallest difference found with 90 % power within the maximum number of blocks, in the unit of the threshold. `None` without
    /// a look.
    pub found_from: Option<f64>,
    /// Number of blocks in which equal systems are called equivalent with 90 % power. `None` if it exceeds the maximum number of
    /// blocks.
    pub blocks_for_equivalence: Option<u32>,
}

impl Forecast {
    /// Forecasts from the figures of pilot blocks. `None` with fewer than two finite differences.
    pub(crate) fn of_pilot(pilot: &[[f64; 2]], rules: &DuelRules) -> Option<Self> {
        let scale = rules.matters.scale;
        let apart = pilot.iter().filter_map(|[one, other]| scale.apart((*one, *other)));
        let apart = apart.map(|[apart, _]| apart).filter(|apart| apart.is_finite());
        let squares = apart.map(|apart| apart * apart);
        let (pilots, sum) = squares.fold((0usize, 0.0), |(count, sum), square| (count + 1, sum + square));
        if pilots < 2 {
            return None;
        }
        let spread = sqrt(sum / pilots as f64);
        let matters = rules.matters.distance();
        let looks = power(rules);
        let reached = |least: fn(&Power) -> f64| {
            looks.iter().find(|look| least(look) * spread <= matters).map(|look| look.blocks)
        };
        Some(Self {
            pilots,
            spread,
            spread_high: spread * sqrt(pilots as f64 / chi_square_10th_percentile(pilots)),
            blocks: reached(|look| look.found_from),
            found_from: looks.last().map(|look| match scale {
                Scale::Ratio => libm::expm1(look.found_from * spread),
                Scale::Difference => look.found_from * spread,
            }),
            blocks_for_equivalence: reached(|look| look.equivalent_from),
        })
    }
}

/// Forecast of the verdict from the blocks so far. For slices, it assumes that later blocks have as many slices as the last one.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlook {
    /// Number of blocks so far.
    pub blocks: usize,
    /// Standard deviation of the log ratio of a block.
    pub spread: f64,
    /// True if the real spread is larger, because a single block says nothing about the variance between starts.
    pub is_more: bool,
    /// Total number of blocks in which a verdict is reached with 90 % power. The difference is assumed at the cautious end of the
    /// estimate: shifted toward the threshold by its one-sided 90 % error. `None` if the verdict needs more blocks than the
    /// maximum.
    pub verdict: Option<u32>,
    looks: Vec<Power>,
}

/// 90 % quantile of the standard normal distribution.
pub(crate) const Z_90: f64 = 1.281_551_565_5;

impl Outlook {
    /// Forecasts from the log ratios of pairs of slices, by block. `None` if no block has two pairs.
    pub(crate) fn of_slices(slices: &[Vec<f64>], rules: &DuelRules) -> Option<Self> {
        let levels = VarianceComponents::of(slices)?;
        let spread = levels.of_block(slices.last().map_or(1, Vec::len));
        let means = slices.iter().map(|block| block.iter().sum::<f64>() / block.len().max(1) as f64);
        let mean = means.sum::<f64>() / slices.len() as f64;
        Some(Self::of(mean, spread, slices.len(), levels.between.is_none(), rules))
    }

    /// Forecasts from the log ratios of whole runs, by block. `None` with fewer than two.
    pub(crate) fn of_runs(apart: &[f64], rules: &DuelRules) -> Option<Self> {
        let [mean, error] = mean_and_error(apart)?;
        Some(Self::of(mean, error * sqrt(apart.len() as f64), apart.len(), false, rules))
    }

    /// Forecasts from the mean over `blocks` blocks and the standard deviation of a block.
    fn of(mean: f64, spread: f64, blocks: usize, is_more: bool, rules: &DuelRules) -> Self {
        let apart = mean.abs();
        let looks = power(rules);
        let matters = rules.matters.distance();
        let strays = Z_90 * spread / sqrt(blocks as f64);
        let is_told = |look: &&Power| {
            look.found_from * spread <= apart - strays
                || look.equivalent_from * spread <= matters - apart - strays
        };
        let verdict =
            looks.iter().filter(|look| look.blocks as usize > blocks).find(is_told).map(|look| look.blocks);
        Self { blocks, spread, is_more, verdict, looks }
    }

    /// Returns the number of blocks in which a difference of `share` is found with 90 % power. `None` if it exceeds the maximum number of
    /// blocks.
    pub fn blocks_for(&self, share: f64) -> Option<u32> {
        let apart = log1p(share.max(0.0));
        self.looks.iter().find(|look| look.found_from * self.spread <= apart).map(|look| look.blocks)
    }
}

/// Returns the 10 % quantile of the chi-square distribution with `freedom` degrees of freedom (Wilson–Hilferty approximation).
pub(crate) fn chi_square_10th_percentile(freedom: usize) -> f64 {
    let part = 2.0 / (9.0 * freedom as f64);
    let root = 1.0 - part - Z_90 * sqrt(part);
    freedom as f64 * root * root * root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::MinEffect;
    use libm::exp;

    const RULES: DuelRules = DuelRules {
        matters: MinEffect::share(0.03),
        higher_is_better: true,
        blocks_max: 24,
        pilot_blocks: 3,
        family: 1,
        looks_early: false,
        has_control: false,
    };

    /// Returns the pilot blocks whose log ratios are these percentages.
    fn pilots(percent: [f64; 3]) -> [[f64; 2]; 3] {
        percent.map(|apart| [500.0 * exp(apart / 100.0), 500.0])
    }

    #[test]
    fn spread_is_measured_about_zero() {
        let forecast = Forecast::of_pilot(&pilots([2.0, -1.0, 2.0]), &RULES).unwrap();
        assert!((forecast.spread - 0.01 * sqrt(3.0)).abs() < 1e-12);
        // The 10 % quantile of chi-square with 3 degrees of freedom is 0.584.
        assert!((forecast.spread_high / forecast.spread - sqrt(3.0 / 0.584)).abs() < 0.03);
        assert_eq!(forecast.pilots, 3);
    }

    #[test]
    fn smaller_spread_needs_fewer_blocks() {
        let blocks = |percent: f64, blocks_max| {
            let rules = DuelRules { blocks_max, ..RULES };
            let forecast = Forecast::of_pilot(&pilots([percent; 3]), &rules).unwrap();
            (forecast.blocks, forecast.blocks_for_equivalence)
        };
        // The threshold is 2.96 % as a logarithm.
        assert_eq!(blocks(1.0, 24), (Some(8), Some(8)));
        assert_eq!(blocks(1.3, 24), (Some(8), Some(12)));
        assert_eq!(blocks(2.5, 24), (Some(16), Some(24)));
        assert_eq!(blocks(3.3, 24), (Some(24), None));
        assert_eq!(blocks(5.0, 24), (None, None));
        assert_eq!(blocks(2.5, 12), (None, None));
        assert_eq!(blocks(1.0, 6), (Some(6), Some(6)));
        assert_eq!(blocks(1.0, 5), (None, None));
        let found_from = Forecast::of_pilot(&pilots([2.0; 3]), &RULES).unwrap().found_from.unwrap();
        assert!((found_from - 0.0169).abs() < 1e-4, "{found_from}");
    }

    #[test]
    fn larger_family_needs_more_blocks() {
        let blocks = |percent: f64, blocks_max, family| {
            let rules = DuelRules { blocks_max, family, ..RULES };
            let forecast = Forecast::of_pilot(&pilots([percent; 3]), &rules).unwrap();
            (forecast.blocks, forecast.blocks_for_equivalence)
        };
        assert_eq!(blocks(1.0, 24, 2), (Some(12), Some(12)), "there is no look at 8");
        assert_eq!(blocks(1.0, 11, 2), (Some(8), Some(8)), "but where there can never be 12");
        assert_eq!(blocks(2.5, 24, 2), (Some(24), Some(24)));
        assert_eq!(blocks(2.9, 24, 6), (Some(24), None));
        assert_eq!(blocks(0.1, 6, 2), (None, None));
        let short = DuelRules { blocks_max: 6, family: 2, ..RULES };
        assert_eq!(Forecast::of_pilot(&pilots([1.0; 3]), &short).unwrap().found_from, None);
    }

    #[test]
    fn differences_have_the_unit_of_the_threshold() {
        let rules = DuelRules { matters: MinEffect::difference(50.0), ..RULES };
        let forecast = Forecast::of_pilot(&[[400.0, 410.0], [0.0, 10.0], [30.0, 20.0]], &rules).unwrap();
        assert_eq!((forecast.pilots, forecast.spread, forecast.blocks), (3, 10.0, Some(8)));
        assert!((forecast.found_from.unwrap() - 8.338).abs() < 0.01, "{forecast:?}");
        let zeros = Forecast::of_pilot(&[[0.0, 0.0]; 3], &rules).unwrap();
        assert_eq!((zeros.spread, zeros.found_from), (0.0, Some(0.0)));
        assert_eq!(Forecast::of_pilot(&[[f64::INFINITY, 1.0], [f64::INFINITY; 2], [2.0, 1.0]], &rules), None);
    }

    /// Forecasts from blocks of two pairs, given by each block's mean log ratio in percent and the deviation of its pairs from the mean.
    fn outlook(blocks: &[(f64, f64)], rules: &DuelRules) -> Option<Outlook> {
        let of =
            |(apart, strays): &(f64, f64)| alloc::vec![(apart - strays) / 100.0, (apart + strays) / 100.0];
        Outlook::of_slices(&blocks.iter().map(of).collect::<Vec<_>>(), rules)
    }

    #[test]
    fn outlook_uses_the_cautious_end_of_the_estimate() {
        // Block means 4 and 6: standard deviation 1.41 %, more than the slices explain.
        let found = outlook(&[(4.0, 0.1), (6.0, 0.1)], &RULES).unwrap();
        assert!((found.spread - 0.01 * sqrt(2.0)).abs() < 1e-4, "{found:?}");
        // 5 % is 3.5 standard deviations, 2.6 at the cautious end, and eight blocks find 2.22.
        assert_eq!((found.verdict, found.blocks, found.is_more), (Some(8), 2, false));
        assert_eq!(
            [found.blocks_for(0.02), found.blocks_for(0.015), found.blocks_for(0.01)],
            [Some(12), Some(24), None]
        );
        // 0.5 % off with a standard deviation of 1.4 %: 2.46 % are left to 2.96 %, 1.17 % at the cautious end, or 0.83 standard
        // deviations: too little.
        assert_eq!(outlook(&[(-0.5, 0.1), (1.5, 0.1)], &RULES).unwrap().verdict, None);
        // Standard deviation 0.7 %: 1.8 % are left, or 2.57 standard deviations, and eight blocks need 2.51.
        assert_eq!(outlook(&[(0.0, 0.01), (1.0, 0.01)], &RULES).unwrap().verdict, Some(8));
        assert_eq!(outlook(&[(0.0, 9.0), (0.0, 9.0)], &RULES).unwrap().verdict, None);
    }

    #[test]
    fn single_block_gives_a_lower_bound_of_the_spread() {
        let found = outlook(&[(5.0, 1.0)], &RULES).unwrap();
        // Two pairs 1 % to either side: √2 % each, 1 % together.
        assert!((found.spread - 0.01).abs() < 1e-12 && found.is_more, "{found:?}");
        assert_eq!(outlook(&[], &RULES), None);
    }

    #[test]
    fn early_look_is_forecast() {
        let early = DuelRules { looks_early: true, ..RULES };
        let twice = [(100.0, 1.0), (102.0, 1.0)];
        assert_eq!([&early, &RULES].map(|rules| outlook(&twice, rules).unwrap().verdict), [Some(7), Some(8)]);
        let seven = [(100.0, 1.0); 7];
        assert_eq!(outlook(&seven, &early).unwrap().verdict, Some(8), "that look is over");
    }

    #[test]
    fn whole_runs_have_an_outlook_from_the_second_block_on() {
        let found = Outlook::of_runs(&[0.04, 0.06], &RULES).unwrap();
        assert!((found.spread - 0.01 * sqrt(2.0)).abs() < 1e-12, "{found:?}");
        assert_eq!((found.verdict, found.blocks, found.is_more), (Some(8), 2, false));
        assert_eq!([Outlook::of_runs(&[0.04], &RULES), Outlook::of_runs(&[], &RULES)], [None, None]);
    }

    #[test]
    fn no_forecast_with_fewer_than_two_pilots() {
        assert_eq!(Forecast::of_pilot(&[[5.0, 5.1]], &RULES), None);
        assert_eq!(Forecast::of_pilot(&[[5.0, 5.1], [0.0, 5.0], [f64::NAN, 1.0]], &RULES), None);
        let still = Forecast::of_pilot(&[[5.0, 5.0]; 3], &RULES).unwrap();
        assert_eq!((still.spread, still.blocks), (0.0, Some(8)));
    }
}
