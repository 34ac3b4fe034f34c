//! Sizes of replies, in classes at most 3.2 % wide, each with its exact sum.

use alloc::collections::BTreeMap;

use crate::responses::class;

/// Sizes by class. Only used classes take memory, and repeated sizes are counted without a look-up.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    /// Count and sum of each class.
    classes: BTreeMap<u16, (u64, u64)>,
    /// Latest size, and its number of consecutive occurrences, which `classes` does not include yet.
    latest: (u64, u64),
}

impl Sizes {
    /// Counts one size.
    #[inline]
    pub fn record(&mut self, size: u64) {
        if self.latest.0 != size {
            self.flush(size);
        }
        self.latest.1 += 1;
    }

    /// Moves the latest size to its class, and starts with another one.
    #[inline(never)]
    fn flush(&mut self, next: u64) {
        let (size, count) = core::mem::replace(&mut self.latest, (next, 0));
        self.add(class(size), count, size.saturating_mul(count));
    }

    fn add(&mut self, class: u16, count: u64, sum: u64) {
        if count > 0 {
            let (counted, summed) = self.classes.entry(class).or_default();
            *counted = counted.saturating_add(count);
            *summed = summed.saturating_add(sum);
        }
    }

    /// Adds the sizes of another worker.
    pub fn merge(&mut self, more: &Self) {
        for (class, (count, sum)) in &more.classes {
            self.add(*class, *count, *sum);
        }
        let (size, count) = more.latest;
        self.add(class(size), count, size.saturating_mul(count));
    }

    /// Returns the count and sum of each class, in ascending order of sizes.
    pub fn classes(mut self) -> impl ExactSizeIterator<Item = (u64, u64)> {
        self.flush(0);
        self.classes.into_values()
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn classes_have_exact_sums_in_ascending_order() {
        let mut sizes = Sizes::default();
        [135_000, 2, 135_000, 135_000, 0].into_iter().for_each(|size| sizes.record(size));
        let mut other = Sizes::default();
        other.record(2);
        sizes.merge(&other);
        assert_eq!(sizes.classes().collect::<Vec<_>>(), [(1, 0), (2, 4), (3, 405_000)]);
        assert_eq!(Sizes::default().classes().len(), 0);
    }
}
