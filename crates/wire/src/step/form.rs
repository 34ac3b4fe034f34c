//! Forms of single values, from which checks, their errors, and the schema of plans derive.

use alloc::string::String;

/// Form of a single value.
#[derive(Debug)]
pub struct Form {
    /// Description, as in "a duration such as 10s".
    pub words: &'static str,
    /// Checks a text. The error is a message.
    pub check: fn(&str) -> Result<(), String>,
    /// The form in the schema of plans. The check is stricter.
    pub schema: FormSchema,
}

/// Form in the JSON Schema of plans.
#[derive(Clone, Copy, Debug)]
pub enum FormSchema {
    /// Any text, number, or boolean.
    Anything,
    /// A text that matches this pattern.
    Pattern(&'static str),
    /// A number, or a text that matches this pattern.
    NumberOr(&'static str),
    /// A boolean.
    Truth,
}
