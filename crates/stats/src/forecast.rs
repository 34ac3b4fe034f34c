//! What a duel will cost, and what it can find at all, told by a pilot of A against itself, or by its own first blocks.

use core::f64::consts::LN_2;

use alloc::vec::Vec;

use libm::{log1p, sqrt};

use crate::duel::DuelRules;
use crate::obvious::OBVIOUS_BLOCKS;
use crate::power::{Power, power};
use crate::scale::Scale;
use crate::slices::Levels;
use crate::student::mean_and_error;

/// What the pilot says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// Pilot blocks with two figures.
    pub pilots: usize,
    /// The standard deviation of the difference in a block, or of the logarithm of the ratio, about 0.
    pub spread: f64,
    /// What it may be: the upper end of its one-sided 90 % interval, as few blocks tell it badly.
    pub spread_high: f64,
    /// In how many blocks the difference that matters is found with 90 % power; `None`: not within the blocks there may be.
    pub blocks: Option<u32>,
    /// The smallest difference found with 90 % power within the blocks there may be, in the unit of what matters; `None` without any look.
    pub found_from: Option<f64>,
    /// In how many blocks equal systems are called equivalent with 90 % power; `None`: not within the blocks there may be.
    pub blocks_for_equivalence: Option<u32>,
}

impl Forecast {
    /// Of the figures of pilot blocks; `None` of fewer than two that lie apart by something finite.
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
        let looks = power(rules.blocks_max, rules.family);
        let reached = |least: fn(&Power) -> f64| {
            looks.iter().find(|look| least(look) * spread <= matters).map(|look| look.blocks)
        };
        Some(Self {
            pilots,
            spread,
            spread_high: spread * sqrt(pilots as f64 / chi_square_tenth(pilots)),
            blocks: reached(|look| look.found_from),
            found_from: looks.last().map(|look| match scale {
                Scale::Ratio => libm::expm1(look.found_from * spread),
                Scale::Difference => look.found_from * spread,
            }),
            blocks_for_equivalence: reached(|look| look.equivalent_from),
        })
    }
}

/// When a duel may have its verdict, by its blocks so far. In slices, if the next blocks have as many of them as the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlook {
    /// Blocks so far.
    pub blocks: usize,
    /// The standard deviation of the logarithm of the ratio of a block.
    pub spread: f64,
    /// Whether it is larger in truth: a single block says nothing of starts.
    pub is_more: bool,
    /// After how many blocks in all there is a verdict with 90 % power, if the difference is where the estimate is cautious: so far
    /// towards the threshold as it strays in one of ten cases. `None`: not within the blocks there may be.
    pub verdict: Option<u32>,
    looks: Vec<Power>,
}

/// By how many standard deviations of a block figures must lie apart to be obvious with 90 % power: four blocks, whose interval is 3.25 of
/// their own wide on either side, and whose mean strays by a half.
const OBVIOUS_FROM: f64 = 4.5;

/// What a normal deviate exceeds in one of ten cases.
const TENTH: f64 = 1.281_551_565_5;

impl Outlook {
    /// By the logarithms of the ratios of pairs of slices, by block; `None` if no block has two pairs.
    pub(crate) fn of_slices(slices: &[Vec<f64>], rules: &DuelRules) -> Option<Self> {
        let levels = Levels::of(slices)?;
        let spread = levels.of_block(slices.last().map_or(1, Vec::len));
        let means = slices.iter().map(|block| block.iter().sum::<f64>() / block.len().max(1) as f64);
        let mean = means.sum::<f64>() / slices.len() as f64;
        Some(Self::of(mean, spread, slices.len(), levels.between.is_none(), rules))
    }

    /// By the logarithms of the ratios of whole runs, by block; `None` of fewer than two.
    pub(crate) fn of_runs(apart: &[f64], rules: &DuelRules) -> Option<Self> {
        let [mean, error] = mean_and_error(apart)?;
        Some(Self::of(mean, error * sqrt(apart.len() as f64), apart.len(), false, rules))
    }

    /// By the mean over so many blocks, and how much a block strays.
    fn of(mean: f64, spread: f64, blocks: usize, is_more: bool, rules: &DuelRules) -> Self {
        let apart = mean.abs();
        let looks = power(rules.blocks_max, rules.family);
        let matters = rules.matters.distance();
        let strays = TENTH * spread / sqrt(blocks as f64);
        let is_told = |look: &&Power| {
            look.found_from * spread <= apart - strays
                || look.equivalent_from * spread <= matters - apart - strays
        };
        let is_obvious = rules.looks_early && apart >= LN_2 && apart >= OBVIOUS_FROM * spread;
        let verdict = match is_obvious && blocks <= OBVIOUS_BLOCKS {
            true => Some(OBVIOUS_BLOCKS as u32),
            false => looks
                .iter()
                .filter(|look| look.blocks as usize > blocks)
                .find(is_told)
                .map(|look| look.blocks),
        };
        Self { blocks, spread, is_more, verdict, looks }
    }

    /// In how many blocks a difference of this share is found with 90 % power; `None`: not within the blocks there may be.
    pub fn blocks_for(&self, share: f64) -> Option<u32> {
        let apart = log1p(share.max(0.0));
        self.looks.iter().find(|look| look.found_from * self.spread <= apart).map(|look| look.blocks)
    }
}

/// The 10 % point of the chi-square distribution with so many degrees of freedom (Wilson and Hilferty's cube).
pub(crate) fn chi_square_tenth(freedom: usize) -> f64 {
    let part = 2.0 / (9.0 * freedom as f64);
    let root = 1.0 - part - TENTH * sqrt(part);
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

    /// Pilots whose ratios are this far apart, in percent.
    fn pilots(percent: [f64; 3]) -> [[f64; 2]; 3] {
        percent.map(|apart| [500.0 * exp(apart / 100.0), 500.0])
    }

    #[test]
    fn the_spread_is_about_zero() {
        let forecast = Forecast::of_pilot(&pilots([2.0, -1.0, 2.0]), &RULES).unwrap();
        assert!((forecast.spread - 0.01 * sqrt(3.0)).abs() < 1e-12);
        // The 10 % point of chi-square with 3 degrees of freedom is 0.584.
        assert!((forecast.spread_high / forecast.spread - sqrt(3.0 / 0.584)).abs() < 0.03);
        assert_eq!(forecast.pilots, 3);
    }

    #[test]
    fn what_matters_is_reached_the_sooner_the_less_it_strays() {
        let blocks = |percent: f64, blocks_max| {
            let rules = DuelRules { blocks_max, ..RULES };
            let forecast = Forecast::of_pilot(&pilots([percent; 3]), &rules).unwrap();
            (forecast.blocks, forecast.blocks_for_equivalence)
        };
        // What matters is 2.96 % as a logarithm.
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
    fn one_of_a_family_takes_more() {
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
    fn differences_have_the_unit_of_what_matters() {
        let rules = DuelRules { matters: MinEffect::difference(50.0), ..RULES };
        let forecast = Forecast::of_pilot(&[[400.0, 410.0], [0.0, 10.0], [30.0, 20.0]], &rules).unwrap();
        assert_eq!((forecast.pilots, forecast.spread, forecast.blocks), (3, 10.0, Some(8)));
        assert!((forecast.found_from.unwrap() - 8.338).abs() < 0.01, "{forecast:?}");
        let zeros = Forecast::of_pilot(&[[0.0, 0.0]; 3], &rules).unwrap();
        assert_eq!((zeros.spread, zeros.found_from), (0.0, Some(0.0)));
        assert_eq!(Forecast::of_pilot(&[[f64::INFINITY, 1.0], [f64::INFINITY; 2], [2.0, 1.0]], &rules), None);
    }

    /// Blocks of two pairs, so far apart in percent, which stray by as much from their start.
    fn outlook(blocks: &[(f64, f64)], rules: &DuelRules) -> Option<Outlook> {
        let of =
            |(apart, strays): &(f64, f64)| alloc::vec![(apart - strays) / 100.0, (apart + strays) / 100.0];
        Outlook::of_slices(&blocks.iter().map(of).collect::<Vec<_>>(), rules)
    }

    #[test]
    fn the_outlook_follows_the_estimate_and_where_it_strays() {
        // Block means 4 and 6: standard deviation 1.41 %, which is more than what slices explain.
        let found = outlook(&[(4.0, 0.1), (6.0, 0.1)], &RULES).unwrap();
        assert!((found.spread - 0.01 * sqrt(2.0)).abs() < 1e-4, "{found:?}");
        // 5 % is 3.5 of them, 2.6 if it is cautious, and eight blocks find 2.22.
        assert_eq!((found.verdict, found.blocks, found.is_more), (Some(8), 2, false));
        assert_eq!(
            [found.blocks_for(0.02), found.blocks_for(0.015), found.blocks_for(0.01)],
            [Some(12), Some(24), None]
        );
        // 0.5 % off, with 1.4 %: equality within 2.96 % has 2.46 % left, cautiously 1.17 %, or 0.83 of them: too little.
        assert_eq!(outlook(&[(-0.5, 0.1), (1.5, 0.1)], &RULES).unwrap().verdict, None);
        // With 0.7 %: 1.8 % is left, or 2.57 of them, and eight blocks need 2.51.
        assert_eq!(outlook(&[(0.0, 0.01), (1.0, 0.01)], &RULES).unwrap().verdict, Some(8));
        assert_eq!(outlook(&[(0.0, 9.0), (0.0, 9.0)], &RULES).unwrap().verdict, None);
    }

    #[test]
    fn a_single_block_says_at_least_how_much_it_strays() {
        let found = outlook(&[(5.0, 1.0)], &RULES).unwrap();
        // Two pairs 1 % to either side: √2 % each, 1 % together.
        assert!((found.spread - 0.01).abs() < 1e-12 && found.is_more, "{found:?}");
        assert_eq!(outlook(&[], &RULES), None);
    }

    #[test]
    fn what_is_obvious_is_told_after_four_blocks() {
        let early = DuelRules { looks_early: true, ..RULES };
        let twice = [(100.0, 1.0), (102.0, 1.0)];
        assert_eq!([&early, &RULES].map(|rules| outlook(&twice, rules).unwrap().verdict), [Some(4), Some(8)]);
        assert_eq!(outlook(&[(60.0, 1.0), (62.0, 1.0)], &early).unwrap().verdict, Some(8), "less than twice");
        let five = [(100.0, 1.0), (102.0, 1.0), (100.0, 1.0), (102.0, 1.0), (100.0, 1.0)];
        assert_eq!(outlook(&five, &early).unwrap().verdict, Some(8), "that look is over");
    }

    #[test]
    fn whole_runs_have_the_same_outlook_from_the_second_block_on() {
        let found = Outlook::of_runs(&[0.04, 0.06], &RULES).unwrap();
        assert!((found.spread - 0.01 * sqrt(2.0)).abs() < 1e-12, "{found:?}");
        assert_eq!((found.verdict, found.blocks, found.is_more), (Some(8), 2, false));
        assert_eq!([Outlook::of_runs(&[0.04], &RULES), Outlook::of_runs(&[], &RULES)], [None, None]);
    }

    #[test]
    fn without_two_pilots_there_is_no_forecast() {
        assert_eq!(Forecast::of_pilot(&[[5.0, 5.1]], &RULES), None);
        assert_eq!(Forecast::of_pilot(&[[5.0, 5.1], [0.0, 5.0], [f64::NAN, 1.0]], &RULES), None);
        let still = Forecast::of_pilot(&[[5.0, 5.0]; 3], &RULES).unwrap();
        assert_eq!((still.spread, still.blocks), (0.0, Some(8)));
    }
}
