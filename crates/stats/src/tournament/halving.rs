//! Very many settings are halved, round by round, before they race: each round has fresh blocks, and as many as it takes.

use alloc::vec::Vec;

use libm::{ceil, erfc, sqrt};

use super::rows::Rows;
use crate::forecast::chi_square_tenth;

/// More settings than this are halved first.
pub const RACE_MAX: usize = 16;
/// Until no more than this are left.
pub(super) const FIELD: usize = 8;
/// Blocks of a round after which its noise is known well enough, as all settings tell it.
pub(super) const PILOT_BLOCKS: u32 = 6;

/// How many rounds it takes.
pub(super) fn rounds(settings: usize) -> u32 {
    let (mut left, mut rounds) = (settings, 0);
    while settings > RACE_MAX && left > FIELD {
        left = kept(left);
        rounds += 1;
    }
    rounds
}

/// How many are left after a round.
pub(super) fn kept(settings: usize) -> usize {
    settings.div_ceil(2).max(FIELD)
}

/// How many blocks a round takes, so that the best is lost with at most this chance: it is lost only if half of the others
/// beat it, so by Markov's inequality with at most 2Φ(−δ√n ÷ (σ√2)), where δ is what matters and σ the noise of a run.
pub(super) fn blocks_needed(noise: f64, matters: f64, alpha: f64) -> f64 {
    let reach = tail_point(alpha) * noise / matters;
    ceil(2.0 * reach * reach)
}

/// The z with 2Φ(−z) = `alpha`.
fn tail_point(alpha: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        *(if erfc(middle / core::f64::consts::SQRT_2) > alpha { &mut low } else { &mut high }) = middle;
    }
    high
}

/// The noise of a run within blocks, as all settings of a round tell it, at the upper end of its one-sided 90 % interval.
/// What is common to the runs of a block is no part of it.
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
    sqrt(squares / chi_square_tenth(freedom))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seen;

    #[test]
    fn halved_down_to_eight() {
        assert_eq!([1, 8, 16, 17, 32, 64, 100].map(rounds), [0, 0, 0, 2, 2, 3, 4]);
        assert_eq!([17, 9, 64].map(kept), [9, 8, 32]);
    }

    #[test]
    fn blocks_of_the_table() {
        // An error of 0.025 over three rounds: 7 blocks with a noise of 0.67 of what matters, 14 with as much.
        assert_eq!(blocks_needed(0.67 * 0.03, 0.03, 0.025 / 3.0), 7.0);
        assert_eq!(blocks_needed(0.03, 0.03, 0.025 / 3.0), 14.0);
        assert!((tail_point(0.05) - 1.959_964).abs() < 1e-6);
    }

    #[test]
    fn noise_by_hand() {
        // Two settings, two blocks: every residual is 0.01, with one degree of freedom.
        let mut rows = Rows::new(false);
        for row in [[0.02, 0.0], [0.5, 0.52]] {
            rows.push(
                row.iter()
                    .map(|log: &f64| Some(Seen::Figure { value: libm::exp(*log), errors: 0, planned: 1 }))
                    .collect(),
            );
        }
        let expected = sqrt(4.0 * 0.01 * 0.01 / chi_square_tenth(1));
        assert!((noise(&rows, 0, &[0, 1]) - expected).abs() < 1e-12);
        assert_eq!(noise(&rows, 1, &[0, 1]), 0.0);
    }
}
