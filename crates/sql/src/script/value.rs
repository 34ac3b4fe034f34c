//! Values of expressions, and conversions from texts.

use crate::script::number_text::{fixed, write_double, write_int};

/// A value of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    /// NULL.
    Null,
    /// Boolean.
    Boolean(bool),
    /// Integer.
    Int(i64),
    /// Double.
    Double(f64),
    /// Range of a text among the texts of the current evaluation. Only in the extended language.
    Text { from: usize, to: usize },
}

impl Value {
    fn type_name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "boolean",
            Self::Int(_) => "int",
            Self::Double(_) => "double",
            Self::Text { .. } => "text",
        }
    }

    /// Converts to a Boolean, for AND, OR, and NOT.
    pub(crate) fn boolean(self) -> Result<bool, String> {
        match self {
            Self::Boolean(value) => Ok(value),
            other => Err(format!("cannot coerce {} to boolean", other.type_name())),
        }
    }

    /// Converts to a condition, for CASE and `\if`: nonzero numbers are true, NULL is false.
    pub(crate) fn is_truth(self) -> bool {
        match self {
            Self::Boolean(value) => value,
            Self::Int(value) => value != 0,
            Self::Double(value) => value != 0.0,
            Self::Null | Self::Text { .. } => false,
        }
    }

    /// Converts to an integer. Halves are rounded to even.
    pub(crate) fn int(self) -> Result<i64, String> {
        // The bounds are ±2⁶³, because the largest `i64` is not representable as a double.
        const LIMIT: f64 = 9_223_372_036_854_775_808.0;
        match self {
            Self::Int(value) => Ok(value),
            Self::Double(value) => {
                let whole = value.round_ties_even();
                if (-LIMIT..LIMIT).contains(&whole) {
                    Ok(whole as i64)
                } else {
                    Err(format!("double to int overflow for {}", fixed(whole)))
                }
            }
            other => Err(format!("cannot coerce {} to int", other.type_name())),
        }
    }

    /// Converts to a double.
    pub(crate) fn double(self) -> Result<f64, String> {
        match self {
            Self::Double(value) => Ok(value),
            Self::Int(value) => Ok(value as f64),
            other => Err(format!("cannot coerce {} to double", other.type_name())),
        }
    }

    /// Appends the value as written into a statement. Texts are not supported here.
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"NULL"),
            Self::Boolean(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
            Self::Int(value) => write_int(value, out),
            Self::Double(value) => write_double(value, out),
            Self::Text { .. } => {}
        }
    }

    /// Output of `debug` for the value.
    pub(crate) fn debug_text(self) -> String {
        if self == Self::Null {
            return "null".to_owned();
        }
        let mut text = Vec::new();
        self.write(&mut text);
        format!("{} {}", self.type_name(), String::from_utf8_lossy(&text))
    }
}

/// Value of a text in an expression: `null`, a Boolean or its abbreviation, an integer, or a double. `name` is the variable's name
/// for messages.
pub(crate) fn typed(text: &[u8], name: &str) -> Result<Value, String> {
    let shown = || String::from_utf8_lossy(text).into_owned();
    let malformed = || format!("malformed variable \"{name}\" value: \"{}\"", shown());
    if text.is_empty() {
        return Err(malformed());
    }
    if let Some(value) = word(text) {
        return Ok(value);
    }
    let trimmed = text.trim_ascii_start();
    let digits = trimmed.strip_prefix(b"+").or(trimmed.strip_prefix(b"-")).unwrap_or(trimmed);
    let number = std::str::from_utf8(trimmed).map_err(|_| malformed())?;
    if digits.iter().all(u8::is_ascii_digit) {
        if digits.is_empty() {
            return Err(format!("invalid input syntax for type bigint: \"{}\"", shown()));
        }
        let value = number.parse().map(Value::Int);
        return value.map_err(|_| format!("value \"{}\" is out of range for type bigint", shown()));
    }
    double(number).map(Value::Double).ok_or_else(malformed)
}

fn word(text: &[u8]) -> Option<Value> {
    let is = |word: &[u8]| text.eq_ignore_ascii_case(word);
    let begins = |word: &[u8]| word.get(..text.len()).is_some_and(is);
    if is(b"null") {
        Some(Value::Null)
    } else if begins(b"true") || begins(b"yes") || is(b"on") {
        Some(Value::Boolean(true))
    } else if begins(b"false") || begins(b"no") || is(b"off") || is(b"of") {
        Some(Value::Boolean(false))
    } else {
        None
    }
}

/// Parses a double. `None` if it is invalid, or neither zero nor in the range of normal doubles.
pub(crate) fn double(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let has_digits = mantissa.bytes().any(|byte| byte.is_ascii_digit());
    let is_zero = !mantissa.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    let is_out_of_range = has_digits && !is_zero && !value.is_normal();
    (!is_out_of_range).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_converted_to_types() {
        use Value::{Boolean, Double, Int, Null};
        for (text, value) in [
            ("null", Null),
            ("NULL", Null),
            ("t", Boolean(true)),
            ("TRU", Boolean(true)),
            ("y", Boolean(true)),
            ("on", Boolean(true)),
            ("f", Boolean(false)),
            ("n", Boolean(false)),
            ("of", Boolean(false)),
            ("off", Boolean(false)),
            ("0", Int(0)),
            ("+3", Int(3)),
            (" -3", Int(-3)),
            ("-9223372036854775808", Int(i64::MIN)),
            ("-10.1", Double(-10.1)),
            ("1e3", Double(1000.0)),
            (".5", Double(0.5)),
            ("1.", Double(1.0)),
            ("0e999", Double(0.0)),
            ("inf", Double(f64::INFINITY)),
        ] {
            assert_eq!(typed(text.as_bytes(), "x"), Ok(value), "{text}");
        }
        for (text, message) in [
            ("o", "malformed variable \"x\" value: \"o\""),
            ("", "malformed variable \"x\" value: \"\""),
            ("bla", "malformed variable \"x\" value: \"bla\""),
            ("trueXY", "malformed variable \"x\" value: \"trueXY\""),
            ("1 ", "malformed variable \"x\" value: \"1 \""),
            ("1e999", "malformed variable \"x\" value: \"1e999\""),
            ("9223372036854775808", "value \"9223372036854775808\" is out of range for type bigint"),
            ("-", "invalid input syntax for type bigint: \"-\""),
        ] {
            assert_eq!(typed(text.as_bytes(), "x"), Err(message.to_owned()));
        }
        assert!(typed(b"\xff\xfe", "x").is_err());
    }

    #[test]
    fn doubles_are_rounded_half_to_even() {
        let int = |value: f64| Value::Double(value).int();
        assert_eq!((int(0.5), int(1.5), int(-2.5), int(7.3)), (Ok(0), Ok(2), Ok(-2), Ok(7)));
        assert_eq!(int(-9_223_372_036_854_775_808.0), Ok(i64::MIN));
        assert_eq!(
            int(1e32),
            Err("double to int overflow for 100000000000000005366162204393472.000000".into())
        );
        assert!(int(9_223_372_036_854_775_808.0).is_err() && int(f64::NAN).is_err());
    }
}
