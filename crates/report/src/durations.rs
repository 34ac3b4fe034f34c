//! What a report says about one kind of duration.

use record::{Histogram, PRINTED, Percentile};

/// The figures of a histogram, in nanoseconds. `None` where there is nothing to say, or too little to say it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Durations {
    /// How many durations there were.
    pub(crate) count: u64,
    pub(crate) min_ns: Option<f64>,
    pub(crate) mean_ns: Option<f64>,
    /// In the order of [`PRINTED`].
    pub(crate) percentiles_ns: [Option<f64>; PRINTED.len()],
    pub(crate) max_ns: Option<f64>,
}

impl Durations {
    pub(crate) fn of(histogram: &Histogram) -> Self {
        Self {
            count: histogram.count(),
            min_ns: histogram.min_ns().map(|ns| ns as f64),
            mean_ns: histogram.mean_ns(),
            percentiles_ns: PRINTED.map(|percentile| histogram.printable_at(percentile).map(|ns| ns as f64)),
            max_ns: histogram.max_ns().map(|ns| ns as f64),
        }
    }

    /// One of the printed percentiles.
    pub(crate) fn at(&self, wanted: Percentile) -> Option<f64> {
        PRINTED.into_iter().zip(self.percentiles_ns).find(|(percentile, _)| *percentile == wanted)?.1
    }

    /// A figure that stands for the whole: the median, or the mean of too few.
    pub(crate) fn middle_ns(&self) -> Option<f64> {
        self.at(Percentile::P50).or(self.mean_ns)
    }
}

/// How a percentile is called: `p99.9`.
pub(crate) fn name(percentile: Percentile) -> String {
    format!("p{}", f64::from(percentile.ppm()) / 10_000.0)
}

/// From how many samples on a percentile is printed.
pub(crate) fn samples_needed(percentile: Percentile) -> u64 {
    10_000_000u64.div_ceil(u64::from(1_000_000 - percentile.ppm()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_samples_needed_are_those_that_the_rule_asks_for() {
        for percentile in PRINTED {
            let needed = samples_needed(percentile);
            assert!(percentile.is_printable(needed) && !percentile.is_printable(needed - 1));
        }
    }

    #[test]
    fn percentiles_are_called_as_people_do() {
        assert_eq!(PRINTED.map(name), ["p50", "p90", "p95", "p99", "p99.9", "p99.99"]);
    }
}
