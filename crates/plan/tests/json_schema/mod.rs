//! A validator for the part of JSON Schema that the schema of plans uses. Any other keyword fails the test.

use regex::Regex;
use serde_json::Value;

/// All mismatches between a value and a schema.
pub(crate) fn faults(schema: &Value, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    check(schema, schema, value, "", &mut faults);
    faults
}

fn check(root: &Value, schema: &Value, value: &Value, path: &str, faults: &mut Vec<String>) {
    let Some(words) = schema.as_object() else {
        assert_eq!(schema, &Value::Bool(true), "at {path}");
        return;
    };
    for (word, wanted) in words {
        let fits = match word.as_str() {
            "$schema" | "title" | "description" | "$defs" => true,
            "$ref" => {
                let name =
                    wanted.as_str().and_then(|text| text.strip_prefix("#/$defs/")).expect("a definition");
                check(root, &root["$defs"][name], value, path, faults);
                true
            }
            "type" => types(wanted).any(|name| is_of(value, name)),
            "enum" => wanted.as_array().is_some_and(|words| words.contains(value)),
            "pattern" => value.as_str().is_none_or(|text| {
                Regex::new(wanted.as_str().unwrap_or_default()).expect("a pattern").is_match(text)
            }),
            "minItems" => {
                value.as_array().is_none_or(|items| items.len() as u64 >= wanted.as_u64().unwrap_or(0))
            }
            "minProperties" => {
                value.as_object().is_none_or(|keys| keys.len() as u64 >= wanted.as_u64().unwrap_or(0))
            }
            "items" => {
                for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, wanted, item, &format!("{path}/{number}"), faults);
                }
                true
            }
            "required" => wanted.as_array().is_some_and(|keys| {
                keys.iter().all(|key| value.get(key.as_str().unwrap_or_default()).is_some())
            }),
            "properties" | "additionalProperties" | "deprecated" => true,
            "anyOf" => wanted.as_array().is_some_and(|kinds| {
                kinds.iter().any(|kind| {
                    let mut inner = Vec::new();
                    check(root, kind, value, path, &mut inner);
                    inner.is_empty()
                })
            }),
            other => panic!("the schema says {other}, which this test does not know"),
        };
        if !fits {
            faults.push(format!("{path}: {value} does not fit {word}: {wanted}"));
        }
    }
    for (key, value) in value.as_object().into_iter().flatten() {
        let path = format!("{path}/{key}");
        match schema.get("properties").and_then(|keys| keys.get(key)).or(schema.get("additionalProperties")) {
            Some(Value::Bool(false)) => faults.push(format!("{path} is not a key")),
            Some(schema) => check(root, schema, value, &path, faults),
            None => {}
        }
    }
}

fn types(wanted: &Value) -> impl Iterator<Item = &str> {
    let one = wanted.as_str().into_iter();
    one.chain(wanted.as_array().into_iter().flatten().filter_map(Value::as_str))
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{other} is no type"),
    }
}
