//! The tree of a YAML file: texts as they were written, each with its place.

use super::span::Span;
use crate::units;

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) at: Span,
    pub(crate) value: Value,
}

/// What a value is. Numbers, dates and truth values are texts here: who reads them knows what they ought to be.
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
    /// Without quotes, and not in a block of its own.
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
    /// The text of a scalar that says something.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) if !self.is_nothing() => Some(&text.text),
            _ => None,
        }
    }

    /// Whether nothing is written: no text, `~` or `null` without quotes.
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(&self.value, Value::Text(text)
            if text.is_plain && matches!(text.text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// The entries of a mapping; none for anything else.
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list, or the value itself.
    pub(crate) fn items(&self) -> &[Self] {
        match &self.value {
            Value::List(items) => items,
            _ => std::slice::from_ref(self),
        }
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        Some(&self.entry(key)?.value).filter(|node| !node.is_nothing())
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The text of a key.
    pub(crate) fn text_of(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// The time of a key, if it can be read.
    pub(crate) fn duration_ns(&self, key: &str) -> Option<u64> {
        units::duration_ns(self.text_of(key)?).ok()
    }

    /// How many values there are in all, keys not counted.
    pub(crate) fn count(&self) -> usize {
        1 + match &self.value {
            Value::Text(_) => 0,
            Value::List(items) => items.iter().map(Self::count).sum(),
            Value::Map(entries) => entries.iter().map(|entry| entry.value.count()).sum(),
        }
    }

    /// Where a part of the text is in the source: exactly if the text stands there as it is, else where the part is first
    /// seen, else all of it.
    pub(crate) fn part(&self, source: &str, start: usize, end: usize) -> Span {
        let Value::Text(Text { text, .. }) = &self.value else { return self.at };
        let raw = self.at.slice(source);
        // Behind a quote, or at once.
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
