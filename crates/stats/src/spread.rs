//! Median and range of the figures of repeated runs.

use alloc::vec::Vec;

/// Summary of a figure over several runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Number of figures.
    pub count: usize,
    /// Middle figure, or the mean of the middle two.
    pub median: f64,
    /// Smallest figure.
    pub min: f64,
    /// Largest figure.
    pub max: f64,
}

impl Spread {
    /// Summarizes all finite figures. `None` without any.
    pub fn over(figures: impl IntoIterator<Item = f64>) -> Option<Self> {
        Self::with_infinite(figures.into_iter().filter(|figure| figure.is_finite()))
    }

    /// Like [`Spread::over`], but includes infinite figures, which are larger than any other.
    pub fn with_infinite(figures: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut figures: Vec<f64> = figures.into_iter().filter(|figure| !figure.is_nan()).collect();
        figures.sort_unstable_by(f64::total_cmp);
        let (min, max) = (*figures.first()?, *figures.last()?);
        Some(Self { count: figures.len(), median: median_of_sorted(&figures)?, min, max })
    }
}

/// Returns the median of all finite figures: the middle figure, or the mean of the middle two. `None` without any.
pub fn median(figures: impl IntoIterator<Item = f64>) -> Option<f64> {
    Spread::over(figures).map(|spread| spread.median)
}

/// Returns the median of sorted figures. `None` without figures.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    // Halves before adding: the sum of two finite figures may overflow.
    Some(if lower == upper { upper } else { lower / 2.0 + upper / 2.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_odd_and_even_counts() {
        let spread = Spread::over([3.0, 1.0, 10.0, 2.0]).unwrap();
        assert_eq!(spread, Spread { count: 4, median: 2.5, min: 1.0, max: 10.0 });
        assert_eq!(median([5.0]), Some(5.0));
        assert_eq!(median([f64::MAX, f64::MAX]), Some(f64::MAX));
        assert_eq!(median([f64::MIN, f64::MAX]), Some(0.0));
    }

    #[test]
    fn figures_that_are_not_finite_are_ignored() {
        assert_eq!(Spread::over([f64::NAN, f64::INFINITY]), None);
        assert_eq!(Spread::over([]), None);
        let endless = Spread::with_infinite([f64::INFINITY, 1.0, f64::NAN, 3.0]).unwrap();
        assert_eq!(endless, Spread { count: 3, median: 3.0, min: 1.0, max: f64::INFINITY });
        assert_eq!(median([f64::NAN, 1.0, 3.0]), Some(2.0));
    }
}
