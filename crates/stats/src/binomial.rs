//! Exact tails of the binomial distribution, to test whether items were assigned to places uniformly at random.

use libm::{exp, lgamma, log, log1p};

/// Share of the sum below which further terms are ignored.
const NEGLIGIBLE: f64 = 1e-17;

/// Returns an upper bound of the probability that random assignment of `count` items to `places` leaves a place with `most` or more, or
/// with `fewest` or fewer, whichever is less likely. All places are equally likely. 1 if there is only one place or no item.
pub fn spread_probability(count: u64, places: u64, fewest: u64, most: u64) -> f64 {
    if places < 2 || count == 0 {
        return 1.0;
    }
    let share = 1.0 / places as f64;
    // Any of the places may be the extreme one (Bonferroni correction).
    let of_any = |of_one: f64| (places as f64 * of_one).min(1.0);
    of_any(at_least(count, share, most)).min(of_any(at_most(count, share, fewest)))
}

/// Returns the largest count of a place that is not unusual if `count` items are assigned to `places` uniformly at random. Larger counts
/// occur in any place with a probability of at most `error_rate` (Bonferroni correction). `None` if there is only one place or no item.
pub fn largest_count_by_chance(count: u64, places: u64, error_rate: f64) -> Option<u64> {
    if places < 2 || count == 0 {
        return None;
    }
    let share = 1.0 / places as f64;
    let is_unusual = |most: u64| places as f64 * at_least(count, share, most) <= error_rate;
    // Bisects between the mean, which is not unusual, and a count that cannot occur.
    let (mut usual, mut unusual) = (count / places, count + 1);
    while unusual - usual > 1 {
        let middle = usual + (unusual - usual) / 2;
        if is_unusual(middle) { unusual = middle } else { usual = middle }
    }
    Some(usual)
}

/// Returns the probability of `least` or more successes.
fn at_least(count: u64, share: f64, least: u64) -> f64 {
    sum(least..=count, |successes| probability(count, share, successes))
}

/// Returns the probability of `most` or fewer successes.
fn at_most(count: u64, share: f64, most: u64) -> f64 {
    sum((0..=most.min(count)).rev(), |successes| probability(count, share, successes))
}

/// Sums terms that fall toward the end, until they are negligible.
fn sum(successes: impl Iterator<Item = u64>, term: impl Fn(u64) -> f64) -> f64 {
    let (mut total, mut before) = (0.0_f64, 0.0_f64);
    for successes in successes {
        let term = term(successes);
        total += term;
        if term < before && term < total * NEGLIGIBLE {
            break;
        }
        before = term;
    }
    total.min(1.0)
}

fn probability(count: u64, share: f64, successes: u64) -> f64 {
    let (count, successes) = (count as f64, successes as f64);
    let ways = lgamma(count + 1.0) - lgamma(successes + 1.0) - lgamma(count - successes + 1.0);
    exp(ways + successes * log(share) + (count - successes) * log1p(-share))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-9 * expected.max(1e-30), "{found}, not {expected}");
    }

    #[test]
    fn tails_are_those_of_tables() {
        assert_near(at_least(10, 0.5, 8), 56.0 / 1024.0);
        assert_near(at_most(10, 0.5, 2), 56.0 / 1024.0);
        assert_near(at_least(3, 0.25, 3), 1.0 / 64.0);
        assert_near(at_least(20, 0.5, 0), 1.0);
        assert_near(at_most(20, 0.5, 20), 1.0);
    }

    #[test]
    fn all_in_one_place_is_as_unlikely_as_its_powers() {
        assert_near(spread_probability(32, 2, 0, 32), libm::pow(2.0, -31.0));
        assert_near(spread_probability(16, 8, 0, 16), 8.0 * libm::pow(8.0, -16.0));
    }

    #[test]
    fn largest_count_by_chance_is_that_of_tables() {
        // P(X >= 9) is 11/1024 for ten fair coins, and P(X >= 8) 56/1024.
        assert_eq!(largest_count_by_chance(10, 2, 0.05), Some(8));
        assert_eq!(largest_count_by_chance(10, 2, 0.12), Some(7));
        assert_eq!(largest_count_by_chance(2, 2, 0.05), Some(2), "nothing is unusual");
        assert_eq!(largest_count_by_chance(1_000_000, 1, 0.05), None);
        assert_eq!(largest_count_by_chance(0, 3, 0.05), None);
        // 333,333 + 2.4 standard deviations of 471.
        let most = largest_count_by_chance(1_000_000, 3, 0.05).expect("a choice");
        assert!((334_300..334_600).contains(&most), "{most}");
    }

    #[test]
    fn even_spread_and_no_choice_are_certain() {
        assert!(spread_probability(10_000, 4, 2_500, 2_500) > 0.9);
        assert_near(spread_probability(7, 1, 7, 7), 1.0);
        assert_near(spread_probability(0, 4, 0, 0), 1.0);
        // Each of 50 processes serves one connection, and one more process waits.
        assert!(spread_probability(50, 51, 0, 1) > 0.9);
    }
}
