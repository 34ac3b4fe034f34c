//! Checks of a reply, as flags give them.

use super::Field;

/// Texts of checks of replies, which the protocol of the request reads.
#[derive(Clone, Debug, Default)]
pub struct ExpectSpec {
    /// Texts with their keys in `expect`, in the order of the flags.
    given: Vec<(&'static str, String)>,
}

#[allow(missing_docs, reason = "each is the name of the value of its name")]
impl Field {
    pub const EXPECT_STATUS: Self = Self { key: "status", flag: "--expect-status" };
    pub const EXPECT_BODY: Self = Self { key: "body", flag: "--expect-body" };
    pub const EXPECT_BODY_REGEX: Self = Self { key: "body-matches", flag: "--expect-body-regex" };
    pub const EXPECT_HEADER: Self = Self { key: "headers", flag: "--expect-header" };
    pub const EXPECT_SIZE: Self = Self { key: "size", flag: "--expect-size" };
}

const FIELDS: [Field; 5] = [
    Field::EXPECT_STATUS,
    Field::EXPECT_BODY,
    Field::EXPECT_BODY_REGEX,
    Field::EXPECT_HEADER,
    Field::EXPECT_SIZE,
];

impl ExpectSpec {
    /// Sets a value from the text of a flag, which may be repeated.
    pub fn write(&mut self, field: Field, text: &str) {
        self.given.push((field.key, text.to_owned()));
    }

    /// Texts with their keys in `expect`, in the order of the flags.
    pub(crate) fn texts(&self) -> &[(&'static str, String)] {
        &self.given
    }

    /// Flags, and whether each was given.
    pub(crate) fn given(&self) -> [(&'static str, bool); 5] {
        FIELDS.map(|field| (field.flag, self.given.iter().any(|(key, _)| *key == field.key)))
    }

    /// Flag of a key in `expect`.
    pub(crate) fn flag(key: &str) -> &'static str {
        FIELDS.iter().find(|field| field.key == key).map_or("", |field| field.flag)
    }
}
