//! Generates the JSON Schema of a plan from the tables of keys, for editors.

use serde_json::{Map, Value, json};

use super::aliases::RENAMED;
use super::form::{Form, FormSchema};
use super::keys::{Table, ValueKind};
use super::tables;

/// The schema as JSON text. It covers keys and forms of values. Only the reader checks whether values fit together.
pub fn schema() -> String {
    let definitions: Map<String, Value> =
        tables::all().iter().map(|table| (name_of(table), of_table(table))).collect();
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Tenbin plan",
        "$ref": "#/$defs/plan",
        "$defs": definitions,
    });
    format!("{schema:#}\n")
}

fn name_of(table: &Table) -> String {
    table.name.replace(' ', "-")
}

fn of_table(table: &Table) -> Value {
    let mut properties: Map<String, Value> = table
        .keys
        .iter()
        .map(|key| {
            let mut schema = of_kind(&key.kind);
            schema["description"] = json!(key.sentence);
            (key.name.to_owned(), schema)
        })
        .collect();
    for (_, former, name) in RENAMED.iter().filter(|(section, ..)| *section == table.name) {
        let mut schema = properties.get(*name).cloned().unwrap_or_default();
        schema["description"] = json!(format!("Former name of `{name}`."));
        schema["deprecated"] = json!(true);
        properties.insert((*former).to_owned(), schema);
    }
    let required: Vec<&str> = table.keys.iter().filter(|key| key.is_required).map(|key| key.name).collect();
    json!({
        "type": "object",
        "description": table.sentence,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn reference_to(table: &Table) -> Value {
    json!({ "$ref": format!("#/$defs/{}", name_of(table)) })
}

/// Pattern of a text with a parameter in braces, which may stand for any value.
const PARAMETER: &str = "\\{[A-Za-z]";

fn or_parameter(pattern: &str) -> String {
    format!("{pattern}|{PARAMETER}")
}

fn parameter() -> Value {
    json!({ "type": "string", "pattern": PARAMETER })
}

fn of_form(form: &Form) -> Value {
    match form.schema {
        FormSchema::Anything => json!({ "type": ["string", "number", "boolean"] }),
        FormSchema::Pattern(pattern) => json!({ "type": "string", "pattern": or_parameter(pattern) }),
        FormSchema::NumberOr(pattern) => {
            json!({ "type": ["number", "string"], "pattern": or_parameter(pattern) })
        }
        FormSchema::Truth => json!({ "type": ["boolean", "string"], "pattern": PARAMETER }),
    }
}

fn of_kind(kind: &ValueKind) -> Value {
    match kind {
        ValueKind::One(form) => of_form(form),
        ValueKind::Word(words) => json!({ "anyOf": [{ "enum": words }, parameter()] }),
        ValueKind::WordOr(words, form) => {
            json!({ "anyOf": [{ "enum": words }, of_form(form), parameter()] })
        }
        ValueKind::Table(table) => reference_to(table),
        ValueKind::Derived(table) => reference_to(table),
        ValueKind::List(kind) => json!({ "type": "array", "items": of_kind(kind), "minItems": 1 }),
        ValueKind::OneOrList(kind) => {
            let one = of_kind(kind);
            json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
        }
        ValueKind::Named(kind) => {
            json!({ "type": "object", "additionalProperties": of_kind(kind), "minProperties": 1 })
        }
        ValueKind::Any => json!({}),
        ValueKind::Optional(kind) => json!({ "anyOf": [of_kind(kind), { "type": "null" }] }),
        ValueKind::Either(kinds) => json!({ "anyOf": kinds.iter().map(of_kind).collect::<Vec<_>>() }),
    }
}
