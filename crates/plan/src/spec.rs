//! Values of a load as given, typed and with their places. Command lines and plan files fill these types.

mod compare;
pub(crate) mod expects;
mod load;
mod prepare;
mod sql;
pub(crate) mod values;

pub use expects::ExpectSpec;
pub use load::LoadSpec;
pub use sql::{SqlSpec, Variable};
pub use values::arrival_processes;

pub(crate) use compare::{COMPARE_KEYS, CompareSpec};
pub(crate) use load::LOAD_KEYS;
pub(crate) use prepare::{PREPARE_KEYS, PrepareSpec};
pub(crate) use sql::SQL_KEYS;
pub(crate) use values::ValueFormat;

use crate::file::Span;
use crate::file::tree::{Entry, Node, Value};

/// Baseline that a comparison requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AskedBaseline {
    /// Variant of the plan, by its name in reports.
    Variant(String),
    /// Stored run or study, by exactly one of these keys.
    Stored {
        /// Label. The newest study with it is used.
        label: Option<String>,
        /// Path of a store file.
        file: Option<String>,
        /// Name of the run or study.
        run: Option<String>,
    },
}

/// Names of a value. Command line and plan file each print their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Key in a plan file; empty for a value that only a command line has.
    pub key: &'static str,
    /// Flag on a command line; empty for a value that only a plan file has.
    pub flag: &'static str,
}

/// Place of a value in a plan file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct At {
    /// Span of the key.
    pub(crate) key: Span,
    /// Span of the whole value.
    pub(crate) value: Span,
    /// Span that an error points at: the value, or the key of a list or a mapping.
    pub(crate) point: Span,
}

/// Reason why a text cannot be parsed, and the help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InvalidText {
    pub(crate) what: String,
    pub(crate) help: String,
}

/// Given value and its place. A text that cannot be parsed counts as given, because it may still contradict another value.
#[derive(Clone, Debug, PartialEq)]
pub struct Spanned<T> {
    value: Result<T, InvalidText>,
    at: Option<At>,
}

impl At {
    pub(crate) fn of(entry: &Entry) -> Self {
        let is_long = !matches!(entry.value.value, Value::Text(_));
        let point = if is_long { entry.key_at } else { entry.value.at };
        Self { key: entry.key_at, value: entry.value.at, point }
    }
}

impl InvalidText {
    pub(crate) fn new(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { what: what.into(), help: help.into() }
    }

    /// Uses the message of a unit parser, but with another help.
    pub(crate) fn from_units(what: String, help: impl Into<String>) -> Self {
        Self { help: help.into(), ..Self::from(what) }
    }
}

/// Splits the message of a unit parser at the semicolon before its help.
impl From<String> for InvalidText {
    fn from(what: String) -> Self {
        match what.split_once("; write ") {
            Some((what, help)) => match help.strip_prefix("it like ") {
                Some(examples) => Self::new(what, format!("write a value such as {examples}")),
                None => Self::new(what, format!("write {help}")),
            },
            None => Self::new(what, "correct the value"),
        }
    }
}

impl<T> Spanned<T> {
    /// Parses a text of a command line.
    pub(crate) fn from_text(text: &str, of: &ValueFormat<T>) -> Self {
        Self { value: (of.read)(text), at: None }
    }

    /// Parses a value of a plan file. `None` if it is empty, or a list or mapping where a text is expected.
    pub(crate) fn from_entry(entry: &Entry, of: &ValueFormat<T>) -> Option<Self> {
        if entry.value.is_nothing() {
            return None;
        }
        let value = match of.read_node {
            Some(read) => read(&entry.value),
            None => (of.read)(entry.value.text()?),
        };
        Some(Self { value, at: Some(At::of(entry)) })
    }

    /// Wraps an already parsed value of a plan file.
    pub(crate) fn with_node(value: Result<T, InvalidText>, node: &Node) -> Self {
        Self { value, at: Some(At { key: node.at, value: node.at, point: node.at }) }
    }

    /// The value. `None` if it could not be parsed.
    pub fn get(&self) -> Option<&T> {
        self.value.as_ref().ok()
    }

    pub(crate) fn wrong(&self) -> Option<&InvalidText> {
        self.value.as_ref().err()
    }

    pub(crate) fn at(&self) -> Option<At> {
        self.at
    }

    /// Sets the place.
    pub(crate) fn placed(self, at: Option<At>) -> Self {
        Self { at, ..self }
    }

    /// Parses the value further, at its old place.
    pub(crate) fn and_then<U>(self, read: impl FnOnce(T) -> Result<U, InvalidText>) -> Spanned<U> {
        Spanned { value: self.value.and_then(read), at: self.at }
    }

    /// Converts the value, at its old place.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: self.value.map(change), at: self.at }
    }
}

impl<T> From<T> for Spanned<T> {
    fn from(value: T) -> Self {
        Self { value: Ok(value), at: None }
    }
}

/// Declares a group of values once. The list generates the struct, the names of fields, the documented keys of the plan file, and
/// the parsers of flags and keys.
macro_rules! spec {
    (@is_required) => { false };
    (@is_required required) => { true };
    (
        $(#[$doc:meta])*
        $vis:vis struct $spec:ident with $keys:ident {
            $($name:ident $key:literal $flag:literal: $field:ident: $type:ty = $of:ident, $example:literal, $sentence:literal $(, $required:ident)?;)*
        }
        on command lines only {
            $($flag_name:ident $flag_key:literal $own_flag:literal: $flag_field:ident: $flag_type:ty = $flag_of:ident;)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $vis struct $spec {
            $(#[doc = $sentence] $vis $field: Option<crate::spec::Spanned<$type>>,)*
            $(#[doc = $own_flag] $vis $flag_field: Option<crate::spec::Spanned<$flag_type>>,)*
        }

        #[allow(missing_docs, reason = "each is the name of the field of its name")]
        impl crate::spec::Field {
            $(pub const $name: Self = Self { key: $key, flag: $flag };)*
            $(pub const $flag_name: Self = Self { key: $flag_key, flag: $own_flag };)*
        }

        /// Keys of the group in a plan file.
        pub(crate) const $keys: &[crate::file::Key] = &[
            $(crate::file::Key {
                name: $key,
                sentence: $sentence,
                example: $example,
                kind: crate::spec::values::$of.kind,
                is_required: crate::spec::spec!(@is_required $($required)?),
            },)*
        ];

        impl $spec {
            /// Sets a value from the text of a flag.
            #[allow(dead_code, reason = "some groups are in plan files only")]
            $vis fn write(&mut self, field: crate::spec::Field, text: &str) {
                $(if field == crate::spec::Field::$name {
                    self.$field = Some(crate::spec::Spanned::from_text(text, &crate::spec::values::$of));
                })*
                $(if field == crate::spec::Field::$flag_name {
                    self.$flag_field = Some(crate::spec::Spanned::from_text(text, &crate::spec::values::$flag_of));
                })*
            }

            /// Flags, and whether each was given.
            #[allow(dead_code, reason = "not every group is asked for it")]
            pub(crate) fn given(&self) -> Vec<(&'static str, bool)> {
                vec![$(($flag, self.$field.is_some()),)* $(($own_flag, self.$flag_field.is_some()),)*]
            }

            /// Reads the values from a mapping of a plan file.
            pub(crate) fn from_node(node: &crate::file::tree::Node) -> Self {
                Self {
                    $($field: node.entry($key).and_then(|entry| {
                        crate::spec::Spanned::from_entry(entry, &crate::spec::values::$of)
                    }),)*
                    $($flag_field: None,)*
                }
            }
        }
    };
}

pub(crate) use spec;
