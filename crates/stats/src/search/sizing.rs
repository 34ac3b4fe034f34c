//! Users without pauses, doubled until they get no more: how much a system serves at all.

use alloc::vec::Vec;

/// More users than this are not tried: who waits for something else than the system gets more with ever more users.
const USERS_MAX: u32 = 1024;
/// So many sizes are tried also of a system that gets no more: they tell how it scales (see [`crate::usl`]).
const SIZES_MIN: usize = 6;
/// Twice the users that get less than this more are no gain.
const GAIN: f64 = 1.1;

/// What users got so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Sizing {
    got: Vec<Got>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Got {
    users: u32,
    per_s: f64,
    mean_response_s: f64,
}

impl Sizing {
    /// How many users to try next; `None`: they get no more.
    pub(super) fn next(&self) -> Option<u32> {
        let Some(last) = self.got.last() else { return Some(1) };
        let gains = self.got.iter().rev().nth(1).is_none_or(|before| last.per_s >= before.per_s * GAIN);
        let goes_on = gains || self.got.len() < SIZES_MIN;
        (goes_on && last.users < USERS_MAX).then_some(last.users * 2)
    }

    /// Whether this is something that users can get; if so it is kept.
    pub(super) fn note(&mut self, users: u32, per_s: f64, mean_response_s: f64) -> bool {
        let is_figure = per_s.is_finite() && per_s > 0.0 && mean_response_s.is_finite();
        if is_figure {
            self.got.push(Got { users, per_s, mean_response_s });
        }
        is_figure
    }

    /// The fewest users of those that got the most.
    fn best(&self) -> Option<&Got> {
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
    fn workers_are_found_with_twice_as_many_users() {
        let sizing = sized(|users| 100.0 * f64::from(users.min(64)));
        assert_eq!(
            (sizing.ceiling_per_s(), sizing.got.last().map(|got| got.users)),
            (Some(6_400.0), Some(128))
        );
        assert_eq!(sizing.base_response_s(), Some(0.01));
    }

    #[test]
    fn who_never_gets_enough_is_stopped() {
        let sizing = sized(f64::from);
        assert_eq!((sizing.ceiling_users(), sizing.got.len()), (Some(1024), 11));
    }

    #[test]
    fn the_most_counts_also_if_more_users_get_less() {
        let sizing = sized(|users| 500.0 / f64::from(users));
        assert_eq!((sizing.ceiling_per_s(), sizing.ceiling_users()), (Some(500.0), Some(1)));
        assert_eq!(sizing.got.len(), 6);
    }

    #[test]
    fn nonsense_is_no_size() {
        let mut sizing = Sizing::default();
        for bad in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
            assert!(!sizing.note(1, bad, 0.01));
        }
        assert!(!sizing.note(1, 5.0, f64::NAN));
        assert_eq!((sizing.next(), sizing.ceiling_per_s()), (Some(1), None));
    }
}
