//! What somebody asks for, as typed values with their places. Command lines and plan files fill it alike.

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
pub(crate) use values::Of;

use crate::file::Span;
use crate::file::tree::{Entry, Node, Value};

/// What variants are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AskedBaseline {
    /// A variant of the plan, by its name in reports.
    Variant(String),
    /// A stored run or study: by one of these.
    Stored {
        /// The newest one of this label.
        label: Option<String>,
        /// The one in this file.
        file: Option<String>,
        /// The one of this name.
        run: Option<String>,
    },
}

/// What a value is called. Each front prints its own spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// In a plan file; empty for a value that only a command line has.
    pub key: &'static str,
    /// On a command line; empty for a value that only a plan file has.
    pub flag: &'static str,
}

/// Where a value stands in a plan file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct At {
    /// The key.
    pub(crate) key: Span,
    /// The whole value.
    pub(crate) value: Span,
    /// What to point at: the value, or the key of a list or a mapping.
    pub(crate) point: Span,
}

/// Why a text cannot be read, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) what: String,
    pub(crate) help: String,
}

/// A value that was given, and where. A text that cannot be read counts as given: it may still contradict another.
#[derive(Clone, Debug, PartialEq)]
pub struct Spanned<T> {
    value: Result<T, Wrong>,
    at: Option<At>,
}

impl At {
    pub(crate) fn of(entry: &Entry) -> Self {
        let is_long = !matches!(entry.value.value, Value::Text(_));
        let point = if is_long { entry.key_at } else { entry.value.at };
        Self { key: entry.key_at, value: entry.value.at, point }
    }
}

impl Wrong {
    pub(crate) fn new(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { what: what.into(), help: help.into() }
    }

    /// What a reader of units says is wrong, with another help than its own.
    pub(crate) fn of_units(what: String, help: impl Into<String>) -> Self {
        Self { help: help.into(), ..Self::from(what) }
    }
}

/// The readers of units say what is wrong, and after a semicolon what to write.
impl From<String> for Wrong {
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
    /// A text of a command line.
    pub(crate) fn of_text(text: &str, of: &Of<T>) -> Self {
        Self { value: (of.read)(text), at: None }
    }

    /// A value of a plan file; `None` if it is empty, or no text where a text belongs.
    pub(crate) fn of_entry(entry: &Entry, of: &Of<T>) -> Option<Self> {
        if entry.value.is_nothing() {
            return None;
        }
        let value = match of.read_node {
            Some(read) => read(&entry.value),
            None => (of.read)(entry.value.text()?),
        };
        Some(Self { value, at: Some(At::of(entry)) })
    }

    /// What was read of a command line.
    pub(crate) fn read(value: Result<T, Wrong>) -> Self {
        Self { value, at: None }
    }

    /// A value of a plan file, read elsewhere.
    pub(crate) fn at_node(value: Result<T, Wrong>, node: &Node) -> Self {
        Self { value, at: Some(At { key: node.at, value: node.at, point: node.at }) }
    }

    /// The value, if it can be read.
    pub fn get(&self) -> Option<&T> {
        self.value.as_ref().ok()
    }

    pub(crate) fn wrong(&self) -> Option<&Wrong> {
        self.value.as_ref().err()
    }

    pub(crate) fn at(&self) -> Option<At> {
        self.at
    }

    /// The same value at a place.
    pub(crate) fn placed(self, at: Option<At>) -> Self {
        Self { at, ..self }
    }

    /// The value that a second reading makes of it, at the same place.
    pub(crate) fn and_then<U>(self, read: impl FnOnce(T) -> Result<U, Wrong>) -> Spanned<U> {
        Spanned { value: self.value.and_then(read), at: self.at }
    }

    /// Another value at the same place.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: self.value.map(change), at: self.at }
    }
}

impl<T> From<T> for Spanned<T> {
    fn from(value: T) -> Self {
        Self { value: Ok(value), at: None }
    }
}

/// Declares a group of values once: from the list come the fields of the group, their names, the keys of the plan file with
/// their documentation, and how flags and keys are read.
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

        /// The keys of the group in a plan file.
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
            /// Takes the text of a flag.
            #[allow(dead_code, reason = "some groups are in plan files only")]
            $vis fn write(&mut self, field: crate::spec::Field, text: &str) {
                $(if field == crate::spec::Field::$name {
                    self.$field = Some(crate::spec::Spanned::of_text(text, &crate::spec::values::$of));
                })*
                $(if field == crate::spec::Field::$flag_name {
                    self.$flag_field = Some(crate::spec::Spanned::of_text(text, &crate::spec::values::$flag_of));
                })*
            }

            /// The flags, and whether each was given.
            #[allow(dead_code, reason = "not every group is asked for it")]
            pub(crate) fn given(&self) -> Vec<(&'static str, bool)> {
                vec![$(($flag, self.$field.is_some()),)* $(($own_flag, self.$flag_field.is_some()),)*]
            }

            /// The values of a mapping in a plan file.
            pub(crate) fn of_node(node: &crate::file::tree::Node) -> Self {
                Self {
                    $($field: node.entry($key).and_then(|entry| {
                        crate::spec::Spanned::of_entry(entry, &crate::spec::values::$of)
                    }),)*
                    $($flag_field: None,)*
                }
            }
        }
    };
}

pub(crate) use spec;
