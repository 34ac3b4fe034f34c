//! Reduces seconds to fewer points, and keeps every peak and every gap.

use record::{Histogram, Percentile};
use serde::{Serialize, Serializer};

use super::pack;
use super::rounded::Rounded;

/// Figure of each bin. If a bin is longer than a second, `low` and `high` are the extremes of its seconds. They are omitted if they equal
/// `mid`. In JSON, points are [packed](pack).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Points {
    pub(crate) mid: Vec<Rounded>,
    pub(crate) low: Option<Vec<Rounded>>,
    pub(crate) high: Option<Vec<Rounded>>,
}

/// Division of a run into bins of equal length. The first bin begins at second 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bins {
    /// Length of a bin in seconds. The last one may extend beyond the end of the run.
    pub(crate) bin_s: u64,
    pub(crate) count: usize,
}

impl Bins {
    /// Chooses the shortest bins of whole seconds that divide `seconds` into at most `points_max` points.
    pub(crate) fn fitting(seconds: u64, points_max: usize) -> Self {
        let bin_s = seconds.div_ceil(points_max.max(1) as u64).max(1);
        Self { bin_s, count: seconds.div_ceil(bin_s) as usize }
    }

    pub(crate) fn place(&self, second: u64) -> usize {
        (second / self.bin_s) as usize
    }

    /// Number of seconds of a bin that lie before `end`.
    fn seconds_before(&self, end: u64, place: usize) -> u64 {
        end.saturating_sub(place as u64 * self.bin_s).min(self.bin_s)
    }
}

/// Rate or level over time, collected second by second.
#[derive(Clone, Debug)]
pub(crate) struct Means {
    bins: Bins,
    all: Vec<Mean>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    amount: f64,
    over_s: f64,
    seconds: u64,
    low: f64,
    high: f64,
}

impl Means {
    pub(crate) fn new(bins: Bins) -> Self {
        Self { bins, all: vec![Mean::default(); bins.count] }
    }

    /// Adds one second, in which `amount` was counted over `over_s` seconds. A level is an amount over 1 s.
    pub(crate) fn add(&mut self, second: u64, amount: f64, over_s: f64) {
        let rate = amount / over_s;
        let Some(mean) = self.all.get_mut(self.bins.place(second)).filter(|_| rate.is_finite()) else {
            return;
        };
        mean.amount += amount;
        mean.over_s += over_s;
        mean.extend_range(rate);
        mean.seconds += 1;
    }

    /// Sets every second before `end` that was not added to zero.
    pub(crate) fn fill_zeros_before(&mut self, end: u64) {
        for (place, mean) in self.all.iter_mut().enumerate() {
            let silent = self.bins.seconds_before(end, place).saturating_sub(mean.seconds);
            if silent > 0 {
                mean.over_s += silent as f64;
                mean.extend_range(0.0);
                mean.seconds += silent;
            }
        }
    }

    /// Total amount ÷ total time of each bin. No figure for bins without a second.
    pub(crate) fn points(&self) -> Points {
        let column = |of: fn(&Mean) -> f64| {
            let cell = |mean: &Mean| if mean.seconds > 0 { Rounded::of(of(mean)) } else { Rounded::NONE };
            self.all.iter().map(cell).collect()
        };
        let mid = column(|mean| mean.amount / mean.over_s);
        Points::of(mid, column(|mean| mean.low), column(|mean| mean.high))
    }
}

impl Mean {
    fn extend_range(&mut self, rate: f64) {
        let is_first = self.seconds == 0;
        self.low = if is_first { rate } else { self.low.min(rate) };
        self.high = if is_first { rate } else { self.high.max(rate) };
    }
}

/// Percentiles of durations over time in milliseconds, collected second by second. Each bin has one histogram, so no percentile is
/// ever averaged.
pub(crate) struct Times {
    bins: Bins,
    /// The second that is being collected.
    second: Option<u64>,
    of_second: Histogram,
    of_bin: Histogram,
    percentiles: [(Percentile, SecondRanges); 2],
    max: Vec<Rounded>,
}

/// Percentile of each bin, and its minimum and maximum over the seconds of the bin.
struct SecondRanges {
    mid: Vec<Rounded>,
    low: Vec<Option<u64>>,
    high: Vec<Option<u64>>,
}

impl Times {
    /// Collects the median and the percentile `upper`.
    pub(crate) fn new(bins: Bins, upper: Percentile) -> Self {
        let extremes = || SecondRanges {
            mid: vec![Rounded::NONE; bins.count],
            low: vec![None; bins.count],
            high: vec![None; bins.count],
        };
        Self {
            bins,
            second: None,
            of_second: Histogram::new(),
            of_bin: Histogram::new(),
            percentiles: [(Percentile::P50, extremes()), (upper, extremes())],
            max: vec![Rounded::NONE; bins.count],
        }
    }

    /// Histograms of a second and of its bin. Durations must be added to both, because unpacking twice is faster than merging.
    /// Seconds must come in order.
    pub(crate) fn at(&mut self, second: u64) -> [&mut Histogram; 2] {
        if self.second != Some(second) {
            self.end_second(Some(second));
        }
        [&mut self.of_second, &mut self.of_bin]
    }

    /// Median, `upper`, and maximum. A percentile needs enough samples in its bin; `low` and `high` use the seconds with enough
    /// samples. The maximum has no `low` and `high`.
    pub(crate) fn points(mut self) -> [Points; 3] {
        self.end_second(None);
        let [median, upper] = self.percentiles.map(|(_, SecondRanges { mid, low, high })| {
            let column = |all: Vec<Option<u64>>| all.into_iter().map(milliseconds).collect();
            Points::of(mid, column(low), column(high))
        });
        [median, upper, Points { mid: self.max, low: None, high: None }]
    }

    /// Ends the second. Ends the bin, too, if `next` is in another one.
    fn end_second(&mut self, next: Option<u64>) {
        let Some(place) = self.second.map(|second| self.bins.place(second)) else {
            self.second = next;
            return;
        };
        let goes_on = next.map(|next| self.bins.place(next)) == Some(place);
        for (percentile, extremes) in &mut self.percentiles {
            extremes.extend_range(place, self.of_second.printable_at(*percentile));
        }
        self.of_second.clear();
        if !goes_on {
            for (percentile, extremes) in &mut self.percentiles {
                extremes.set(place, milliseconds(self.of_bin.printable_at(*percentile)));
            }
            if let Some(max) = self.max.get_mut(place) {
                *max = milliseconds(self.of_bin.max_ns());
            }
            self.of_bin.clear();
        }
        self.second = next;
    }
}

impl SecondRanges {
    fn extend_range(&mut self, place: usize, value_ns: Option<u64>) {
        let Some(value_ns) = value_ns else { return };
        if let (Some(low), Some(high)) = (self.low.get_mut(place), self.high.get_mut(place)) {
            *low = Some(low.map_or(value_ns, |low| low.min(value_ns)));
            *high = Some(high.map_or(value_ns, |high| high.max(value_ns)));
        }
    }

    fn set(&mut self, place: usize, value: Rounded) {
        if let Some(mid) = self.mid.get_mut(place) {
            *mid = value;
        }
    }
}

impl Points {
    fn of(mid: Vec<Rounded>, low: Vec<Rounded>, high: Vec<Rounded>) -> Self {
        let is_informative =
            |extreme: &Vec<Rounded>| *extreme != mid && extreme.iter().any(|one| one.get().is_some());
        let drop_equal_to_mid = |extreme: Vec<Rounded>| Some(extreme).filter(is_informative);
        let (low, high) = (drop_equal_to_mid(low), drop_equal_to_mid(high));
        Self { mid, low, high }
    }

    /// Rounds to at most `decimals` decimals.
    pub(crate) fn to_decimals(&self, decimals: u8) -> Self {
        let column = |column: &Vec<Rounded>| -> Vec<Rounded> {
            column.iter().map(|figure| figure.to_decimals(decimals)).collect()
        };
        let [low, high] =
            [&self.low, &self.high].map(|extreme| extreme.as_ref().map(column).unwrap_or_default());
        Self::of(column(&self.mid), low, high)
    }

    /// Whether there are no figures.
    pub(crate) fn is_empty(&self) -> bool {
        self.figures().next().is_none()
    }

    /// Whether every figure is zero.
    pub(crate) fn is_zero(&self) -> bool {
        self.figures().all(|figure| figure == 0.0)
    }

    /// All figures, extremes included.
    pub(crate) fn figures(&self) -> impl Iterator<Item = f64> {
        let columns = [Some(&self.mid), self.low.as_ref(), self.high.as_ref()];
        columns.into_iter().flatten().flatten().filter_map(|figure| figure.get())
    }
}

impl Serialize for Points {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&pack::packed(self))
    }
}

fn milliseconds(value_ns: Option<u64>) -> Rounded {
    value_ns.map(|value_ns| value_ns as f64 / 1e6).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    use proptest::prelude::*;

    fn figures(column: &[Rounded]) -> Vec<Option<f64>> {
        column.iter().map(|figure| figure.get()).collect()
    }

    /// Minimum and maximum of all figures.
    fn extend_range(points: &Points) -> Option<(f64, f64)> {
        let least = points.figures().reduce(f64::min)?;
        Some((least, points.figures().reduce(f64::max)?))
    }

    fn rounded(figure: f64) -> f64 {
        Rounded::of(figure).get().unwrap()
    }

    #[test]
    fn bins_are_as_short_as_point_limit_allows() {
        let cases = [
            (0, 100, 1, 0),
            (1, 100, 1, 1),
            (100, 100, 1, 100),
            (101, 100, 2, 51),
            (86_400, 800, 108, 800),
            (5, 0, 5, 1),
        ];
        for (seconds, points_max, bin_s, count) in cases {
            assert_eq!(Bins::fitting(seconds, points_max), Bins { bin_s, count }, "{seconds} {points_max}");
        }
        let endless = Bins::fitting(u64::MAX, 100);
        assert!(endless.count <= 100);
        assert_eq!(endless.place(u64::MAX), 99);
    }

    #[test]
    fn rate_of_bin_is_total_by_time_with_extremes() {
        let mut means = Means::new(Bins::fitting(6, 3));
        means.add(0, 10.0, 1.0);
        means.add(1, 30.0, 1.0);
        means.add(4, 9.0, 0.5);
        means.add(5, 9.0, 1.0);
        let points = means.points();
        assert_eq!(figures(&points.mid), [Some(20.0), None, Some(12.0)]);
        assert_eq!(figures(&points.low.unwrap()), [Some(10.0), None, Some(9.0)]);
        assert_eq!(figures(&points.high.unwrap()), [Some(30.0), None, Some(18.0)]);
    }

    #[test]
    fn missing_seconds_are_zero_until_end_of_silence() {
        let mut means = Means::new(Bins::fitting(8, 4));
        means.add(0, 10.0, 1.0);
        means.add(1, 10.0, 1.0);
        means.add(4, 8.0, 1.0);
        means.fill_zeros_before(7);
        let points = means.points();
        assert_eq!(figures(&points.mid), [Some(10.0), Some(0.0), Some(4.0), Some(0.0)]);
        assert_eq!(figures(&points.low.unwrap()), [Some(10.0), Some(0.0), Some(0.0), Some(0.0)]);
        means.fill_zeros_before(u64::MAX);
        assert_eq!(figures(&means.points().mid), [Some(10.0), Some(0.0), Some(4.0), Some(0.0)]);
    }

    #[test]
    fn ignores_second_of_zero_length() {
        let mut means = Means::new(Bins::fitting(1, 1));
        means.add(0, 1.0, 0.0);
        means.add(7, 1.0, 1.0);
        assert!(means.points().is_empty());
    }

    #[test]
    fn bins_of_one_second_have_no_extremes() {
        let mut means = Means::new(Bins::fitting(2, 2));
        means.add(0, 1.0, 1.0);
        means.add(1, 2.0, 1.0);
        let points = means.points();
        assert_eq!((points.low, points.high), (None, None));
    }

    #[test]
    fn percentile_of_bin_uses_all_samples() {
        let mut times = Times::new(Bins::fitting(4, 2), Percentile::P99);
        let mut add = |second: u64, ms: u64, count: u64| {
            times.at(second).into_iter().for_each(|durations| durations.record_many(ms * 1_000_000, count));
        };
        // The mean of the medians would be 2 ms.
        add(0, 1, 990);
        add(0, 3, 1);
        add(1, 3, 30);
        add(3, 9, 19);
        let [median, p99, max] = times.points();
        assert_eq!(figures(&median.mid), [Some(1.0), None]);
        assert_eq!(median.low, None, "as the mid");
        assert_eq!(figures(&median.high.unwrap()), [Some(3.0), None]);
        assert_eq!(figures(&p99.mid), [Some(3.0), None]);
        assert_eq!((p99.low, p99.high), (None, None), "no second has a thousand samples");
        assert_eq!(figures(&max.mid), [Some(3.0), Some(9.0)]);
    }

    proptest! {
        #[test]
        fn keeps_every_peak_and_gap_of_rates(
            amounts in prop::collection::vec(prop::option::of(0f64..1e6), 1..200),
            points_max in 1usize..50,
        ) {
            let bins = Bins::fitting(amounts.len() as u64, points_max);
            let mut means = Means::new(bins);
            for (second, amount) in (0..).zip(&amounts) {
                amount.iter().for_each(|amount| means.add(second, *amount, 1.0));
            }
            let points = means.points();
            prop_assert!(points.mid.len() <= points_max);
            let all = || amounts.iter().flatten().copied();
            let expected = all().reduce(f64::min).zip(all().reduce(f64::max));
            prop_assert_eq!(extend_range(&points), expected.map(|(least, most)| (rounded(least), rounded(most))));
            // No figures are made up: a bin without seconds has none.
            for (place, chunk) in amounts.chunks(bins.bin_s as usize).enumerate() {
                prop_assert_eq!(points.mid[place].get().is_some(), chunk.iter().any(Option::is_some));
            }
        }

        #[test]
        fn keeps_longest_duration_and_extremes_of_medians(
            seconds in prop::collection::vec(prop::collection::vec(1u64..1_000_000_000, 0..60), 1..40),
            points_max in 1usize..20,
        ) {
            let mut times = Times::new(Bins::fitting(seconds.len() as u64, points_max), Percentile::P99);
            let mut medians = Vec::new();
            for (second, values_ns) in (0..).zip(&seconds) {
                let mut durations = Histogram::new();
                values_ns.iter().for_each(|value_ns| durations.record(*value_ns));
                times.at(second).into_iter().for_each(|all| all.merge(&durations));
                medians.extend(durations.printable_at(Percentile::P50));
            }
            let [median, _, max] = times.points();
            let longest = seconds.iter().flatten().max().map(|longest_ns| rounded(*longest_ns as f64 / 1e6));
            prop_assert_eq!(max.figures().reduce(f64::max), longest);
            // A bin may have enough samples even if none of its seconds does.
            prop_assume!(!medians.is_empty());
            let (least, most) = (medians.iter().min(), medians.iter().max());
            let ms = |value_ns: Option<&u64>| value_ns.map(|value_ns| rounded(*value_ns as f64 / 1e6));
            let (low, high) = (median.low.as_ref().unwrap_or(&median.mid), median.high.as_ref().unwrap_or(&median.mid));
            let all = |column: &[Rounded]| column.iter().filter_map(|figure| figure.get()).collect::<Vec<_>>();
            prop_assert_eq!(all(low).into_iter().reduce(f64::min), ms(least));
            prop_assert_eq!(all(high).into_iter().reduce(f64::max), ms(most));
        }
    }
}
