//! Values that are sent separately from the text of their statement.

/// A value of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// NULL.
    Null,
    /// A word without quotes in SQL: a number or a truth value, if it parses as one.
    Bare(&'a [u8]),
    /// A text, even if it parses as a number.
    Text(&'a [u8]),
}

/// Type of a bare word as an SQL literal, with the rules of MySQL, MariaDB, and SQLite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number in the range of `i64`, or a truth value as 1 or 0.
    Integer(i64),
    /// A whole number above the range of `i64`.
    Unsigned(u64),
    /// An exact number with a decimal point, or with too many digits for the other types.
    Decimal,
    /// A number with an exponent.
    Double(f64),
}

impl<'a> Value<'a> {
    /// Text of the value; `None` is NULL.
    pub fn text(self) -> Option<&'a [u8]> {
        match self {
            Self::Null => None,
            Self::Bare(text) | Self::Text(text) => Some(text),
        }
    }

    /// Number in a bare word. `None` for any other value.
    pub fn number(self) -> Option<Number> {
        let Self::Bare(text) = self else { return None };
        Number::read(text)
    }
}

/// `Some` is converted to a text, and `None` to NULL.
impl<'a> From<Option<&'a [u8]>> for Value<'a> {
    fn from(text: Option<&'a [u8]>) -> Self {
        text.map_or(Self::Null, Self::Text)
    }
}

impl Number {
    fn read(text: &[u8]) -> Option<Self> {
        let word = core::str::from_utf8(text).ok()?;
        if let Ok(value) = word.parse() {
            return Some(Self::Integer(value));
        }
        let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
        if word.eq_ignore_ascii_case("true") || word.eq_ignore_ascii_case("false") {
            return Some(Self::Integer(i64::from(word.len() == 4)));
        }
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (unsigned, None),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !are_digits(whole) || !are_digits(fraction) {
            return None;
        }
        match exponent {
            Some(exponent) => {
                let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
                let is_whole = !digits.is_empty() && are_digits(digits);
                word.parse().ok().filter(|value: &f64| is_whole && value.is_finite()).map(Self::Double)
            }
            None => Some(word.parse().map_or(Self::Decimal, Self::Unsigned)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_bare_words_as_sql_number_literals() {
        for (word, number) in [
            ("0", Some(Number::Integer(0))),
            ("-5", Some(Number::Integer(-5))),
            ("007", Some(Number::Integer(7))),
            ("9007199254740993", Some(Number::Integer(9_007_199_254_740_993))),
            ("-9223372036854775808", Some(Number::Integer(i64::MIN))),
            ("9223372036854775808", Some(Number::Unsigned(1 << 63))),
            ("18446744073709551616", Some(Number::Decimal)),
            ("-9223372036854775809", Some(Number::Decimal)),
            ("0.1", Some(Number::Decimal)),
            ("-.5", Some(Number::Decimal)),
            ("5.", Some(Number::Decimal)),
            ("1e+30", Some(Number::Double(1e30))),
            ("-1.5E-7", Some(Number::Double(-1.5e-7))),
            ("true", Some(Number::Integer(1))),
            ("FALSE", Some(Number::Integer(0))),
            ("", None),
            ("-", None),
            (".", None),
            ("1e", None),
            ("e5", None),
            ("1e5.5", None),
            ("- 1", None),
            (" 1", None),
            ("0x10", None),
            ("1e999", None),
            ("Infinity", None),
            ("NaN", None),
            ("1.2.3", None),
            ("it's", None),
        ] {
            assert_eq!(Value::Bare(word.as_bytes()).number(), number, "{word}");
            assert_eq!(Value::Text(word.as_bytes()).number(), None);
        }
        assert_eq!(Value::Bare(b"\xff1").number(), None);
        assert_eq!(Value::Null.number(), None);
    }
}
