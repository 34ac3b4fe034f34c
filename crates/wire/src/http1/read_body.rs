//! Reads the body of a step: text, a file, or one that `json`, `form`, and `multipart` build from values.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::encoding::BodyKind;
use super::keys::BODIES;
use super::request::RequestBody;
use crate::braces::{self, Piece, pieces};
use crate::multipart::{self, FilePart, FormBody};
use crate::step::tree::{Entry, Node, Value};
use crate::step::{Reader, json};

/// Max bytes of a file with a body.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Reads the body of a step, and the Content-Type that follows from it. `given` is the Content-Type of its headers.
pub(super) fn read(node: &Node, given: Option<&str>, reader: &mut dyn Reader) -> Option<RequestBody> {
    let mut entries = node.entries().iter().filter(|entry| BODIES.contains(&entry.key.as_str()));
    let entry = entries.next()?;
    if let Some(second) = entries.next() {
        let what = format!("`{}` and `{}` exclude each other", entry.key, second.key);
        reader.report(second.key_at, what, "remove one of them".into());
        return None;
    }
    let (bytes, kind) = match entry.key.as_str() {
        "body" => {
            reader.resolve_names(&entry.value, entry.value.text()?);
            (entry.value.text()?.as_bytes().to_vec(), None)
        }
        "body-file" => {
            let bytes = file(&entry.value, reader)?;
            reader.resolve_names_in_file(&entry.value, &bytes);
            (bytes, None)
        }
        "json" => (json(entry, reader)?, Some(BodyKind::Json)),
        "form" => (form(&entry.value, reader), Some(BodyKind::Form)),
        _ => return multipart(entry, given, reader),
    };
    let misfit = kind.zip(given).filter(|(kind, given)| BodyKind::of(given) != *kind);
    if let Some((_, given)) = misfit {
        let what = format!("`{}` makes another body than the Content-Type {given:?} says", entry.key);
        let help = "remove the header, or write the body as a text in `body`";
        reader.report(entry.key_at, what, help.into());
    }
    let content_type = match kind {
        Some(BodyKind::Json) => Some("application/json".to_owned()),
        Some(BodyKind::Form) => Some("application/x-www-form-urlencoded".to_owned()),
        _ => None,
    };
    Some(RequestBody { bytes, content_type: content_type.filter(|_| given.is_none()) })
}

fn file(node: &Node, reader: &mut dyn Reader) -> Option<Vec<u8>> {
    match reader.file(node.text()?, FILE_BYTES_MAX) {
        Ok(bytes) => Some(bytes),
        Err((what, help)) => {
            reader.report(node.at, what, help);
            None
        }
    }
}

fn json(entry: &Entry, reader: &mut dyn Reader) -> Option<Vec<u8>> {
    if matches!(entry.value.value, Value::Text(_)) {
        let help = "write `json: { name: value }`; a text that is JSON already belongs in `body`";
        reader.report(entry.value.at, "`json` is a mapping or a list".into(), help.into());
        return None;
    }
    Some(json::text(&entry.value, &mut |node, text| reader.resolve_names(node, text)).into_bytes())
}

fn form(node: &Node, reader: &mut dyn Reader) -> Vec<u8> {
    let mut fields = Vec::new();
    for Entry { key, value, .. } in node.entries() {
        for item in value.items() {
            let text = item.text().unwrap_or_default();
            reader.resolve_names(item, text);
            fields.push(format!("{}={}", percent_encoded(key.as_bytes()), encoded(text)));
        }
    }
    fields.join("&").into_bytes()
}

/// Text encoded for a form. Names in braces stay, because their values are encoded when they are known.
fn encoded(text: &str) -> String {
    let pieces = pieces(text.as_bytes()).map(|piece| match piece {
        Piece::Text(bytes) => percent_encoded(bytes),
        Piece::Name(name) => format!("{{{name}}}"),
        Piece::Raw(name) => format!("{{{name}{}}}", braces::RAW),
    });
    pieces.collect()
}

/// Bytes of a form (WHATWG URL standard, section 1.3), with spaces as `%20`.
fn percent_encoded(bytes: &[u8]) -> String {
    let encoded = bytes.iter().map(|byte| match byte {
        b'-' | b'.' | b'_' | b'*' => char::from(*byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(*byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    encoded.collect()
}

fn multipart(entry: &Entry, given: Option<&str>, reader: &mut dyn Reader) -> Option<RequestBody> {
    if given.is_some() {
        let what = "the Content-Type of `multipart` names the boundary of its parts, and cannot be given";
        reader.report(entry.key_at, what.into(), "remove the header".into());
    }
    let mut parts = Vec::new();
    for Entry { key, key_at, value } in entry.value.entries() {
        let (head, content) = match value.get("file") {
            None => {
                let text = value.text().unwrap_or_default();
                if matches!(value.value, Value::Map(_)) {
                    let help = "write `{ file: photo.png }`, or a text";
                    reader.report(*key_at, "the part has no `file`".into(), help.into());
                }
                reader.resolve_names(value, text);
                (multipart::head(key, None), text.as_bytes().to_vec())
            }
            Some(node) => {
                let name = value.text_of("name").or(node.text()).unwrap_or_default();
                let content_type = value.text_of("type").unwrap_or("application/octet-stream");
                if content_type.contains(char::is_control) {
                    let what = "the `type` has a control character";
                    reader.report(*key_at, what.into(), "write a type such as image/png".into());
                }
                let head = multipart::head(key, Some(FilePart { name, content_type }));
                // The content of a file is sent unchanged.
                (head, braces::literal(&file(node, reader)?))
            }
        };
        parts.push((braces::literal(head.as_bytes()), content));
    }
    let FormBody { bytes, content_type } = multipart::body(&parts);
    Some(RequestBody { bytes, content_type: Some(content_type) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_encode_all_but_letters_digits_and_four_signs() {
        assert_eq!(encoded("a-._*~ ä/{name}{x:raw}"), "a-._*%7E%20%C3%A4%2F{name}{x:raw}");
    }
}
