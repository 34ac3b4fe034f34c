//! Values of a plan as they are written: texts, lists, and mappings, each with its place.

use alloc::string::String;
use alloc::vec::Vec;
use core::slice;

/// Byte range of a file; the end is exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset behind the last byte.
    pub end: usize,
}

impl Span {
    /// Creates a range, which is empty if `end` is before `start`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }

    /// Text of the span. Empty if the span does not fit the source.
    pub fn slice(self, source: &str) -> &str {
        source.get(self.start..self.end).unwrap_or_default()
    }

    /// The span without trailing spaces and line breaks.
    #[must_use]
    pub fn trimmed(self, source: &str) -> Self {
        Self::new(self.start, self.start + self.slice(source).trim_end().len())
    }
}

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// Place of the value.
    pub at: Span,
    /// The value.
    pub value: Value,
}

/// Kinds of values. Numbers, dates, and booleans are texts here, because only the reader of a key knows its type.
#[derive(Clone, Debug)]
pub enum Value {
    /// A scalar.
    Text(Text),
    /// A list.
    List(Vec<Node>),
    /// A mapping.
    Map(Vec<Entry>),
}

/// A scalar.
#[derive(Clone, Debug)]
pub struct Text {
    /// The text, without quotes.
    pub text: String,
    /// Whether the text is neither quoted nor a block scalar.
    pub is_plain: bool,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Place of the key.
    pub key_at: Span,
    /// Value of the key.
    pub value: Node,
}

impl Node {
    /// Text of a scalar. `None` for null values, lists, and mappings.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) if !self.is_nothing() => Some(&text.text),
            _ => None,
        }
    }

    /// Whether the value is null: empty, or an unquoted `~` or `null`.
    pub fn is_nothing(&self) -> bool {
        matches!(&self.value, Value::Text(text)
            if text.is_plain && matches!(text.text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// Entries of a mapping. Empty for other values.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Items of a list. For other values, the value itself.
    pub fn items(&self) -> &[Self] {
        match &self.value {
            Value::List(items) => items,
            _ => slice::from_ref(self),
        }
    }

    /// Value of a key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        Some(&self.entry(key)?.value).filter(|node| !node.is_nothing())
    }

    /// Key and value of a mapping.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// Text of a key.
    pub fn text_of(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// Number of values in the tree. Keys do not count.
    pub fn count(&self) -> usize {
        1 + match &self.value {
            Value::Text(_) => 0,
            Value::List(items) => items.iter().map(Self::count).sum(),
            Value::Map(entries) => entries.iter().map(|entry| entry.value.count()).sum(),
        }
    }

    /// Place of a part of the text. It is exact if the source has the text unchanged. Otherwise it is the first occurrence of the
    /// part, or the whole text.
    pub fn part(&self, source: &str, start: usize, end: usize) -> Span {
        let Value::Text(Text { text, .. }) = &self.value else { return self.at };
        let raw = self.at.slice(source);
        // The text begins after a quote, or immediately.
        let before =
            (0..2).find(|before| raw.get(*before..).is_some_and(|raw| raw.starts_with(text.as_str())));
        if let Some(before) = before {
            return Span::new(self.at.start + before + start, self.at.start + before + end);
        }
        match text
            .get(start..end)
            .filter(|part| !part.is_empty())
            .and_then(|part| Some((part, raw.find(part)?)))
        {
            Some((part, before)) => Span::new(self.at.start + before, self.at.start + before + part.len()),
            None => self.at,
        }
    }
}
