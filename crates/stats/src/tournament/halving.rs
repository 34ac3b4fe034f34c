//! Successive halving of many variants before the race. Each round has as many fresh blocks as its noise requires.

use alloc::vec::Vec;

use libm::{ceil, erfc, sqrt};

use super::rows::Rows;
use crate::forecast::chi_square_10th_percentile;

/// Largest number of variants that race without halving first.
pub const RACE_MAX: usize = 16;
/// Number of variants at which halving stops.
pub(super) const FIELD_MAX: usize = 8;
/// Number of blocks of a round after which its noise, pooled over all variants, is known well enough.
pub(super) const PILOT_BLOCKS: u32 = 6;

/// Returns the number of rounds of halving for this many variants.
pub(super) fn rounds(settings: usize) -> u32 {
    let (mut left, mut rounds) = (settings, 0);
    while settings > RACE_MAX && left > FIELD_MAX {
        left = survivor_count(left);
        rounds += 1;
    }
    rounds
}

/// Returns the number of variants that remain after a round.
pub(super) fn survivor_count(settings: usize) -> usize {
    settings.div_ceil(2).max(FIELD_MAX)
}

/// Returns the number of blocks of a round such that the best is lost with probability at most `alpha`. It is lost only if half of the
/// others beat it. By Markov's inequality the probability is at most 2Φ(−δ√n ÷ (σ√2)), where δ is the smallest difference that matters and
/// σ the noise of a run.
pub(super) fn blocks_needed(noise: f64, matters: f64, alpha: f64) -> f64 {
    let reach = two_sided_z(alpha) * noise / matters;
    ceil(2.0 * reach * reach)
}

/// Returns the z with 2Φ(−z) = `alpha`.
fn two_sided_z(alpha: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        *(if erfc(middle / core::f64::consts::SQRT_2) > alpha { &mut low } else { &mut high }) = middle;
    }
    high
}

/// Returns the noise of a run within blocks, pooled over all variants of a round: the upper end of its one-sided 90 % interval. Effects
/// common to the runs of a block are excluded.
pub(super) fn noise(rows: &Rows, from: usize, field: &[usize]) -> f64 {
    let blocks = rows.len() - from;
    let freedom = blocks.saturating_sub(1) * field.len().saturating_sub(1);
    if freedom == 0 {
        return 0.0;
    }
    let table: Vec<Vec<f64>> = (from..rows.len()).map(|row| rows.merits(row, field)).collect();
    let count = field.len() as f64;
    let of_blocks: Vec<f64> = table.iter().map(|row| row.iter().sum::<f64>() / count).collect();
    let of_all = of_blocks.iter().sum::<f64>() / blocks as f64;
    let mut squares = 0.0;
    for place in 0..field.len() {
        let of_setting = table.iter().map(|row| row[place]).sum::<f64>() / blocks as f64;
        for (row, of_block) in table.iter().zip(&of_blocks) {
            let residual = row[place] - of_setting - of_block + of_all;
            squares += residual * residual;
        }
    }
    sqrt(squares / chi_square_10th_percentile(freedom))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunResult;

    #[test]
    fn halving_stops_at_eight() {
        assert_eq!([1, 8, 16, 17, 32, 64, 100].map(rounds), [0, 0, 0, 2, 2, 3, 4]);
        assert_eq!([17, 9, 64].map(survivor_count), [9, 8, 32]);
    }

    #[test]
    fn blocks_needed_match_the_documented_table() {
        // Error rate 0.025 over three rounds: 7 blocks if the noise is 0.67 of the threshold, 14 if it equals the threshold.
        assert_eq!(blocks_needed(0.67 * 0.03, 0.03, 0.025 / 3.0), 7.0);
        assert_eq!(blocks_needed(0.03, 0.03, 0.025 / 3.0), 14.0);
        assert!((two_sided_z(0.05) - 1.959_964).abs() < 1e-6);
    }

    #[test]
    fn noise_matches_hand_computation() {
        // Two variants, two blocks: every residual is 0.01, with one degree of freedom.
        let mut rows = Rows::new(false);
        for row in [[0.02, 0.0], [0.5, 0.52]] {
            rows.push(row.iter().map(|log: &f64| Some(RunResult::exactly(libm::exp(*log), 0, 1))).collect());
        }
        let expected = sqrt(4.0 * 0.01 * 0.01 / chi_square_10th_percentile(1));
        assert!((noise(&rows, 0, &[0, 1]) - expected).abs() < 1e-12);
        assert_eq!(noise(&rows, 1, &[0, 1]), 0.0);
    }
}
