//! Numbers that are Zipf-distributed from the largest downward, over a range that may grow.

use super::zipf::Zipf;
use crate::chance::Chance;

/// Range whose largest numbers are the most frequent.
#[derive(Clone, Debug)]
pub(super) struct Latest {
    max: i64,
    /// Ranks of the range and of the numbers that continue it, counted from 0.
    ranks: Zipf,
    /// Count of numbers beyond the initial range for which `ranks` was built.
    grown: u64,
    /// Size of the initial range, minus one.
    last: i64,
    exponent: f64,
    /// Index of the source whose sequence continues the range.
    pub(super) grows_with: Option<usize>,
}

impl Latest {
    pub(super) fn new(min: i64, max: i64, exponent: f64, grows_with: Option<usize>) -> Self {
        let last = max.saturating_sub(min).max(0);
        Self { max: max.max(min), ranks: Zipf::new(0, last, exponent), grown: 0, last, exponent, grows_with }
    }

    /// Draws a number. `grown` numbers continue the range, and `nth` returns each of them, counted from 0.
    pub(super) fn draw(&mut self, chance: &mut Chance, grown: u64, nth: impl FnOnce(u64) -> i64) -> i64 {
        if grown != self.grown {
            self.grown = grown;
            self.ranks = Zipf::new(0, self.last.saturating_add_unsigned(grown), self.exponent);
        }
        let rank = self.ranks.draw(chance);
        match grown.checked_sub(rank.unsigned_abs() + 1) {
            Some(place) => nth(place),
            None => self.max.wrapping_sub(rank.wrapping_sub(grown as i64)),
        }
    }
}
