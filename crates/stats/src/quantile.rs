//! Exact bounds of a quantile from ranks of sorted samples, by the binomial distribution. Samples are assumed independent; the shape of
//! their distribution does not matter.

use libm::{exp, lgamma, log, log1p, round};

/// Parts per million in the whole.
const WHOLE_PPM: u32 = 1_000_000;
/// Largest number of samples that is searched for a decision.
const SAMPLES_MAX: u64 = 1_000_000_000;
/// Share of the sum below which further terms are ignored.
const NEGLIGIBLE: f64 = 1e-17;

/// Ranks, counted from 1, of the sorted samples that enclose a quantile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuantileRanks {
    /// Highest rank whose sample exceeds the quantile with at most the given probability. `None` if there are too few samples.
    pub low: Option<u64>,
    /// Lowest rank whose sample falls short of the quantile with at most the given probability. `None` if there are too few samples.
    pub high: Option<u64>,
}

/// Returns the ranks that enclose the quantile of `ppm` parts per million, of `count` samples. Each side errs with a probability of at most
/// `error`.
pub fn quantile_ranks(count: u64, ppm: u32, error: f64) -> QuantileRanks {
    let ppm = ppm.min(WHOLE_PPM);
    QuantileRanks {
        low: lower_rank(count, ppm, error),
        // A sample of rank r is below the quantile if at most count − r samples are above it: the mirror image.
        high: lower_rank(count, WHOLE_PPM - ppm, error).map(|rank| count + 1 - rank),
    }
}

/// Returns the highest rank with P(at most rank − 1 of `count` samples lie below the quantile) ≤ `error`.
fn lower_rank(count: u64, ppm: u32, error: f64) -> Option<u64> {
    let share = f64::from(ppm) / f64::from(WHOLE_PPM);
    // Above the mean, the probability is about a half or more.
    let (mut enough, mut too_many) = (0, (count as f64 * share) as u64 + 1);
    while too_many - enough > 1 {
        let rank = enough + (too_many - enough) / 2;
        match at_most(count, share, rank - 1) <= error {
            true => enough = rank,
            false => too_many = rank,
        }
    }
    (enough > 0).then_some(enough)
}

/// Returns the number of samples, above `count`, that would show on which side of a limit the quantile of `ppm` parts per million lies.
/// Assumes that the share of samples beyond the limit stays `beyond` ÷ `count`. `None` if no practical number suffices.
pub fn samples_to_decide(count: u64, beyond: u64, ppm: u32, error: f64) -> Option<u64> {
    let share_beyond = if count == 0 { 0.0 } else { beyond as f64 / count as f64 };
    let is_decided = |samples: u64| {
        let beyond = round(samples as f64 * share_beyond) as u64;
        let ranks = quantile_ranks(samples, ppm, error);
        // Samples of a higher rank than `within` lie beyond the limit.
        let within = samples - beyond;
        ranks.high.is_some_and(|rank| rank <= within) || ranks.low.is_some_and(|rank| rank > within)
    };
    let (mut open, mut decided) = (count, count.max(1));
    while !is_decided(decided) {
        open = decided;
        decided = decided.checked_mul(2).filter(|samples| *samples <= SAMPLES_MAX)?;
    }
    while decided - open > 1 {
        let samples = open + (decided - open) / 2;
        match is_decided(samples) {
            true => decided = samples,
            false => open = samples,
        }
    }
    Some(decided)
}

/// Returns the probability of `most` or fewer successes. `most` must not exceed the mean, so that terms only fall below it.
fn at_most(count: u64, share: f64, most: u64) -> f64 {
    if share >= 1.0 {
        return if most >= count { 1.0 } else { 0.0 };
    }
    let (n, k) = (count as f64, most as f64);
    let ways = lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0);
    let mut term = exp(ways + k * log(share) + (n - k) * log1p(-share));
    let (mut total, mut successes) = (term, most);
    while successes > 0 && term > total * NEGLIGIBLE {
        term *= successes as f64 / (count - successes + 1) as f64 * ((1.0 - share) / share);
        total += term;
        successes -= 1;
    }
    total.min(1.0)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    /// Returns every probability of a binomial distribution, by Pascal's rule, without logarithms or an early end.
    fn enumerated(count: u64, share: f64) -> Vec<f64> {
        let mut chances = std::vec![1.0];
        for _ in 0..count {
            let mut next = std::vec![0.0; chances.len() + 1];
            for (successes, chance) in chances.iter().enumerate() {
                next[successes] += chance * (1.0 - share);
                next[successes + 1] += chance * share;
            }
            chances = next;
        }
        chances
    }

    #[test]
    fn decisions_equal_exact_enumeration() {
        let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
        let mut draw = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let (mut held, mut failed, mut open) = (0, 0, 0);
        for case in 0..1_000 {
            let (count, ppm) = (draw(900) + 1, [500_000, 900_000, 950_000, 990_000, 999_000][case % 5]);
            let error = [0.025, 0.01, 0.001][case % 3];
            let share = f64::from(1_000_000 - ppm) / 1e6;
            // Chooses a count beyond the limit near the one that the quantile allows, so that all three results occur.
            let beyond = (draw(1 + (4.0 * share * count as f64) as u64)).min(count);
            let chances = enumerated(count, share);
            let beyond_at_most: f64 = chances[..=beyond as usize].iter().sum();
            let beyond_at_least: f64 = chances[beyond as usize..].iter().sum();
            let ranks = quantile_ranks(count, ppm, error);
            let (holds, fails) = (
                ranks.high.is_some_and(|rank| rank <= count - beyond),
                ranks.low.is_some_and(|rank| rank > count - beyond),
            );
            // Nothing is asserted at a probability that differs from the limit only by rounding.
            let is_near = |chance: f64| (chance / error - 1.0).abs() < 1e-9;
            assert!(holds == (beyond_at_most <= error) || is_near(beyond_at_most), "{count} {ppm} {beyond}");
            assert!(
                fails == (beyond_at_least <= error) || is_near(beyond_at_least),
                "{count} {ppm} {beyond}"
            );
            held += u32::from(holds);
            failed += u32::from(fails);
            open += u32::from(!holds && !fails);
        }
        assert!(held > 50 && failed > 50 && open > 50, "{held} {failed} {open}");
    }

    #[test]
    fn all_samples_below_a_limit_decide_from_their_power_on() {
        // 0.99^367 > 2.5 % ≥ 0.99^368.
        assert_eq!(quantile_ranks(367, 990_000, 0.025).high, None);
        assert_eq!(quantile_ranks(368, 990_000, 0.025).high, Some(368));
        assert_eq!(samples_to_decide(50, 0, 990_000, 0.025), Some(368));
        assert_eq!(samples_to_decide(0, 0, 990_000, 0.025), Some(368));
        assert_eq!(samples_to_decide(500, 0, 990_000, 0.025), Some(500));
    }

    #[test]
    fn share_at_the_quantile_is_never_decided() {
        assert_eq!(samples_to_decide(1_000, 10, 990_000, 0.025), None);
        let near = samples_to_decide(1_000, 9, 990_000, 0.025).unwrap();
        assert!((30_000..50_000).contains(&near), "{near}");
        let failing = samples_to_decide(100, 2, 990_000, 0.025).unwrap();
        assert!((300..900).contains(&failing), "{failing}");
    }

    #[test]
    fn ranks_of_many_samples_are_near_the_quantile() {
        let ranks = quantile_ranks(100_000_000, 990_000, 0.025);
        let (low, high) = (ranks.low.unwrap(), ranks.high.unwrap());
        // 1.96 standard deviations of 995.
        assert!(
            (98_998_040..98_998_060).contains(&low) && (99_001_940..99_001_960).contains(&high),
            "{low} {high}"
        );
        assert_eq!(quantile_ranks(0, 990_000, 0.025), QuantileRanks { low: None, high: None });
        let of_maximum = quantile_ranks(1_000, 1_000_000, 0.025);
        assert_eq!((of_maximum.low, of_maximum.high), (Some(1_000), None));
        assert_eq!(quantile_ranks(5, 0, 0.025).high, Some(1));
    }
}
