//! Percentiles as exact fractions, and the number of samples they need.

/// Percentile in parts per million, so that ranks are computed without rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percentile(u32);

/// Percentiles that are reported for every kind of duration, in order. Every format derives its own from this list.
pub const PRINTED: &[Percentile] = &[
    Percentile::P50,
    Percentile::P90,
    Percentile::P95,
    Percentile::P99,
    Percentile::P99_9,
    Percentile::P99_99,
];

impl Percentile {
    /// 50 %: the median.
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

    /// 100 %: the maximum.
    pub const MAX: Self = Self(1_000_000);

    /// Creates a percentile from parts per million. `None` above 1,000,000.
    pub const fn from_ppm(ppm: u32) -> Option<Self> {
        if ppm <= 1_000_000 { Some(Self(ppm)) } else { None }
    }

    /// Returns the percentile in parts per million.
    pub const fn ppm(self) -> u32 {
        self.0
    }

    /// Returns the nearest rank among `count` sorted samples, counted from 1. `None` without samples.
    pub fn rank(self, count: u64) -> Option<u64> {
        let rank = (u128::from(count) * u128::from(self.0)).div_ceil(1_000_000);
        (count > 0).then_some(rank.max(1) as u64)
    }

    /// Returns the number of samples needed to print this percentile. `None` for the maximum, which is never printed as a percentile.
    pub fn samples_to_print(self) -> Option<u64> {
        let above = u64::from(1_000_000 - self.0);
        (above > 0).then(|| 10_000_000_u64.div_ceil(above))
    }

    /// Returns whether `count` samples suffice to print this percentile: n·(1−p) ≥ 10.
    pub fn is_printable(self, count: u64) -> bool {
        self.samples_above_ppm(count) >= 10_000_000
    }

    /// Returns whether `count` samples suffice for a verdict on this percentile: n·(1−p) ≥ 100.
    pub fn is_judgeable(self, count: u64) -> bool {
        self.samples_above_ppm(count) >= 100_000_000
    }

    /// Returns the number of samples needed for a verdict on this percentile. `None` for the maximum, for which no number suffices.
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
    fn ranks_are_exact_where_floating_point_fails() {
        assert_eq!(Percentile::P99.rank(100), Some(99));
        assert_eq!(Percentile::P99_9.rank(1_000), Some(999));
        assert_eq!(Percentile::P50.rank(1), Some(1));
        assert_eq!(Percentile::from_ppm(0).unwrap().rank(7), Some(1));
        assert_eq!(Percentile::P50.rank(0), None);
        assert_eq!(Percentile::P99_99.rank(u64::MAX), Some(18_444_899_399_302_180_660));
    }

    #[test]
    fn printing_needs_ten_samples_above_and_judging_a_hundred() {
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
