//! Percentiles as exact fractions, and the rule for when one may be printed.

/// A share of the samples in parts per million, so that ranks are computed without rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percentile(u32);

/// The percentiles that are worked out of every kind of duration, in order: every format derives its own from this list.
pub const PRINTED: &[Percentile] = &[
    Percentile::P50,
    Percentile::P90,
    Percentile::P95,
    Percentile::P99,
    Percentile::P99_9,
    Percentile::P99_99,
];

impl Percentile {
    /// The median.
    pub const P50: Self = Self(500_000);
    /// 90 %.
    pub const P90: Self = Self(900_000);
    /// 95 %.
    pub const P95: Self = Self(950_000);
    /// 99 %.
    pub const P99: Self = Self(990_000);
    /// 99.9 %.
    pub const P99_9: Self = Self(999_000);
    /// 99.99 %.
    pub const P99_99: Self = Self(999_900);

    /// A share in parts per million; `None` above the whole.
    pub const fn from_ppm(ppm: u32) -> Option<Self> {
        if ppm <= 1_000_000 { Some(Self(ppm)) } else { None }
    }

    /// The share in parts per million.
    pub const fn ppm(self) -> u32 {
        self.0
    }

    /// The nearest rank among `count` sorted samples, counted from 1; `None` when there are none.
    pub fn rank(self, count: u64) -> Option<u64> {
        let rank = (u128::from(count) * u128::from(self.0)).div_ceil(1_000_000);
        (count > 0).then_some(rank.max(1) as u64)
    }

    /// Number of samples from which on this percentile is printed; `None` for the largest of all, which never is.
    pub fn samples_to_print(self) -> Option<u64> {
        let above = u64::from(1_000_000 - self.0);
        (above > 0).then(|| 10_000_000_u64.div_ceil(above))
    }

    /// Whether so many samples carry this percentile at all: n·(1−p) ≥ 10.
    pub fn is_printable(self, count: u64) -> bool {
        self.samples_above_ppm(count) >= 10_000_000
    }

    /// Whether so many samples carry a verdict on this percentile: n·(1−p) ≥ 100.
    pub fn is_judgeable(self, count: u64) -> bool {
        self.samples_above_ppm(count) >= 100_000_000
    }

    /// How many samples carry a verdict on this percentile; `None` for the largest of all, which none do.
    pub fn samples_to_judge(self) -> Option<u64> {
        let above = u64::from(1_000_000 - self.0);
        (above > 0).then(|| 100_000_000_u64.div_ceil(above))
    }

    fn samples_above_ppm(self, count: u64) -> u128 {
        u128::from(count) * u128::from(1_000_000 - self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_exact_where_floating_point_is_not() {
        assert_eq!(Percentile::P99.rank(100), Some(99));
        assert_eq!(Percentile::P99_9.rank(1_000), Some(999));
        assert_eq!(Percentile::P50.rank(1), Some(1));
        assert_eq!(Percentile::from_ppm(0).unwrap().rank(7), Some(1));
        assert_eq!(Percentile::P50.rank(0), None);
        assert_eq!(Percentile::P99_99.rank(u64::MAX), Some(18_444_899_399_302_180_660));
    }

    #[test]
    fn ten_samples_must_lie_above_to_print_and_a_hundred_to_judge() {
        assert!(!Percentile::P99.is_printable(999));
        assert!(Percentile::P99.is_printable(1_000));
        assert!(!Percentile::P99.is_judgeable(9_999));
        assert!(Percentile::P99.is_judgeable(10_000));
        for percentile in [Percentile::P50, Percentile::P99, Percentile::P99_9] {
            let needed = percentile.samples_to_print().unwrap();
            assert!(percentile.is_printable(needed) && !percentile.is_printable(needed - 1));
            let needed = percentile.samples_to_judge().unwrap();
            assert!(percentile.is_judgeable(needed) && !percentile.is_judgeable(needed - 1));
        }
        assert_eq!(Percentile::from_ppm(1_000_000).unwrap().samples_to_judge(), None);
        assert_eq!(Percentile::from_ppm(1_000_000).unwrap().samples_to_print(), None);
        assert!(!Percentile::from_ppm(1_000_000).unwrap().is_printable(u64::MAX));
    }
}
