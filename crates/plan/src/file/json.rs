//! Values of a plan as JSON text, with names of variables in braces.

use wire::braces::{self, Piece, pieces};

use super::reading::Reading;
use super::tree::{Entry, Node, Text, Value};
use super::variables::Variables;

/// JSON of a value. Texts without quotes that are numbers, `true`, `false`, or null have these types.
pub(crate) fn text(node: &Node) -> String {
    let mut text = String::new();
    put(node, &mut text);
    text
}

/// Resolves the variables in every text of a value.
pub(crate) fn use_variables(node: &Node, variables: &mut Variables, reading: &mut Reading<'_>) {
    match &node.value {
        Value::Map(entries) => {
            entries.iter().for_each(|entry| use_variables(&entry.value, variables, reading));
        }
        Value::List(items) => items.iter().for_each(|item| use_variables(item, variables, reading)),
        Value::Text(_) if node.is_nothing() => {}
        Value::Text(Text { text, .. }) => variables.use_in(node, text, reading),
    }
}

fn put(node: &Node, out: &mut String) {
    match &node.value {
        Value::Map(entries) => {
            out.push('{');
            for (number, Entry { key, value, .. }) in entries.iter().enumerate() {
                out.push_str(if number > 0 { "," } else { "" });
                let key = braces::literal(key.as_bytes());
                out.push_str(&quoted(&String::from_utf8_lossy(&key)));
                out.push(':');
                put(value, out);
            }
            out.push('}');
        }
        Value::List(items) => {
            out.push('[');
            for (number, item) in items.iter().enumerate() {
                out.push_str(if number > 0 { "," } else { "" });
                put(item, out);
            }
            out.push(']');
        }
        Value::Text(_) if node.is_nothing() => out.push_str("null"),
        Value::Text(Text { text, is_plain }) => match *is_plain && is_scalar(text) || is_raw_value(text) {
            true => out.push_str(text),
            false => out.push_str(&quoted(text)),
        },
    }
}

/// Text as JSON. Names in braces contain nothing that JSON escapes.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Whether a text is a number, `true`, or `false` in JSON.
fn is_scalar(text: &str) -> bool {
    let value = serde_json::from_str::<serde_json::Value>(text);
    value.is_ok_and(|value| value.is_number() || value.is_boolean())
}

/// Whether a text is only `{name:raw}`, which inserts the value itself, without quotes.
fn is_raw_value(text: &str) -> bool {
    let mut pieces = pieces(text.as_bytes());
    matches!((pieces.next(), pieces.next()), (Some(Piece::Raw(_)), None))
}
