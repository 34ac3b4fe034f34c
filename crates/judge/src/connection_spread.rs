//! Figures of connections as multiples of the median connection of their run.

use record::MinMedianMax;
use stats::Spread;

/// Lowest and highest figure over the connections of a run, divided by the median.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelativeRange {
    /// Lowest figure. 0 for a connection that was never served.
    pub low: f64,
    /// Highest figure.
    pub high: f64,
}

impl RelativeRange {
    /// Divides the ends by the median. `None` if the median is too small for that.
    pub fn from_figures(figures: &MinMedianMax) -> Option<Self> {
        let MinMedianMax { min, median, max } = *figures;
        let range = Self { low: min.max(0.0) / median, high: max / median };
        (median > 0.0 && range.low.is_finite() && range.high.is_finite()).then_some(range)
    }
}

/// Ranges of several runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelativeRanges {
    /// Lowest figure of any run.
    pub low: f64,
    /// Highest figure of any run.
    pub high: f64,
    /// Median over runs of the highest figure.
    pub median_high: f64,
}

impl RelativeRanges {
    /// Combines the ranges of runs. `None` without any.
    pub fn over(ranges: &[RelativeRange]) -> Option<Self> {
        let low = Spread::over(ranges.iter().map(|range| range.low))?.min;
        let high = Spread::over(ranges.iter().map(|range| range.high))?;
        Some(Self { low, high: high.max, median_high: high.median })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relative(min: f64, median: f64, max: f64) -> Option<[f64; 2]> {
        let range = RelativeRange::from_figures(&MinMedianMax { min, median, max })?;
        Some([range.low, range.high])
    }

    #[test]
    fn ranges_are_multiples_of_the_median() {
        assert_eq!(relative(50.0, 100.0, 300.0), Some([0.5, 3.0]));
        assert_eq!(relative(0.0, 0.0, 3.0), None);
        assert_eq!(relative(0.0, 1e-300, 1e300), None);
        assert_eq!(relative(f64::NAN, f64::NAN, f64::NAN), None);
    }

    #[test]
    fn ranges_of_runs_are_combined_from_the_lowest_to_the_highest() {
        let ranges = [(0.5, 2.0), (0.9, 1.2), (0.8, 1.4)].map(|(low, high)| RelativeRange { low, high });
        let all = RelativeRanges { low: 0.5, high: 2.0, median_high: 1.4 };
        assert_eq!(RelativeRanges::over(&ranges), Some(all));
        assert_eq!(RelativeRanges::over(&[]), None);
    }
}
