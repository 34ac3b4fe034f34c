//! Figures as the page gets them: four significant digits, and null where there is none.

use serde::{Serialize, Serializer};

/// A figure with four significant digits, or none. What is not finite is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rounded(Option<f64>);

impl Rounded {
    pub(crate) const NONE: Self = Self(None);

    pub(crate) fn of(figure: f64) -> Self {
        // Through decimal digits, so that the shortest text of the result has no more than four.
        Self(format!("{figure:.3e}").parse().ok().filter(|figure: &f64| figure.is_finite()))
    }

    /// With no more decimals than these.
    pub(crate) fn to_decimals(self, decimals: u8) -> Self {
        let scale = 10f64.powi(i32::from(decimals));
        self.0.map(|figure| if figure.abs() < 1e9 { (figure * scale).round() / scale } else { figure }).into()
    }

    pub(crate) fn get(self) -> Option<f64> {
        self.0
    }
}

impl From<Option<f64>> for Rounded {
    fn from(figure: Option<f64>) -> Self {
        figure.map_or(Self::NONE, Self::of)
    }
}

impl Serialize for Rounded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// Whole numbers up to here are written without a decimal point.
        const WHOLE_MAX: f64 = 1e15;
        match self.0 {
            None => serializer.serialize_none(),
            Some(figure) if figure.fract() == 0.0 && figure.abs() <= WHOLE_MAX => {
                serializer.serialize_i64(figure as i64)
            }
            Some(figure) => serializer.serialize_f64(figure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_figures_have_no_more_decimals_than_they_may() {
        let cases = [
            (0.012_34, "0.01"),
            (0.004, "0"),
            (-1.239, "-1.24"),
            (1_234.0, "1234"),
            (1.5e12, "1500000000000"),
        ];
        for (figure, text) in cases {
            assert_eq!(serde_json::to_string(&Rounded::of(figure).to_decimals(2)).unwrap(), text, "{figure}");
        }
        assert_eq!(Rounded::NONE.to_decimals(2), Rounded::NONE);
    }

    #[test]
    fn four_digits_are_kept_and_whole_numbers_have_no_point() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (17.0, "17"),
            (1_234.6, "1235"),
            (123_456_789.0, "123500000"),
            (0.000_123_456, "0.0001235"),
            (2.0 / 3.0, "0.6667"),
            (-12.345_6, "-12.35"),
            (1e300, "1e+300"),
            (f64::NAN, "null"),
            (f64::INFINITY, "null"),
        ];
        for (figure, text) in cases {
            assert_eq!(serde_json::to_string(&Rounded::of(figure)).unwrap(), text, "{figure}");
        }
        assert_eq!(serde_json::to_string(&Rounded::NONE).unwrap(), "null");
    }
}
