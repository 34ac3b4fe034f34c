//! Part of a whole load that one generator or one of its workers runs.

/// Part `index` of `of` equal parts. Each worker computes its own part, without a coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Index of the part, from 0.
    pub index: u32,
    /// Number of parts; at least 1.
    pub of: u32,
}

impl Share {
    /// Whole load as a single part.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// Returns the part `index` of `of` equal parts of this part. If all parts are divided alike, the results are parts of one whole.
    pub fn part(self, index: u32, of: u32) -> Self {
        Self { index: self.index * of + index, of: self.of * of }
    }

    /// Returns the number of items out of `total` in this part. Parts differ by at most one and add up to the total.
    pub fn of_total(self, total: u64) -> u64 {
        self.before(total, self.index + 1) - self.before(total, self.index)
    }

    /// Returns the number of items out of `total` in this part if they are dealt out in turn.
    pub fn round_robin_count(self, total: u64) -> u64 {
        (total + u64::from(self.of - 1 - self.index)) / u64::from(self.of)
    }

    /// Returns the index of the first item of this part if the parts are contiguous.
    pub fn first_of(self, total: u64) -> u64 {
        self.before(total, self.index)
    }

    fn before(self, total: u64, parts: u32) -> u64 {
        (u128::from(total) * u128::from(parts) / u128::from(self.of)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_add_up_and_differ_by_at_most_one(total in any::<u64>(), of in 1u32..200) {
            let parts = || (0..of).map(|index| Share { index, of });
            let sum: u128 = parts().map(|part| u128::from(part.of_total(total))).sum();
            prop_assert_eq!(sum, u128::from(total));
            let total = total >> 16;
            prop_assert_eq!(parts().map(|part| part.round_robin_count(total)).sum::<u64>(), total);
            prop_assert!(parts().all(|part| part.of_total(total).abs_diff(total / u64::from(of)) <= 1));
        }

        #[test]
        fn subparts_add_up_to_their_part(total: u64, of in 1u32..20, workers in 1u32..20) {
            for part in (0..of).map(|index| Share { index, of }) {
                let parts = || (0..workers).map(|index| part.part(index, workers));
                let sum: u64 = parts().map(|part| part.of_total(total)).sum();
                prop_assert_eq!(sum, part.of_total(total));
                prop_assert_eq!(parts().next().map(|first| first.first_of(total)), Some(part.first_of(total)));
            }
            prop_assert_eq!(Share::WHOLE.part(workers - 1, workers), Share { index: workers - 1, of: workers });
        }
    }
}
