//! Elimination in the race: S.-H. Kim and B. L. Nelson's fully sequential selection of the best (KN).

use alloc::vec::Vec;

use libm::{floor, pow};

use super::rows::Rows;

/// Number of blocks before the first elimination. Fewer make the variances so uncertain that more blocks are needed in total.
pub(super) const FIRST_BLOCKS: u32 = 8;

/// Race among variants, over blocks that no earlier decision was based on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Race {
    /// Index of the first block of the race.
    pub(super) from: usize,
    /// Number of variants at the start.
    pub(super) settings: usize,
    /// Probability of losing the best if it leads by the smallest difference that matters.
    pub(super) alpha: f64,
    /// Smallest difference that matters, as a log ratio.
    pub(super) matters: f64,
    /// Number of leading blocks that the variances are estimated from.
    pub(super) first_blocks: u32,
}

/// Variants that remain after a block.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Survivors {
    pub(super) settings: Vec<usize>,
    /// True if the variant with the largest mean can be selected without more blocks.
    pub(super) is_decided: bool,
}

impl Race {
    /// Returns the constant h² of the procedure: 2η(n₀ − 1) with η = ((2α ÷ (K − 1))^(−2 ÷ (n₀ − 1)) − 1) ÷ 2.
    pub(super) fn h_squared(&self) -> f64 {
        let freedom = f64::from(self.first_blocks.saturating_sub(1));
        let others = self.settings.saturating_sub(1).max(1) as f64;
        let eta = 0.5 * (pow(2.0 * self.alpha / others, -2.0 / freedom) - 1.0);
        2.0 * eta * freedom
    }

    /// Returns the variants of `field` that remain after the blocks so far.
    pub(super) fn survivors(&self, rows: &Rows, field: &[usize]) -> Survivors {
        let blocks = (rows.len() - self.from) as u32;
        if self.first_blocks < 2 || blocks < self.first_blocks {
            return Survivors { settings: field.to_vec(), is_decided: false };
        }
        let h_squared = self.h_squared();
        let mut longest = 0.0f64;
        let mut settings = Vec::new();
        for one in field.iter().copied() {
            let mut is_in = true;
            for other in field.iter().copied().filter(|other| *other != one) {
                let Some(lead) = rows.lead(self.from, one, other) else { continue };
                // A variant that could not be measured to the end has fewer blocks.
                let blocks = rows.leads(self.from, one, other).count() as u32;
                if blocks < self.first_blocks {
                    continue;
                }
                let variance = self.variance(rows, one, other);
                let end = h_squared * variance / (self.matters * self.matters);
                longest = longest.max(floor(end));
                let allowed = (self.matters / (2.0 * f64::from(blocks)) * (end - f64::from(blocks))).max(0.0);
                is_in &= lead >= -allowed;
            }
            if is_in {
                settings.push(one);
            }
        }
        let is_decided = settings.len() <= 1 || f64::from(blocks) > longest;
        Survivors { settings, is_decided }
    }

    /// Returns the sample variance of the lead of one variant over another in the first blocks.
    fn variance(&self, rows: &Rows, one: usize, other: usize) -> f64 {
        let leads: Vec<f64> = rows.leads(self.from, one, other).take(self.first_blocks as usize).collect();
        let count = leads.len() as f64;
        let mean = leads.iter().sum::<f64>() / count.max(1.0);
        leads.iter().map(|lead| (lead - mean) * (lead - mean)).sum::<f64>() / (count - 1.0).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunResult;
    use alloc::vec;

    fn race(settings: usize, first_blocks: u32) -> Race {
        Race { from: 0, settings, alpha: 0.05, matters: libm::log(1.03), first_blocks }
    }

    fn rows(merits: &[[f64; 3]]) -> Rows {
        let mut rows = Rows::new(true);
        for row in merits {
            rows.push(row.iter().map(|merit| Some(RunResult::exactly(libm::exp(*merit), 0, 1))).collect());
        }
        rows
    }

    #[test]
    fn h_squared_matches_the_documented_table() {
        for (settings, h_squared) in [(4, 11.5), (8, 16.6), (16, 22.3), (32, 29.1)] {
            let found = race(settings, 8).h_squared();
            assert!((found - h_squared).abs() < 0.05, "{settings}: {found}");
        }
        // K = 8: (2·0.05 ÷ 7)^(−2 ÷ 7) is 3.366, so η = 1.183 and h² = 14η.
        assert!((race(8, 8).h_squared() - 14.0 * 1.183).abs() < 0.01);
    }

    #[test]
    fn longest_races_match_the_documented_table() {
        // Maximum number of blocks of a race of eight, for lead deviations of 1.5, 2.0, and 2.8 % (if above n₀).
        let end = |deviation: f64| {
            let matters: f64 = race(8, 8).matters;
            race(8, 8).h_squared() * deviation * deviation / (matters * matters)
        };
        assert!(end(0.015) < 8.0 && end(0.02) < 8.0, "{} {}", end(0.015), end(0.02));
        assert!((14.0..15.0).contains(&end(0.028)), "{}", end(0.028));
    }

    #[test]
    fn race_of_three_matches_hand_computation() {
        // The second trails the first by 0.01 ± 0.01: a variance of 0.01² · 8/7. The third trails it by exactly 0.05.
        let figures: Vec<[f64; 3]> =
            (0..8).map(|block| [1.0, if block % 2 == 0 { 0.98 } else { 1.0 }, 0.95]).collect();
        let (race, rows) = (race(3, 8), rows(&figures));
        assert!((race.variance(&rows, 0, 1) - 0.0001 * 8.0 / 7.0).abs() < 1e-12);
        assert!(race.variance(&rows, 0, 2) < 1e-12);
        // η = ((0.1 ÷ 2)^(−2/7) − 1) ÷ 2 = 0.6767, h² = 9.473, h²S² ÷ δ² = 1.239 < 8: no lead is tolerated any more.
        assert!((race.h_squared() - 9.473).abs() < 2e-3, "{}", race.h_squared());
        assert_eq!(race.survivors(&rows, &[0, 1, 2]), Survivors { settings: vec![0], is_decided: true });
        assert_eq!(race.survivors(&rows, &[1, 2]).settings, [1]);
    }

    #[test]
    fn noise_keeps_close_rivals_and_drops_distant_ones() {
        // The first leads the second by 0.01 ± 0.08, S² = 0.0064 · 8/7, N = h²S² ÷ δ² = 79.3. At eight blocks, a lead up to δ ÷ 16
        // · 71.3 = 0.1317 is tolerated. The third trails by 0.2 ± 0.08.
        let figures: Vec<[f64; 3]> = (0..8)
            .map(|block| {
                let sway = if block % 2 == 0 { 0.08 } else { -0.08 };
                [1.0, 0.99 + sway, 0.8 + sway]
            })
            .collect();
        let left = race(3, 8).survivors(&rows(&figures), &[0, 1, 2]);
        assert_eq!(left, Survivors { settings: vec![0, 1], is_decided: false });
    }

    #[test]
    fn no_elimination_before_the_first_blocks() {
        let figures = [[1.0, 0.5, 0.0]; 7];
        let left = race(3, 8).survivors(&rows(&figures), &[0, 1, 2]);
        assert_eq!(left, Survivors { settings: vec![0, 1, 2], is_decided: false });
    }
}
