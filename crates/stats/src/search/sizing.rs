//! Sizing stage: doubles closed users until throughput stops growing, which measures the highest throughput of the system.

use alloc::vec::Vec;

/// Maximum number of users. A system with external waits gains throughput with ever more users.
const USERS_MAX: u32 = 1024;
/// Minimum number of sizes, even if throughput no longer grows, for the scalability fit (see [`crate::usl`]).
const SIZES_MIN: usize = 6;
/// Smallest throughput factor that counts as a gain when users are doubled.
const GAIN_MIN_FACTOR: f64 = 1.1;

/// Throughput by number of users so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Sizing {
    got: Vec<TriedSize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct TriedSize {
    users: u32,
    per_s: f64,
    mean_response_s: f64,
}

impl Sizing {
    /// Returns the number of users to try next. `None` if throughput no longer grows.
    pub(super) fn next(&self) -> Option<u32> {
        let Some(last) = self.got.last() else { return Some(1) };
        let gains =
            self.got.iter().rev().nth(1).is_none_or(|before| last.per_s >= before.per_s * GAIN_MIN_FACTOR);
        let goes_on = gains || self.got.len() < SIZES_MIN;
        (goes_on && last.users < USERS_MAX).then_some(last.users * 2)
    }

    /// Keeps a valid result. Returns false if the result is not valid.
    pub(super) fn note(&mut self, users: u32, per_s: f64, mean_response_s: f64) -> bool {
        let is_figure = per_s.is_finite() && per_s > 0.0 && mean_response_s.is_finite();
        if is_figure {
            self.got.push(TriedSize { users, per_s, mean_response_s });
        }
        is_figure
    }

    /// Returns the entry with the highest throughput; with the fewest users among equal ones.
    fn best(&self) -> Option<&TriedSize> {
        self.got.iter().reduce(|best, next| if next.per_s > best.per_s { next } else { best })
    }

    pub(super) fn ceiling_per_s(&self) -> Option<f64> {
        self.best().map(|got| got.per_s)
    }

    pub(super) fn ceiling_users(&self) -> Option<u32> {
        self.best().map(|got| got.users)
    }

    pub(super) fn base_response_s(&self) -> Option<f64> {
        self.got.first().filter(|got| got.users == 1).map(|got| got.mean_response_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sized(per_s: impl Fn(u32) -> f64) -> Sizing {
        let mut sizing = Sizing::default();
        while let Some(users) = sizing.next() {
            assert!(sizing.note(users, per_s(users), f64::from(users) / per_s(users)));
        }
        sizing
    }

    #[test]
    fn doubling_users_finds_the_workers() {
        let sizing = sized(|users| 100.0 * f64::from(users.min(64)));
        assert_eq!(
            (sizing.ceiling_per_s(), sizing.got.last().map(|got| got.users)),
            (Some(6_400.0), Some(128))
        );
        assert_eq!(sizing.base_response_s(), Some(0.01));
    }

    #[test]
    fn ever_growing_throughput_stops_at_the_maximum_users() {
        let sizing = sized(f64::from);
        assert_eq!((sizing.ceiling_users(), sizing.got.len()), (Some(1024), 11));
    }

    #[test]
    fn peak_counts_even_if_more_users_get_less() {
        let sizing = sized(|users| 500.0 / f64::from(users));
        assert_eq!((sizing.ceiling_per_s(), sizing.ceiling_users()), (Some(500.0), Some(1)));
        assert_eq!(sizing.got.len(), 6);
    }

    #[test]
    fn invalid_results_are_rejected() {
        let mut sizing = Sizing::default();
        for bad in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
            assert!(!sizing.note(1, bad, 0.01));
        }
        assert!(!sizing.note(1, 5.0, f64::NAN));
        assert_eq!((sizing.next(), sizing.ceiling_per_s()), (Some(1), None));
    }
}
