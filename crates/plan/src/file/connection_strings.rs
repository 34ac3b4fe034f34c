//! Replaces connection strings in a plan by URLs, before the plan is read.

use super::findings::Findings;
use super::tree::{Node, Value};
use crate::database::connection_string_url;

/// Keys with database URLs as values.
const KEYS: [&str; 2] = ["url", "database"];

/// Replaces the connection strings of all URLs. Errors still point at the text of the plan.
pub(crate) fn resolve(node: &mut Node, findings: &mut Findings) {
    match &mut node.value {
        Value::Text(_) => {}
        Value::List(items) => items.iter_mut().for_each(|item| resolve(item, findings)),
        Value::Map(entries) => {
            for entry in entries {
                if KEYS.contains(&entry.key.as_str()) {
                    replace(&mut entry.value, findings);
                }
                resolve(&mut entry.value, findings);
            }
        }
    }
}

fn replace(node: &mut Node, findings: &mut Findings) {
    match &mut node.value {
        Value::Text(text) => match connection_string_url(&text.text) {
            Some(Ok(url)) => text.text = url,
            // The error shows no line, because it may have a password.
            Some(Err((what, help))) => {
                findings.whole(what, help);
                text.text = "postgres:///".to_owned();
            }
            None => {}
        },
        Value::List(items) => items.iter_mut().for_each(|item| replace(item, findings)),
        Value::Map(_) => {}
    }
}
