//! Figures for the page: four significant digits, or null if there is none.

use serde::{Serialize, Serializer};

/// Figure with four significant digits, or none. Non-finite figures become none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rounded(Option<f64>);

impl Rounded {
    pub(crate) const NONE: Self = Self(None);

    pub(crate) fn of(figure: f64) -> Self {
        // Rounding through decimal text guarantees that the shortest representation has at most four digits.
        Self(format!("{figure:.3e}").parse().ok().filter(|figure: &f64| figure.is_finite()))
    }

    /// Rounds to at most `decimals` decimals.
    pub(crate) fn to_decimals(self, decimals: u8) -> Self {
        let scale = 10f64.powi(i32::from(decimals));
        self.0.map(|figure| if figure.abs() < 1e9 { (figure * scale).round() / scale } else { figure }).into()
    }

    pub(crate) fn get(self) -> Option<f64> {
        self.0
    }

    /// The figure as decimal digits.
    pub(crate) fn decimal(self) -> Option<Decimal> {
        let text = format!("{:.3e}", self.0?);
        let (digits, exponent) = text.split_once('e')?;
        let mut digits: i64 = digits.replace('.', "").parse().ok()?;
        let mut exponent = exponent.parse::<i32>().ok()? - 3;
        while digits != 0 && digits % 10 == 0 {
            (digits, exponent) = (digits / 10, exponent + 1);
        }
        Some(Decimal { digits, exponent })
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

/// The number `digits` · 10^`exponent`. The last digit is zero only if all of them are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub(crate) digits: i64,
    pub(crate) exponent: i32,
}

impl From<Option<f64>> for Rounded {
    fn from(figure: Option<f64>) -> Self {
        figure.map_or(Self::NONE, Self::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_limited_decimals() {
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
    fn keeps_four_digits_and_writes_whole_numbers_without_point() {
        let cases = [
            (0.0, "0", Some((0, -3))),
            (-0.0, "0", Some((0, -3))),
            (17.0, "17", Some((17, 0))),
            (1_234.6, "1235", Some((1235, 0))),
            (9_999.6, "10000", Some((1, 4))),
            (123_456_789.0, "123500000", Some((1235, 5))),
            (0.000_123_456, "0.0001235", Some((1235, -7))),
            (2.0 / 3.0, "0.6667", Some((6667, -4))),
            (-12.345_6, "-12.35", Some((-1235, -2))),
            (1e300, "1e+300", Some((1, 300))),
            (f64::NAN, "null", None),
            (f64::INFINITY, "null", None),
        ];
        for (figure, text, parts) in cases {
            let rounded = Rounded::of(figure);
            assert_eq!(serde_json::to_string(&rounded).unwrap(), text, "{figure}");
            let decimal = rounded.decimal().map(|Decimal { digits, exponent }| (digits, exponent));
            assert_eq!(decimal, parts, "{figure}");
        }
        assert_eq!(serde_json::to_string(&Rounded::NONE).unwrap(), "null");
    }
}
