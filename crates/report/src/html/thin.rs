//! Fewer points than seconds, with every peak and every hole still in them.

use record::{Histogram, Percentile};
use serde::Serialize;

use super::rounded::Rounded;

/// One figure a bin. Where a bin is longer than a second, `low` and `high` are the extremes of its seconds; they are left
/// out where they say nothing more.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Points {
    pub(crate) mid: Vec<Rounded>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) low: Option<Vec<Rounded>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) high: Option<Vec<Rounded>>,
}

/// How the seconds of a run are put together: the first bin begins with second 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bins {
    /// Seconds in each bin; the last one may reach beyond the end.
    pub(crate) bin_s: u64,
    pub(crate) count: usize,
}

impl Bins {
    /// The shortest bins of whole seconds of which no more than `points_max` hold all seconds.
    pub(crate) fn fitting(seconds: u64, points_max: usize) -> Self {
        let bin_s = seconds.div_ceil(points_max.max(1) as u64).max(1);
        Self { bin_s, count: seconds.div_ceil(bin_s) as usize }
    }

    fn place(&self, second: u64) -> usize {
        (second / self.bin_s) as usize
    }

    /// How many of the bin's seconds lie before `end`.
    fn seconds_before(&self, end: u64, place: usize) -> u64 {
        end.saturating_sub(place as u64 * self.bin_s).min(self.bin_s)
    }
}

/// A rate or a level over time, taken in second by second.
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

    /// Takes in one second, in which `amount` came together over `over_s`. A level is an amount over 1 s.
    pub(crate) fn add(&mut self, second: u64, amount: f64, over_s: f64) {
        let rate = amount / over_s;
        let Some(mean) = self.all.get_mut(self.bins.place(second)).filter(|_| rate.is_finite()) else {
            return;
        };
        mean.amount += amount;
        mean.over_s += over_s;
        mean.reach(rate);
        mean.seconds += 1;
    }

    /// Says that in every second before `end` that was not taken in, nothing came together.
    pub(crate) fn silent_before(&mut self, end: u64) {
        for (place, mean) in self.all.iter_mut().enumerate() {
            let silent = self.bins.seconds_before(end, place).saturating_sub(mean.seconds);
            if silent > 0 {
                mean.over_s += silent as f64;
                mean.reach(0.0);
                mean.seconds += silent;
            }
        }
    }

    /// Total by time of each bin; null where no second was taken in.
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
    fn reach(&mut self, rate: f64) {
        let is_first = self.seconds == 0;
        self.low = if is_first { rate } else { self.low.min(rate) };
        self.high = if is_first { rate } else { self.high.max(rate) };
    }
}

/// Percentiles of durations over time, taken in second by second: each bin is one histogram, so that no percentile is ever
/// averaged. Milliseconds.
pub(crate) struct Times {
    bins: Bins,
    /// The second that is being taken in.
    second: Option<u64>,
    of_second: Histogram,
    of_bin: Histogram,
    percentiles: [Extremes; Times::PERCENTILES.len()],
    max: Vec<Rounded>,
}

/// One percentile: of each bin, and the least and the most of its seconds.
struct Extremes {
    mid: Vec<Rounded>,
    low: Vec<Option<u64>>,
    high: Vec<Option<u64>>,
}

impl Times {
    const PERCENTILES: [Percentile; 2] = [Percentile::P50, Percentile::P99];

    pub(crate) fn new(bins: Bins) -> Self {
        let extremes = || Extremes {
            mid: vec![Rounded::NONE; bins.count],
            low: vec![None; bins.count],
            high: vec![None; bins.count],
        };
        Self {
            bins,
            second: None,
            of_second: Histogram::new(),
            of_bin: Histogram::new(),
            percentiles: [extremes(), extremes()],
            max: vec![Rounded::NONE; bins.count],
        }
    }

    /// Takes in durations of a second; seconds must come in order.
    pub(crate) fn add(&mut self, second: u64, durations: &Histogram) {
        if self.second != Some(second) {
            self.turn(Some(second));
        }
        self.of_second.merge(durations);
    }

    /// Median, 99 % and largest. A percentile is null where its bin has too few samples for it; `low` and `high` are
    /// those of the seconds with enough. Of the largest there is only the largest of each bin.
    pub(crate) fn points(mut self) -> [Points; 3] {
        self.turn(None);
        let [median, p99] = self.percentiles.map(|Extremes { mid, low, high }| {
            let column = |all: Vec<Option<u64>>| all.into_iter().map(milliseconds).collect();
            Points::of(mid, column(low), column(high))
        });
        [median, p99, Points { mid: self.max, low: None, high: None }]
    }

    /// Ends the second, and the bin as well if the next second is in another one.
    fn turn(&mut self, next: Option<u64>) {
        let Some(place) = self.second.map(|second| self.bins.place(second)) else {
            self.second = next;
            return;
        };
        let goes_on = next.map(|next| self.bins.place(next)) == Some(place);
        for (percentile, extremes) in Self::PERCENTILES.into_iter().zip(&mut self.percentiles) {
            extremes.reach(place, self.of_second.printable_at(percentile));
        }
        if self.of_bin.is_empty() && !goes_on {
            std::mem::swap(&mut self.of_bin, &mut self.of_second);
        } else {
            self.of_bin.merge(&self.of_second);
        }
        self.of_second.clear();
        if !goes_on {
            for (percentile, extremes) in Self::PERCENTILES.into_iter().zip(&mut self.percentiles) {
                extremes.set(place, milliseconds(self.of_bin.printable_at(percentile)));
            }
            if let Some(max) = self.max.get_mut(place) {
                *max = milliseconds(self.of_bin.max_ns());
            }
            self.of_bin.clear();
        }
        self.second = next;
    }
}

impl Extremes {
    fn reach(&mut self, place: usize, value_ns: Option<u64>) {
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
        let unless_mid = |extreme: Vec<Rounded>| (extreme != mid).then_some(extreme);
        let (low, high) = (unless_mid(low), unless_mid(high));
        Self { mid, low, high }
    }

    /// The means alone, to two decimals: as much as a colour can tell.
    pub(crate) fn coarse(self) -> Self {
        let coarse = |figure: Rounded| figure.get().map(|figure| (figure * 100.0).round() / 100.0).into();
        Self { mid: self.mid.into_iter().map(coarse).collect(), low: None, high: None }
    }

    /// Whether there is no figure in it at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.figures().next().is_none()
    }

    /// Whether every figure is zero.
    pub(crate) fn is_zero(&self) -> bool {
        self.figures().all(|figure| figure == 0.0)
    }

    /// Every figure, extremes included.
    pub(crate) fn figures(&self) -> impl Iterator<Item = f64> {
        let columns = [Some(&self.mid), self.low.as_ref(), self.high.as_ref()];
        columns.into_iter().flatten().flatten().filter_map(|figure| figure.get())
    }
}

fn milliseconds(value_ns: Option<u64>) -> Rounded {
    value_ns.map(|value_ns| value_ns as f64 / 1e6).into()
}
