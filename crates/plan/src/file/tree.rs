//! Tree of a YAML file: texts as they were written, each with its place.

use super::span::Span;
use crate::units;

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) at: Span,
    pub(crate) value: Value,
}

/// Kinds of values. Numbers, dates, and booleans are texts here, because only the reader of a key knows its type.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(Text),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A scalar.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) text: String,
    /// Whether it has no quotes and is not a block scalar.
    pub(crate) is_plain: bool,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_at: Span,
    pub(crate) value: Node,
}

impl Node {
    /// Text of a scalar. `None` for null values, lists, and mappings.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) if !self.is_nothing() => Some(&text.text),
            _ => None,
        }
    }

    /// Whether the value is null: empty, or an unquoted `~` or `null`.
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(&self.value, Value::Text(text)
            if text.is_plain && matches!(text.text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// Entries of a mapping. Empty for other values.
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Items of a list. For other values, the value itself.
    pub(crate) fn items(&self) -> &[Self] {
        match &self.value {
            Value::List(items) => items,
            _ => std::slice::from_ref(self),
        }
    }

    /// Value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        Some(&self.entry(key)?.value).filter(|node| !node.is_nothing())
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// Text of a key.
    pub(crate) fn text_of(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// Duration of a key in nanoseconds. `None` if it is absent or cannot be parsed.
    pub(crate) fn duration_ns(&self, key: &str) -> Option<u64> {
        units::duration_ns(self.text_of(key)?).ok()
    }

    /// Number of values in the tree. Keys do not count.
    pub(crate) fn count(&self) -> usize {
        1 + match &self.value {
            Value::Text(_) => 0,
            Value::List(items) => items.iter().map(Self::count).sum(),
            Value::Map(entries) => entries.iter().map(|entry| entry.value.count()).sum(),
        }
    }

    /// Place of a part of the text. It is exact if the source has the text unchanged. Otherwise it is the first occurrence of the
    /// part, or the whole text.
    pub(crate) fn part(&self, source: &str, start: usize, end: usize) -> Span {
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
