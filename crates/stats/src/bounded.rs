//! Figure of a run with the bounds of its true value.

/// Figure as measured, and the interval that contains the figure that an ideal load generator would have measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounded {
    /// Measured figure.
    pub value: f64,
    /// Smallest possible true figure, at most `value`.
    pub low: f64,
    /// Largest possible true figure, at least `value`. Infinite if nothing limits it.
    pub high: f64,
}

impl Bounded {
    /// Creates a figure that is known exactly.
    pub const fn exactly(value: f64) -> Self {
        Self { value, low: value, high: value }
    }

    /// Creates a figure with bounds, which are extended to include the measured figure.
    pub fn within(value: f64, [low, high]: [f64; 2]) -> Self {
        Self { value, low: low.min(value), high: high.max(value) }
    }

    /// Multiplies figure and bounds by a positive factor.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self { value: self.value * factor, low: self.low * factor, high: self.high * factor }
    }
}

impl From<f64> for Bounded {
    fn from(value: f64) -> Self {
        Self::exactly(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_include_the_measured_figure() {
        let within = |bounds| {
            let Bounded { low, high, .. } = Bounded::within(5.0, bounds);
            (low, high)
        };
        assert_eq!([within([4.0, 6.0]), within([6.0, f64::INFINITY])], [(4.0, 6.0), (5.0, f64::INFINITY)]);
        assert_eq!(within([f64::NAN; 2]), (5.0, 5.0));
    }
}
