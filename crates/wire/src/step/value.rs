//! Values of step keys, typed by the kinds of the keys.

use alloc::string::String;
use alloc::vec::Vec;

/// A value of a step key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Text that may have variables.
    Text(Text),
    /// Bytes without variables.
    Bytes(Vec<u8>),
    /// Number of bytes.
    Size(Size),
    /// Whole number.
    Count(u64),
    /// Truth value.
    Truth(bool),
    /// A variable by its number, which records show by its name.
    Variable(u16),
    /// Absent value, shown as `null` in records.
    Nothing,
    /// Values by key, in the order of the list of keys. Absent keys are omitted.
    Table(Vec<(&'static str, Self)>),
    /// Values of one kind.
    List(Vec<Self>),
    /// Values by names that the plan chooses, in its order.
    Named(Vec<(String, Self)>),
}

/// Text that may have variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The text as its author wrote it, for titles.
    pub written: String,
    /// Text to send, with names in braces for variables, in the syntax of [`crate::braces`].
    pub template: Vec<u8>,
}

/// Number of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// The number as its author wrote it, for titles: `4KiB`.
    pub written: String,
    /// Number of bytes.
    pub bytes: u64,
}

impl Value {
    /// Value of a key in a table. `None` if the key is absent, or the value is not a table.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Table(entries) => entries.iter().find(|(name, _)| *name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The text. `None` if the value is not a text.
    pub fn text(&self) -> Option<&Text> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The bytes. `None` if the value is not bytes.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The size. `None` if the value is not a size.
    pub fn size(&self) -> Option<&Size> {
        match self {
            Self::Size(size) => Some(size),
            _ => None,
        }
    }
}
