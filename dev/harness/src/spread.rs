//! Minimum, median, and maximum of a few values.

/// Minimum, median, maximum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Minimum.
    pub min: f64,
    /// Median: the middle value, or the mean of the middle two.
    pub median: f64,
    /// Maximum.
    pub max: f64,
}

/// Computes the spread. `None` without values.
pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    let (min, max) = (*values.first()?, *values.last()?);
    let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
    Some(Spread { min, median: f64::midpoint(low, high), max })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_an_even_number_is_the_mean_of_the_middle_two() {
        assert_eq!(of([]), None);
        assert_eq!(of([3.0]), Some(Spread { min: 3.0, median: 3.0, max: 3.0 }));
        assert_eq!(of([3.0, 1.0, 2.0]), Some(Spread { min: 1.0, median: 2.0, max: 3.0 }));
        assert_eq!(of([4.0, 1.0, 2.0, 3.0]), Some(Spread { min: 1.0, median: 2.5, max: 4.0 }));
    }
}
