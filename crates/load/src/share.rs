//! Which part of the whole one generator does, and one worker of it.

/// Part `index` of `of` equal parts. Each worker computes its own part; nobody hands out work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// From 0.
    pub index: u32,
    /// At least 1.
    pub of: u32,
}

impl Share {
    /// The only part.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// Part `index` of `of` equal parts of this part. Parts are divided alike: then all of them are parts of one whole.
    pub fn part(self, index: u32, of: u32) -> Self {
        Self { index: self.index * of + index, of: self.of * of }
    }

    /// How many of `total` things fall to this part; the parts differ by at most one and add up to the total.
    pub fn of_total(self, total: u64) -> u64 {
        self.before(total, self.index + 1) - self.before(total, self.index)
    }

    /// How many of `total` things fall to this part when they are dealt out in turn.
    pub fn dealt(self, total: u64) -> u64 {
        (total + u64::from(self.of - 1 - self.index)) / u64::from(self.of)
    }

    /// The number of the first thing of this part, when the parts are laid one after the other.
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
        fn parts_add_up_and_are_even(total in any::<u64>(), of in 1u32..200) {
            let parts = || (0..of).map(|index| Share { index, of });
            let sum: u128 = parts().map(|part| u128::from(part.of_total(total))).sum();
            prop_assert_eq!(sum, u128::from(total));
            let total = total >> 16;
            prop_assert_eq!(parts().map(|part| part.dealt(total)).sum::<u64>(), total);
            prop_assert!(parts().all(|part| part.of_total(total).abs_diff(total / u64::from(of)) <= 1));
        }

        #[test]
        fn what_falls_to_a_part_falls_to_its_parts(total: u64, of in 1u32..20, workers in 1u32..20) {
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
