//! Exact paired tests of several hypotheses that share one error rate. The null distribution of each signed-rank test is that of the
//! observed differences, ties and zeros included. Holm's procedure covers all tests that can reach significance.
//!
//! Within a block, the order of the two sides is random. If the sides do not differ, the sign of each difference is a fair coin toss,
//! regardless of the distribution of the differences. The test is therefore exact for figures that are often equal, such as error counts.

use alloc::vec;
use alloc::vec::Vec;

use crate::holm::holm;

/// Max number of differences. Further ones are ignored, because they hardly add power.
const DIFFERENCES_MAX: usize = 200;

/// Result of an exact two-sided signed-rank test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedTest {
    /// Probability of signs that are as one-sided as the observed ones, or more.
    pub p: f64,
    /// Smallest p-value that differences of these sizes can have, which they have if all signs are equal.
    pub p_min: f64,
}

impl PairedTest {
    /// Tests differences, one for each block. Zeros have no sign and are left out; equal sizes share their mean rank. `None` if a
    /// difference is no number, or if all are zero: then no test can be significant.
    pub fn of(differences: &[f64]) -> Option<Self> {
        let differences = &differences[..differences.len().min(DIFFERENCES_MAX)];
        if differences.iter().any(|difference| difference.is_nan()) {
            return None;
        }
        let mut sizes: Vec<(f64, bool)> = differences
            .iter()
            .filter(|difference| **difference != 0.0)
            .map(|difference| (difference.abs(), *difference > 0.0))
            .collect();
        if sizes.is_empty() {
            return None;
        }
        sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let ranks = doubled_ranks(&sizes);
        let all: usize = ranks.iter().sum();
        let positive: usize =
            ranks.iter().zip(&sizes).filter(|(_, (_, is_positive))| *is_positive).map(|(rank, _)| rank).sum();
        let shares = distribution(&ranks, all);
        let two_sided = |sum: usize| (2.0 * shares.iter().take(sum + 1).sum::<f64>()).min(1.0);
        Some(Self { p: two_sided(positive.min(all - positive)), p_min: two_sided(0) })
    }
}

/// Returns the ranks of ascending sizes, from 1, times 2, so that the mean rank of equal sizes is whole.
fn doubled_ranks(sizes: &[(f64, bool)]) -> Vec<usize> {
    let mut ranks = Vec::with_capacity(sizes.len());
    for equal in sizes.chunk_by(|one, next| one.0 == next.0) {
        let before = ranks.len();
        ranks.extend(core::iter::repeat_n(2 * before + equal.len() + 1, equal.len()));
    }
    ranks
}

/// Returns the probability of each sum of ranks from 0 to `all`, if each rank is in the sum with probability 1/2.
fn distribution(ranks: &[usize], all: usize) -> Vec<f64> {
    let mut shares = vec![0.0; all + 1];
    shares[0] = 1.0;
    let mut reached = 0;
    for rank in ranks {
        for sum in (0..=reached).rev() {
            let half = shares[sum] / 2.0;
            shares[sum] = half;
            shares[sum + rank] += half;
        }
        reached += rank;
    }
    shares
}

/// Family of tests that share one error rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// Whether each test is significant, in the order of the tests.
    pub is_significant: Vec<bool>,
    /// Number of tests that could be significant, over which the error rate is shared.
    pub size: usize,
}

impl Family {
    /// Judges tests together: the probability that any of them is significant without a difference is at most `alpha`. `None` stands for a
    /// test that cannot be significant.
    ///
    /// Tests that cannot reach their share of `alpha`, even with equal signs, do not count (Tarone). Whether a test can reach it depends
    /// only on the sizes of its differences, which the null distribution does not change, so the error rate is kept.
    pub fn judge(tests: &[Option<PairedTest>], alpha: f64) -> Self {
        let attainable = |size: usize| {
            let share = alpha / size as f64;
            tests.iter().flatten().filter(|test| test.p_min <= share).count()
        };
        let size = (1..=tests.len()).find(|size| attainable(*size) <= *size).unwrap_or(tests.len());
        let share = alpha / size.max(1) as f64;
        let members: Vec<usize> =
            (0..tests.len()).filter(|place| tests[*place].is_some_and(|test| test.p_min <= share)).collect();
        let p: Vec<f64> = members.iter().filter_map(|place| tests[*place]).map(|test| test.p).collect();
        let mut is_significant = vec![false; tests.len()];
        for (place, significant) in members.iter().zip(holm(&p, alpha)) {
            is_significant[*place] = significant;
        }
        Self { is_significant, size: members.len() }
    }
}

/// Returns the smallest number of blocks in which each of `tests` tests can be significant at a family-wise error rate of `alpha`.
pub fn blocks_for_family(tests: usize, alpha: f64) -> u32 {
    let share = alpha / tests.max(1) as f64;
    let mut p = 1.0;
    let mut blocks = 1;
    while p > share && blocks < 64 {
        blocks += 1;
        p /= 2.0;
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signed_rank::p_value;

    #[test]
    fn without_ties_the_test_is_wilcoxons() {
        for (differences, pairs, sum) in [
            (&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0][..], 6, 0),
            (&[-1.0, 2.0, 3.0, -4.0, 5.0, 6.0, 7.0], 7, 5),
            (&[0.0, -1.0, -2.0, -3.0], 3, 0),
        ] {
            let test = PairedTest::of(differences).expect("a test");
            assert!((test.p - p_value(pairs, sum)).abs() < 1e-12, "{differences:?}");
            assert!((test.p_min - p_value(pairs, 0)).abs() < 1e-12);
        }
    }

    #[test]
    fn ties_match_hand_computation() {
        // Sizes 1, 1, 2 have ranks 1.5, 1.5, 3. The sums of the 8 sign patterns are 0, 1.5, 1.5, 3, 3, 4.5, 4.5, 6.
        let p = |differences: &[f64]| PairedTest::of(differences).expect("a test").p;
        assert_eq!(p(&[1.0, 1.0, 2.0]), 2.0 / 8.0);
        assert_eq!(p(&[-1.0, 1.0, 2.0]), 6.0 / 8.0);
        assert_eq!(p(&[1.0, 1.0, -2.0]), 1.0);
    }

    #[test]
    fn equal_figures_and_missing_ones_have_no_test() {
        assert_eq!(PairedTest::of(&[0.0; 9]), None);
        assert_eq!(PairedTest::of(&[]), None);
        assert_eq!(PairedTest::of(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn tests_that_cannot_be_significant_do_not_take_a_share() {
        // Ten blocks of equal signs have a p-value of 2 in 1,024. The test passes alone, but not in a family of 50 such tests.
        let clear = PairedTest::of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
        let mixed = PairedTest::of(&[1.0, -2.0, 3.0, -4.0, 5.0, -6.0, 7.0, -8.0, 9.0, -10.0]);
        let short = PairedTest::of(&[1.0, 2.0]);
        let judge = |others: &[Option<PairedTest>]| {
            let tests = [&[clear][..], others].concat();
            let family = Family::judge(&tests, 0.05);
            (family.is_significant[0], family.size)
        };
        assert_eq!(judge(&[]), (true, 1));
        assert_eq!(judge(&[None; 100]), (true, 1));
        assert_eq!(judge(&[short; 100]), (true, 1));
        assert_eq!(judge(&[mixed; 24]), (true, 25));
        assert!(!judge(&[mixed; 50]).0);
        assert!(Family::judge(&[], 0.05).is_significant.is_empty());
    }

    #[test]
    fn blocks_for_a_family_let_each_test_pass() {
        for (tests, blocks) in [(1, 6), (50, 11), (200, 13)] {
            assert_eq!(blocks_for_family(tests, 0.05), blocks, "{tests}");
            let p = |blocks: u32| p_value(blocks, 0);
            assert!(p(blocks) <= 0.05 / tests as f64 && p(blocks - 1) > 0.05 / tests as f64);
        }
    }

    /// Simulates 2,000 comparisons of a system with itself, with 50 statements that have occasional errors, in 11 blocks.
    #[test]
    fn at_most_one_in_twenty_comparisons_without_a_difference_reports_any() {
        let mut state = 1_u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut reported = 0;
        for _ in 0..2_000 {
            let mut tests = Vec::new();
            for _ in 0..50 {
                let times: Vec<f64> = (0..11).map(|_| draw() - draw()).collect();
                let mut error = || f64::from(u8::from(draw() < 0.1));
                let errors: Vec<f64> = (0..11).map(|_| error() - error()).collect();
                tests.extend([PairedTest::of(&times), PairedTest::of(&errors)]);
            }
            reported += u32::from(Family::judge(&tests, 0.05).is_significant.contains(&true));
        }
        assert!(reported <= 120, "{reported} of 2,000, of which 100 are allowed on average");
    }
}
