//! Helpers that make pages and extract their documents.

#![allow(dead_code, reason = "every test takes what it needs")]

use evidence::Run;
use report::Options;
use serde_json::Value;

use crate::studies::Stored;

pub(crate) const OPTIONS: Options = Options { color: false, width: 120, is_wide: true };

pub(crate) fn of_runs(runs: &[Run]) -> String {
    let mut out = Vec::new();
    report::write(report::format("html").unwrap(), runs, &OPTIONS, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

pub(crate) fn of_study(stored: &Stored) -> String {
    let mut out = Vec::new();
    let html = report::format("html").unwrap();
    report::write_study(html, &stored.study, &|run| stored.load(run), &OPTIONS, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Text between the first `before` and the next `after`.
pub(crate) fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap();
    rest.split_once(after).unwrap().0
}

pub(crate) fn document_text(page: &str) -> &str {
    between(page, "<script type=\"application/json\" id=\"report\">", "</script>")
}

pub(crate) fn document(page: &str) -> Value {
    serde_json::from_str(document_text(page)).unwrap()
}

/// JSON with one line for each value that is not deeply nested.
pub(crate) fn pretty(value: &Value) -> String {
    let mut text = String::new();
    write(value, "", &mut text);
    text.push('\n');
    text
}

fn write(value: &Value, indent: &str, text: &mut String) {
    let deeper = format!("{indent}  ");
    let is_flat = |value: &Value| match value {
        Value::Object(_) => false,
        Value::Array(array) => array.iter().all(|value| !value.is_object() && !value.is_array()),
        _ => true,
    };
    match value {
        Value::Object(object) if !object.values().all(is_flat) => {
            text.push_str("{\n");
            for (place, (key, value)) in object.iter().enumerate() {
                text.push_str(&format!("{deeper}{}: ", Value::from(key.as_str())));
                write(value, &deeper, text);
                text.push_str(if place + 1 < object.len() { ",\n" } else { "\n" });
            }
            text.push_str(&format!("{indent}}}"));
        }
        Value::Array(array) if array.iter().any(|value| !is_flat(value)) => {
            text.push_str("[\n");
            for (place, value) in array.iter().enumerate() {
                text.push_str(&deeper);
                write(value, &deeper, text);
                text.push_str(if place + 1 < array.len() { ",\n" } else { "\n" });
            }
            text.push_str(&format!("{indent}]"));
        }
        _ => text.push_str(&value.to_string()),
    }
}
