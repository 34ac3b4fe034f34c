//! Queue of pending requests: statements with their values.

use std::collections::VecDeque;
use std::ops::Range;

use wire::sql::Value;

/// A pending request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// Run a statement: range of its text, range of its values, and true if its prepared form is cached.
    Run { text: Range<usize>, values: Range<usize>, is_kept: bool },
    /// Report that all requests so far are done.
    Ready,
}

/// Pending requests, in order. Their memory is reused.
#[derive(Debug, Default)]
pub(crate) struct RequestQueue {
    items: VecDeque<Item>,
    texts: String,
    /// Range of the text of each value, and true if it is a bare literal. `None` for NULL.
    values: Vec<Option<(Range<usize>, bool)>>,
    bytes: Vec<u8>,
}

impl RequestQueue {
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.texts.clear();
        self.values.clear();
        self.bytes.clear();
    }

    pub(crate) fn push(&mut self, text: &str, values: &mut dyn Iterator<Item = Value<'_>>, is_kept: bool) {
        if self.items.is_empty() {
            self.clear();
        }
        let (text_from, values_from) = (self.texts.len(), self.values.len());
        self.texts.push_str(text);
        for value in values {
            let from = self.bytes.len();
            self.bytes.extend_from_slice(value.text().unwrap_or_default());
            let at = value.text().map(|_| (from..self.bytes.len(), matches!(value, Value::Bare(_))));
            self.values.push(at);
        }
        let (text, values) = (text_from..self.texts.len(), values_from..self.values.len());
        self.items.push_back(Item::Run { text, values, is_kept });
    }

    pub(crate) fn push_ready(&mut self) {
        self.items.push_back(Item::Ready);
    }

    pub(crate) fn pop(&mut self) -> Option<Item> {
        self.items.pop_front()
    }

    /// Drops requests before the next [`Item::Ready`].
    pub(crate) fn skip_to_ready(&mut self) {
        while self.items.front().is_some_and(|item| *item != Item::Ready) {
            self.items.pop_front();
        }
    }

    pub(crate) fn text(&self, at: Range<usize>) -> &str {
        &self.texts[at]
    }

    /// Values in order.
    pub(crate) fn values(&self, at: Range<usize>) -> impl Iterator<Item = Value<'_>> {
        self.values[at].iter().map(|value| match value {
            None => Value::Null,
            Some((at, true)) => Value::Bare(&self.bytes[at.clone()]),
            Some((at, false)) => Value::Text(&self.bytes[at.clone()]),
        })
    }
}
