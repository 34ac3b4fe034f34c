//! What one kind of duration amounts to.

use record::{Histogram, PRINTED, Percentile};

/// The figures of a histogram, in nanoseconds. `None` where there is nothing to say, or too little to say it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Durations {
    /// How many durations there were.
    pub count: u64,
    /// The shortest.
    pub min_ns: Option<f64>,
    /// The mean.
    pub mean_ns: Option<f64>,
    /// In the order of [`PRINTED`].
    pub percentiles_ns: [Option<f64>; PRINTED.len()],
    /// The longest.
    pub max_ns: Option<f64>,
}

impl Durations {
    /// Of all durations in a histogram.
    pub fn of(histogram: &Histogram) -> Self {
        Self {
            count: histogram.count(),
            min_ns: histogram.min_ns().map(|ns| ns as f64),
            mean_ns: histogram.mean_ns(),
            percentiles_ns: std::array::from_fn(|place| Some(histogram.printable_at(PRINTED[place])? as f64)),
            max_ns: histogram.max_ns().map(|ns| ns as f64),
        }
    }

    /// One of the printed percentiles.
    pub fn at(&self, wanted: Percentile) -> Option<f64> {
        PRINTED.iter().zip(self.percentiles_ns).find(|(percentile, _)| **percentile == wanted)?.1
    }

    /// A figure that stands for the whole: the median, or the mean of too few.
    pub fn middle_ns(&self) -> Option<f64> {
        self.at(Percentile::P50).or(self.mean_ns)
    }
}
