//! Redacts secrets: texts pass through here on their way into the file.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use evidence::{Event, Failure};
use record::{Ledger, LedgerEntry};
use serde::Serialize;
use serde_json::Value;

use crate::Result;
use crate::begin::json;
use crate::error::StoreError;

/// Function that returns a text without its secrets.
type Redact = dyn Fn(&[u8]) -> Vec<u8> + Send + Sync;

/// Removes secrets from all texts written or replied by systems. The default changes nothing.
#[derive(Clone, Default)]
pub(crate) struct Redaction(Option<Arc<Redact>>);

impl Redaction {
    pub(crate) fn new(redact: impl Fn(&[u8]) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(redact)))
    }

    pub(crate) fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        match &self.0 {
            Some(redact) => Cow::Owned(redact(bytes)),
            None => Cow::Borrowed(bytes),
        }
    }

    pub(crate) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match &self.0 {
            Some(redact) => Cow::Owned(String::from_utf8_lossy(&redact(text.as_bytes())).into_owned()),
            None => Cow::Borrowed(text),
        }
    }

    pub(crate) fn optional(&self, text: Option<&String>) -> Option<String> {
        text.map(|text| self.text(text).into_owned())
    }

    /// Serializes a redacted value for a JSON column.
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<String> {
        if self.0.is_none() {
            return json(value);
        }
        let tree = serde_json::to_value(value);
        let mut tree = tree.map_err(|_| StoreError::Unstorable { what: "a value that JSON cannot write" })?;
        self.redact_tree(&mut tree);
        json(&tree)
    }

    fn redact_tree(&self, tree: &mut Value) {
        match tree {
            Value::String(text) => *text = self.text(text).into_owned(),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_tree(item)),
            Value::Object(entries) => entries.values_mut().for_each(|value| self.redact_tree(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    pub(crate) fn errors(&self, errors: &Ledger) -> Ledger {
        if self.0.is_none() {
            return errors.clone();
        }
        let mut redacted = Ledger::default();
        for entry in errors.entries() {
            let message = self.text(&entry.message).into_owned();
            redacted.insert(LedgerEntry { message, ..entry.clone() });
        }
        redacted.add_others(errors.others());
        redacted
    }

    pub(crate) fn failure(&self, failure: &Failure) -> Failure {
        Failure {
            stage: failure.stage.clone(),
            process: self.optional(failure.process.as_ref()),
            what: self.text(&failure.what).into_owned(),
            way_out: self.text(&failure.way_out).into_owned(),
        }
    }

    pub(crate) fn event(&self, event: &Event) -> Event {
        let mut output = self.bytes(&event.output).into_owned();
        output.truncate(Event::OUTPUT_BYTES_MAX);
        Event { output, failure: self.optional(event.failure.as_ref()), ..event.clone() }
    }
}

impl fmt::Debug for Redaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Redaction" } else { "Redaction(nothing)" })
    }
}
