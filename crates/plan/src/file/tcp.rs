//! `tcp`: a step over raw TCP.

use wire::braces::{Piece, pieces};

use super::body;
use super::reading::Reading;
use super::tree::{Entry, Node};
use super::variables::Variables;
use crate::raw_tcp::{Raw, RawText};
use crate::study::names_in;

/// The key of such a step.
pub(crate) const KEY: &str = "tcp";

/// Keys of a step that only requests of HTTP have.
const OF_HTTP: [&str; 4] = ["headers", "redirects", "expect", "save"];

/// Whether a step is one.
pub(crate) fn is_one(step: &Node) -> bool {
    step.get(KEY).is_some()
}

/// Reads the step; what is wrong with it is among the findings. `None`: it is none, or wrong.
pub(crate) fn read(step: &Node, variables: &mut Variables, reading: &mut Reading<'_>) -> Option<Raw> {
    let entry = step.entry(KEY)?;
    let is_foreign =
        |other: &&Entry| OF_HTTP.contains(&other.key.as_str()) || body::KINDS.contains(&other.key.as_str());
    if let Some(other) = step.entries().iter().find(is_foreign) {
        let what = format!("`{}` applies to HTTP, and the step is raw TCP", other.key);
        reading.at(other.key_at, what, "remove it; `tcp` says what is sent and where the reply ends");
    }
    let node = &entry.value;
    let receive = node.get("receive");
    let until = receive.and_then(|receive| receive.get("until"));
    let until = until.and_then(|until| Some(constant(until, until.text()?, reading)));
    let text = RawText {
        send: node.text_of("send"),
        text: node.text_of("text"),
        write: node.text_of("write"),
        bytes: receive.and_then(|receive| receive.text_of("bytes")),
        until: until.as_deref(),
    };
    if let Some(written) = node.get("text") {
        variables.use_in(written, written.text().unwrap_or_default(), reading);
    }
    match text.read() {
        Ok(raw) => Some(raw),
        Err(wrong) => {
            let of = |node: &Node| node.entry(wrong.part).map(|entry| entry.value.at);
            let at = of(node).or_else(|| receive.and_then(of)).unwrap_or(entry.key_at);
            if !reading.findings.has_at(at) {
                reading.at(at, wrong.what, wrong.help);
            }
            None
        }
    }
}

/// The end of a reply, which is the same for all: no values, and `{{name}}` for literal braces.
fn constant(node: &Node, text: &str, reading: &mut Reading<'_>) -> String {
    if let Some((name, start, end)) = names_in(text).next() {
        let at = node.part(reading.source, start, end);
        let help = format!("write the bytes themselves; {{{{{name}}}}} for literal braces");
        reading.at(at, "the end of a reply contains no value", help);
    }
    let literal = pieces(text.as_bytes()).filter_map(|piece| match piece {
        Piece::Text(bytes) => Some(bytes),
        Piece::Name(_) | Piece::Raw(_) => None,
    });
    String::from_utf8_lossy(&literal.collect::<Vec<_>>().concat()).into_owned()
}
