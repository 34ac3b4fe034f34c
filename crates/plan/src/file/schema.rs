//! Generates the JSON Schema of a plan from the tables of keys, for editors.

use serde_json::{Map, Value, json};

use super::aliases::RENAMED;
use super::form::{Form, FormSchema};
use super::keys::{Table, ValueKind};
use super::tables;

/// The schema as JSON text. It covers keys and forms of values. Only the reader checks whether values fit together.
pub fn schema() -> String {
    let definitions: Map<String, Value> =
        tables::all().iter().map(|table| (definition_name(table), table_schema(table))).collect();
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Tenbin plan",
        "$ref": "#/$defs/plan",
        "$defs": definitions,
    });
    format!("{schema:#}\n")
}

fn definition_name(table: &Table) -> String {
    table.name.replace(' ', "-")
}

fn table_schema(table: &Table) -> Value {
    let mut properties: Map<String, Value> = table
        .keys
        .iter()
        .map(|key| {
            let mut schema = kind_schema(&key.kind);
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
    json!({ "$ref": format!("#/$defs/{}", definition_name(table)) })
}

/// Pattern of a text with a parameter in braces, which may stand for any value.
const PARAMETER: &str = "\\{[A-Za-z]";

fn or_parameter(pattern: &str) -> String {
    format!("{pattern}|{PARAMETER}")
}

fn parameter() -> Value {
    json!({ "type": "string", "pattern": PARAMETER })
}

fn form_schema(form: &Form) -> Value {
    match form.schema {
        FormSchema::Anything => json!({ "type": ["string", "number", "boolean"] }),
        FormSchema::Pattern(pattern) => json!({ "type": "string", "pattern": or_parameter(pattern) }),
        FormSchema::NumberOr(pattern) => {
            json!({ "type": ["number", "string"], "pattern": or_parameter(pattern) })
        }
        FormSchema::Truth => json!({ "type": ["boolean", "string"], "pattern": PARAMETER }),
    }
}

fn kind_schema(kind: &ValueKind) -> Value {
    match kind {
        ValueKind::One(form) => form_schema(form),
        ValueKind::Word(words) => json!({ "anyOf": [{ "enum": words }, parameter()] }),
        ValueKind::WordOr(words, form) => {
            json!({ "anyOf": [{ "enum": words }, form_schema(form), parameter()] })
        }
        ValueKind::Table(table) => reference_to(table),
        ValueKind::Derived(table) => reference_to(table),
        ValueKind::List(kind) => json!({ "type": "array", "items": kind_schema(kind), "minItems": 1 }),
        ValueKind::OneOrList(kind) => {
            let one = kind_schema(kind);
            json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
        }
        ValueKind::Named(kind) => {
            json!({ "type": "object", "additionalProperties": kind_schema(kind), "minProperties": 1 })
        }
        ValueKind::Any => json!({}),
        ValueKind::Optional(kind) => json!({ "anyOf": [kind_schema(kind), { "type": "null" }] }),
        ValueKind::Either(kinds) => json!({ "anyOf": kinds.iter().map(kind_schema).collect::<Vec<_>>() }),
    }
}
