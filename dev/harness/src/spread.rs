//! A few values of the same thing: least, middle, most.

/// Minimum, median, maximum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The least.
    pub min: f64,
    /// The middle one, or the mean of the middle two.
    pub median: f64,
    /// The most.
    pub max: f64,
}

/// The spread of the values, or `None` of none. The median of an even number of values is the mean of the middle two.
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
    fn the_middle_of_an_even_number_lies_between_two() {
        assert_eq!(of([]), None);
        assert_eq!(of([3.0]), Some(Spread { min: 3.0, median: 3.0, max: 3.0 }));
        assert_eq!(of([3.0, 1.0, 2.0]), Some(Spread { min: 1.0, median: 2.0, max: 3.0 }));
        assert_eq!(of([4.0, 1.0, 2.0, 3.0]), Some(Spread { min: 1.0, median: 2.5, max: 4.0 }));
    }
}
