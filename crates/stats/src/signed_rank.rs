//! Exact null distribution of Wilcoxon's signed-rank sum.

use alloc::vec;
use alloc::vec::Vec;

/// Returns the two-sided p-value of a signed-rank sum: the probability that the smaller of the two sums is at most `sum` if the sign of
/// each of `pairs` pairs is a fair coin. Capped at 1.
///
/// Exact up to 53 pairs; beyond that up to `f64` rounding.
pub(crate) fn p_value(pairs: u32, sum: u32) -> f64 {
    let share_at_most: f64 = distribution(pairs).iter().take(sum as usize + 1).sum();
    (2.0 * share_at_most).min(1.0)
}

/// Returns the largest sum whose two-sided p-value is at most `alpha`. `None` if even the sum 0 has a larger p-value.
pub(crate) fn critical_value(pairs: u32, alpha: f64) -> Option<u32> {
    let mut share_at_most = 0.0;
    let significant = distribution(pairs).into_iter().take_while(|share| {
        share_at_most += share;
        2.0 * share_at_most <= alpha
    });
    u32::try_from(significant.count()).ok()?.checked_sub(1)
}

/// Returns the probability of each sum from 0 to n(n+1)/2. Adds the ranks one by one, each of which is in the sum with probability 1/2.
fn distribution(pairs: u32) -> Vec<f64> {
    let mut shares = vec![1.0];
    for rank in 1..=pairs as usize {
        let mut next = vec![0.0; shares.len() + rank];
        for (sum, share) in shares.iter().enumerate() {
            next[sum] += share / 2.0;
            next[sum + rank] += share / 2.0;
        }
        shares = next;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_p_values_belong_to_equal_signs() {
        let published = [(4, 0.125), (5, 0.0625), (6, 0.0313), (8, 0.0078), (10, 0.0020), (12, 0.0005)];
        for (pairs, p) in published {
            assert!((p_value(pairs, 0) - p).abs() < 6e-5, "{pairs}");
            assert_eq!(p_value(pairs, 0), 2.0 / f64::from(1u32 << pairs));
        }
    }

    #[test]
    fn critical_values_match_wilcoxons_table() {
        for (pairs, sum, p) in [(8, 0, 0.0078), (12, 8, 0.0122), (16, 20, 0.0110), (24, 63, 0.0115)] {
            assert_eq!(critical_value(pairs, 0.0125), Some(sum), "{pairs}");
            assert!((p_value(pairs, sum) - p).abs() < 6e-5, "{pairs}");
            assert!(p_value(pairs, sum + 1) > 0.0125);
        }
        // Wilcoxon's table at 5 %, two-sided.
        for (pairs, sum) in [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (15, 25), (20, 52), (25, 89)] {
            assert_eq!(critical_value(pairs, 0.05), Some(sum), "{pairs}");
        }
        assert_eq!(critical_value(5, 0.05), None, "five pairs can never say so");
        assert_eq!(critical_value(0, 0.05), None);
    }

    #[test]
    fn three_pairs_match_hand_computation() {
        // The sums of the 8 sign patterns are 0, 1, 2, 3, 3, 4, 5, 6.
        let shares: Vec<f64> = [1, 1, 1, 2, 1, 1, 1].map(|patterns| f64::from(patterns) / 8.0).to_vec();
        assert_eq!(distribution(3), shares);
        assert_eq!(p_value(3, 1), 0.5);
        assert_eq!(p_value(3, 6), 1.0);
        assert_eq!(p_value(3, u32::MAX), 1.0);
    }

    #[test]
    fn distribution_sums_to_one_and_is_symmetric() {
        for pairs in 0..=40 {
            let shares = distribution(pairs);
            assert_eq!(shares.iter().sum::<f64>(), 1.0);
            assert!(shares.iter().eq(shares.iter().rev()));
        }
    }
}
