//! Quickest change that gives an undecided comparison a verdict, from the variance and the bounds of its blocks so far.

use libm::{fabs, sqrt};

use crate::duel::DuelRules;
use crate::forecast::Z_90;
use crate::look::LOOKS;
use crate::power::{Power, power};
use crate::student::mean_and_error;

/// Factors by which runs may be longer.
const FACTORS: [f64; 4] = [2.0, 4.0, 8.0, 16.0];
/// Largest share of a block's variance within runs at which the variance between runs still dominates.
const STEADY_WITHIN_MAX: f64 = 0.25;

/// Blocks of an undecided comparison by ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenComparison<'a> {
    /// Log ratio of the measured figures in each block.
    pub apart: &'a [f64],
    /// Largest widening of the interval that the bounds of figures cause, as a logarithm.
    pub bounds: f64,
    /// Variance of a block's log ratio that arises within runs or slices, and falls with their length. `None` if it is unknown.
    pub within: Option<f64>,
    /// Mean time of a block, in seconds.
    pub block_s: f64,
    /// Part of `block_s` in which the load is measured, in seconds.
    pub measured_s: f64,
    /// Whether the comparison can be made in slices, but was not.
    pub can_have_slices: bool,
}

/// Change of a study that gives a verdict with a probability of 90 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WayToVerdict {
    /// More blocks of the same kind.
    MoreBlocks {
        /// Total number of blocks.
        blocks: u32,
        /// Time of the additional blocks, in seconds.
        seconds: f64,
    },
    /// Longer runs, or longer slices, in a new study.
    LongerRuns {
        /// Length relative to that of the present runs.
        factor: f64,
        /// Number of blocks of the new study.
        blocks: u32,
        /// Time of the new study, in seconds.
        seconds: f64,
    },
    /// Slices of systems that stay up, because the variance between runs exceeds the variance within runs.
    Slices,
    /// A quieter machine, because no number of blocks suffices at their present variance.
    LessNoise {
        /// Largest standard deviation of a block's log ratio at which the last look is conclusive.
        spread: f64,
    },
    /// A generator with less disturbance, because the bounds of the figures are wider than the difference.
    TighterBounds {
        /// Largest width of the bounds at which the last look is conclusive, as a logarithm. `None` if blocks vary too much as well.
        most: Option<f64>,
    },
}

/// Distances and margin that spread and bounds must meet for a verdict, as logarithms.
struct Needs {
    /// Distance of the estimate from "no difference".
    apart: f64,
    /// Distance of the estimate from the smallest difference that matters. Negative if the estimate exceeds it.
    to_matters: f64,
    /// Margin for the error of the estimate.
    strays: f64,
}

impl Needs {
    fn decides(&self, look: &Power, spread: f64, bounds: f64) -> bool {
        look.found_from * spread <= self.apart - self.strays - bounds
            || look.equivalent_from * spread <= self.to_matters - self.strays - bounds
    }

    /// Returns the widest bounds with which a look is conclusive at this spread.
    fn max_bounds(&self, look: &Power, spread: f64) -> f64 {
        let differs = self.apart - self.strays - look.found_from * spread;
        differs.max(self.to_matters - self.strays - look.equivalent_from * spread)
    }

    /// Returns the largest spread at which a look is conclusive with these bounds.
    fn max_spread(&self, look: &Power, bounds: f64) -> f64 {
        let differs = (self.apart - bounds) / look.found_from;
        differs.max((self.to_matters - bounds) / look.equivalent_from)
    }
}

impl OpenComparison<'_> {
    /// Returns the quickest change that gives a verdict. `None` with fewer than two blocks, or if figures are compared by difference.
    pub fn way(&self, rules: &DuelRules) -> Option<WayToVerdict> {
        let [mean, error] = mean_and_error(self.apart)?;
        let blocks = self.apart.len();
        let spread = error * sqrt(blocks as f64);
        let apart = fabs(mean);
        let to_matters = rules.matters.distance() - apart;
        let needs = Needs { apart, to_matters, strays: Z_90 * error };
        // A study may have more blocks than it planned.
        let last = LOOKS[LOOKS.len() - 1].blocks;
        let looks = power(&DuelRules { blocks_max: last.max(rules.blocks_max), ..*rules });
        let last = looks.last()?;
        if self.bounds >= apart.max(to_matters) {
            let most = Some(needs.max_bounds(last, spread)).filter(|most| *most > 0.0);
            return Some(WayToVerdict::TighterBounds { most });
        }
        let more = looks.iter().filter(|look| look.blocks as usize > blocks);
        let more = { more }.find(|look| needs.decides(look, spread, self.bounds)).map(|look| {
            let seconds = self.block_s * (f64::from(look.blocks) - blocks as f64);
            (seconds, WayToVerdict::MoreBlocks { blocks: look.blocks, seconds })
        });
        let longer = self.longer(&needs, &looks, spread);
        let quickest =
            more.into_iter().chain(longer).reduce(|one, other| if other.0 < one.0 { other } else { one });
        let is_steady_within =
            self.within.is_some_and(|within| within <= STEADY_WITHIN_MAX * spread * spread);
        Some(match quickest {
            Some((_, way)) => way,
            None if self.can_have_slices && is_steady_within => WayToVerdict::Slices,
            None => WayToVerdict::LessNoise { spread: needs.max_spread(last, self.bounds) },
        })
    }

    /// Returns the shortest total time with longer runs, which reduce the variance within runs.
    fn longer(&self, needs: &Needs, looks: &[Power], spread: f64) -> Option<(f64, WayToVerdict)> {
        let within = self.within?.min(spread * spread);
        let between = spread * spread - within;
        let ways = FACTORS.iter().filter_map(|factor| {
            let spread = sqrt(between + within / factor);
            let look = looks.iter().find(|look| needs.decides(look, spread, self.bounds))?;
            let block_s = self.block_s + self.measured_s * (factor - 1.0);
            let (blocks, seconds) = (look.blocks, block_s * f64::from(look.blocks));
            Some((seconds, WayToVerdict::LongerRuns { factor: *factor, blocks, seconds }))
        });
        ways.reduce(|one, other| if other.0 < one.0 { other } else { one })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::MinEffect;

    const RULES: DuelRules = DuelRules {
        matters: MinEffect::share(0.03),
        higher_is_better: true,
        blocks_max: 8,
        pilot_blocks: 0,
        family: 1,
        looks_early: false,
        has_control: false,
    };

    /// Returns eight blocks around a log ratio, with this standard deviation.
    fn around(mean: f64, spread: f64) -> [f64; 8] {
        [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0].map(|sign| mean + sign * spread * sqrt(7.0 / 8.0))
    }

    const OPEN: OpenComparison<'_> = OpenComparison {
        apart: &[],
        bounds: 0.0,
        within: None,
        block_s: 20.0,
        measured_s: 16.0,
        can_have_slices: true,
    };

    #[test]
    fn small_lack_of_power_takes_more_blocks() {
        let found = OpenComparison { apart: &around(0.05, 0.03), ..OPEN }.way(&RULES).unwrap();
        // 5 % at its cautious end is 3.6 %, or 1.2 standard deviations; 16 blocks find 1.07.
        assert_eq!(found, WayToVerdict::MoreBlocks { blocks: 16, seconds: 160.0 });
    }

    #[test]
    fn longer_runs_help_if_the_noise_is_within_them() {
        let noisy = around(0.05, 0.06);
        let open = OpenComparison { apart: &noisy, ..OPEN };
        // With the noise of 24 blocks, 5 % is not found.
        let way = |within: f64| OpenComparison { within: Some(within), ..open }.way(&RULES).unwrap();
        assert!(matches!(way(0.06 * 0.06), WayToVerdict::LongerRuns { .. }), "{:?}", way(0.06 * 0.06));
        assert_eq!(way(0.01 * 0.01), WayToVerdict::Slices);
        let never = OpenComparison { can_have_slices: false, within: Some(0.01 * 0.01), ..open };
        let WayToVerdict::LessNoise { spread } = never.way(&RULES).unwrap() else { panic!() };
        assert!((spread - 0.05 / 0.834).abs() < 1e-3, "{spread}");
    }

    #[test]
    fn bounds_wider_than_the_difference_need_a_less_disturbed_generator() {
        let steady = around(0.05, 0.002);
        let open = OpenComparison { apart: &steady, bounds: 0.08, ..OPEN };
        let Some(WayToVerdict::TighterBounds { most: Some(most) }) = open.way(&RULES) else { panic!() };
        assert!((0.045..0.05).contains(&most), "{most}");
        let noisy = around(0.05, 0.2);
        assert_eq!(
            OpenComparison { apart: &noisy, ..open }.way(&RULES),
            Some(WayToVerdict::TighterBounds { most: None })
        );
    }

    #[test]
    fn single_block_gets_no_advice() {
        assert_eq!(OpenComparison { apart: &[0.1], ..OPEN }.way(&RULES), None);
    }
}
