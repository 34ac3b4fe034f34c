//! Sequence of numbers, dealt out over the workers without duplicates.

use crate::share::Share;

/// Numbers of one worker: every `share.of`-th of the sequence.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    from: i64,
    by: i64,
    /// Numbers until the sequence repeats. `None` if it does not repeat.
    count: Option<u128>,
    /// Index of the next number in the sequence.
    next: u64,
    step: u32,
}

impl Sequence {
    pub(super) fn new(from: i64, until: Option<i64>, by: i64, share: Share) -> Self {
        let count = until.map(|until| {
            let (distance, by) = (i128::from(until) - i128::from(from), i128::from(by));
            // If the step leads away from the end, only the first number is used.
            if by == 0 || distance.signum() * by.signum() < 0 { 1 } else { (distance / by) as u128 + 1 }
        });
        Self { from, by, count, next: u64::from(share.index), step: share.of }
    }

    /// Continues with the number at `index`, counted from 0.
    pub(super) fn seek(&mut self, index: u64) {
        self.next = index;
    }

    pub(super) fn take(&mut self) -> i64 {
        let number = self.nth(0);
        self.next = self.next.wrapping_add(u64::from(self.step));
        number
    }

    /// Returns the number that this worker takes after `skipped` other numbers.
    pub(super) fn nth(&self, skipped: u64) -> i64 {
        let place = u128::from(self.next.wrapping_add(skipped.wrapping_mul(u64::from(self.step))));
        let place = self.count.map_or(place, |count| place % count);
        // Beyond the largest number, the sequence continues with the smallest.
        self.from.wrapping_add(self.by.wrapping_mul(place as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn first(from: i64, until: Option<i64>, by: i64, count: usize) -> Vec<i64> {
        let mut sequence = Sequence::new(from, until, by, Share::WHOLE);
        (0..count).map(|_| sequence.take()).collect()
    }

    #[test]
    fn sequences_ascend_descend_and_repeat() {
        assert_eq!(first(1, None, 1, 4), [1, 2, 3, 4]);
        assert_eq!(first(1, Some(3), 1, 5), [1, 2, 3, 1, 2]);
        assert_eq!(first(0, Some(9), 4, 4), [0, 4, 8, 0]);
        assert_eq!(first(3, Some(1), -1, 4), [3, 2, 1, 3]);
    }

    #[test]
    fn invalid_sequences_do_not_panic() {
        assert_eq!(first(5, Some(9), 0, 2), [5, 5]);
        assert_eq!(first(5, Some(9), -1, 2), [5, 5]);
        assert_eq!(first(i64::MAX, None, 1, 2), [i64::MAX, i64::MIN]);
        assert_eq!(first(i64::MIN, Some(i64::MAX), 1, 2), [i64::MIN, i64::MIN + 1]);
        assert_eq!(first(0, None, i64::MIN, 3), [0, i64::MIN, 0]);
    }

    #[test]
    fn workers_partition_a_sequence() {
        let mut all: Vec<i64> = (0..3)
            .flat_map(|index| {
                let mut part = Sequence::new(10, None, 5, Share { index, of: 3 });
                (0..4).map(move |_| part.take())
            })
            .collect();
        all.sort_unstable();
        assert_eq!(all, first(10, None, 5, 12));
    }
}
