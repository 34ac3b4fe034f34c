//! Operations on records of named fields, from which the steps of built-in workloads derive.
//!
//! Steps are written as in plans. `{key}` is the name of an existing record, `{new}` that of a new one. `{value}` is the content of a
//! field, `{value0}` and so on those of all fields, `{field}` the number of a field, and `{length}` a number of records. An operation
//! that the protocol lacks has no steps.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Operations of a protocol. Each function takes the number of fields and returns steps in JSON, in order.
#[derive(Clone, Copy, Debug)]
pub struct Records {
    /// Inserts `{new}`.
    pub insert: fn(fields: u32) -> Vec<String>,
    /// Reads all fields of `{key}`.
    pub read: fn(fields: u32) -> Vec<String>,
    /// Replaces one field of `{key}`.
    pub update: fn(fields: u32) -> Vec<String>,
    /// Reads `{length}` records in the order of their names, from `{key}` on.
    pub scan: fn(fields: u32) -> Vec<String>,
}

/// Texts for each field, separated by `separator`. `text` gets the number of the field.
pub fn per_field(fields: u32, separator: &str, text: impl Fn(u32) -> String) -> String {
    (0..fields).map(text).collect::<Vec<_>>().join(separator)
}

/// Names and values of all fields as members of a JSON object: `"field0":"{value0}"`.
pub fn members(fields: u32) -> String {
    per_field(fields, ",", |number| format!(r#""field{number}":"{{value{number}}}""#))
}
