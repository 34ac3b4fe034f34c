//! Reads the body of a request: text, a file, or one that `json`, `form`, and `multipart` build from values.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use wire::braces::{self, Piece, pieces};
use wire::http1::{BodyKind, RequestBody};

use super::json;
use super::own_step;
use super::reading::Reading;
use super::tree::{Entry, Node, Value};
use super::variables::Variables;
use crate::body_file::BODY_BYTES_MAX;
use crate::multipart::{self, FilePart};

/// Characters that a form does not leave as they are (WHATWG URL standard, section 1.3).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'*');

/// Reads the body of a step, and the Content-Type that follows from it. `given` is the Content-Type of its headers.
pub(crate) fn read(
    node: &Node,
    given: Option<&str>,
    variables: &mut Variables,
    reading: &mut Reading<'_>,
) -> Option<RequestBody> {
    let mut entries = node.entries().iter().filter(|entry| own_step::is_body(&entry.key));
    let entry = entries.next()?;
    if let Some(second) = entries.next() {
        let what = format!("`{}` and `{}` exclude each other", entry.key, second.key);
        reading.at(second.key_at, what, "remove one of them");
        return None;
    }
    let (bytes, kind) = match entry.key.as_str() {
        "body" => {
            variables.use_in(&entry.value, entry.value.text()?, reading);
            (entry.value.text()?.as_bytes().to_vec(), None)
        }
        "body-file" => {
            let bytes = file(&entry.value, reading)?;
            variables.use_in_file(&entry.value, &bytes, reading);
            (bytes, None)
        }
        "json" => (json(entry, variables, reading)?, Some(BodyKind::Json)),
        "form" => (form(&entry.value, variables, reading), Some(BodyKind::Form)),
        _ => return multipart(entry, given, variables, reading),
    };
    let misfit = kind.zip(given).filter(|(kind, given)| BodyKind::of(given) != *kind);
    if let Some((_, given)) = misfit {
        let what = format!("`{}` makes another body than the Content-Type {given:?} says", entry.key);
        reading.at(entry.key_at, what, "remove the header, or write the body as a text in `body`");
    }
    let content_type = match kind {
        Some(BodyKind::Json) => Some("application/json".to_owned()),
        Some(BodyKind::Form) => Some("application/x-www-form-urlencoded".to_owned()),
        _ => None,
    };
    Some(RequestBody { bytes, content_type: content_type.filter(|_| given.is_none()) })
}

fn file(node: &Node, reading: &mut Reading<'_>) -> Option<Vec<u8>> {
    match reading.folder.read(node.text()?, BODY_BYTES_MAX) {
        Ok(bytes) => Some(bytes),
        Err((what, help)) => {
            reading.at(node.at, what, help);
            None
        }
    }
}

fn json(entry: &Entry, variables: &mut Variables, reading: &mut Reading<'_>) -> Option<Vec<u8>> {
    if matches!(entry.value.value, Value::Text(_)) {
        let help = "write `json: { name: value }`; a text that is JSON already belongs in `body`";
        reading.at(entry.value.at, "`json` is a mapping or a list", help);
        return None;
    }
    json::use_variables(&entry.value, variables, reading);
    Some(json::text(&entry.value).into_bytes())
}

fn form(node: &Node, variables: &mut Variables, reading: &mut Reading<'_>) -> Vec<u8> {
    let mut fields = Vec::new();
    for Entry { key, value, .. } in node.entries() {
        for item in value.items() {
            let text = item.text().unwrap_or_default();
            variables.use_in(item, text, reading);
            fields.push(format!("{}={}", utf8_percent_encode(key, ENCODED), encoded(text)));
        }
    }
    fields.join("&").into_bytes()
}

/// Text encoded for a form. Names in braces stay, because their values are encoded when they are known.
fn encoded(text: &str) -> String {
    let pieces = pieces(text.as_bytes()).map(|piece| match piece {
        Piece::Text(bytes) => utf8_percent_encode(&String::from_utf8_lossy(bytes), ENCODED).to_string(),
        Piece::Name(name) => format!("{{{name}}}"),
        Piece::Raw(name) => format!("{{{name}{}}}", braces::RAW),
    });
    pieces.collect()
}

fn multipart(
    entry: &Entry,
    given: Option<&str>,
    variables: &mut Variables,
    reading: &mut Reading<'_>,
) -> Option<RequestBody> {
    if given.is_some() {
        let what = "the Content-Type of `multipart` names the boundary of its parts, and cannot be given";
        reading.at(entry.key_at, what, "remove the header");
    }
    let mut parts = Vec::new();
    for Entry { key, key_at, value } in entry.value.entries() {
        let (head, content) = match value.get("file") {
            None => {
                let text = value.text().unwrap_or_default();
                if matches!(value.value, Value::Map(_)) {
                    reading.at(*key_at, "the part has no `file`", "write `{ file: photo.png }`, or a text");
                }
                variables.use_in(value, text, reading);
                (multipart::head(key, None), text.as_bytes().to_vec())
            }
            Some(node) => {
                let name = value.text_of("name").or(node.text()).unwrap_or_default();
                let content_type = value.text_of("type").unwrap_or("application/octet-stream");
                if content_type.contains(char::is_control) {
                    reading.at(
                        *key_at,
                        "the `type` has a control character",
                        "write a type such as image/png",
                    );
                }
                let head = multipart::head(key, Some(FilePart { name, content_type }));
                // The content of a file is sent unchanged.
                (head, braces::literal(&file(node, reading)?))
            }
        };
        parts.push((braces::literal(head.as_bytes()), content));
    }
    Some(multipart::body(&parts))
}
