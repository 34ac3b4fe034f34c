//! Values of a plan as JSON text, with names of variables in braces.

use alloc::format;
use alloc::string::String;

use super::tree::{Entry, Node, Text, Value};
use crate::braces::{self, Piece, pieces};

/// JSON of a value. Texts without quotes that are numbers, `true`, `false`, or null have these types. `each` gets every text, in which
/// names in braces stand for variables, with its node.
pub fn text(node: &Node, each: &mut dyn FnMut(&Node, &str)) -> String {
    let mut text = String::new();
    put(node, &mut text, each);
    text
}

fn put(node: &Node, out: &mut String, each: &mut dyn FnMut(&Node, &str)) {
    match &node.value {
        Value::Map(entries) => {
            out.push('{');
            for (number, Entry { key, value, .. }) in entries.iter().enumerate() {
                out.push_str(if number > 0 { "," } else { "" });
                let key = braces::literal(key.as_bytes());
                out.push_str(&quoted(&String::from_utf8_lossy(&key)));
                out.push(':');
                put(value, out, each);
            }
            out.push('}');
        }
        Value::List(items) => {
            out.push('[');
            for (number, item) in items.iter().enumerate() {
                out.push_str(if number > 0 { "," } else { "" });
                put(item, out, each);
            }
            out.push(']');
        }
        Value::Text(_) if node.is_nothing() => out.push_str("null"),
        Value::Text(Text { text, is_plain }) => {
            each(node, text);
            match *is_plain && is_scalar(text) || is_raw_value(text) {
                true => out.push_str(text),
                false => out.push_str(&quoted(text)),
            }
        }
    }
}

/// Text as JSON. Names in braces contain nothing that JSON escapes.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for sign in text.chars() {
        match sign {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            sign => out.push(sign),
        }
    }
    out.push('"');
    out
}

/// Whether a text is a number, `true`, or `false` in JSON (RFC 8259).
fn is_scalar(text: &str) -> bool {
    matches!(text, "true" | "false") || is_number(text)
}

/// Whether a text is a number in JSON that fits a double.
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.strip_prefix('-').unwrap_or(text);
    let (number, exponent) = match number.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (number, None),
    };
    let (whole, fraction) =
        number.split_once('.').map_or((number, None), |(whole, part)| (whole, Some(part)));
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(digits)
        && text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Whether a text is only `{name:raw}`, which inserts the value itself, without quotes.
fn is_raw_value(text: &str) -> bool {
    let mut pieces = pieces(text.as_bytes());
    matches!((pieces.next(), pieces.next()), (Some(Piece::Raw(_)), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_numbers_stay_numbers() {
        for text in ["0", "-1", "10.5", "1e3", "-0.0E-2", "12345678901234567890123", "true", "false"] {
            assert!(is_scalar(text), "{text}");
        }
        for text in
            ["", "-", "01", "1.", ".5", "1e", "+1", "1e400", "1_000", "0x1", "NaN", "inf", "True", "1 2"]
        {
            assert!(!is_scalar(text), "{text}");
        }
    }

    #[test]
    fn control_characters_are_escaped_in_json() {
        assert_eq!(
            quoted("a\"\\\u{8}\u{c}\n\r\t\u{1f}\u{7f}ä/"),
            "\"a\\\"\\\\\\b\\f\\n\\r\\t\\u001f\u{7f}ä/\""
        );
    }
}
