//! Parser of the fields of an ErrorResponse.

use alloc::string::String;

use super::fault::Fault;
use crate::blame::PeerFault;
use crate::sql::{ServerError, SqlState};

/// Max bytes of an ErrorResponse that are parsed; the rest is skipped.
pub(super) const REPORT_BYTES_MAX: usize = 8 * 1024;
/// Max bytes that are kept of its text.
const TEXT_BYTES_MAX: usize = 512;

/// Parses the fields of an ErrorResponse, as far as `content` has them.
pub(super) fn read(content: &[u8], is_whole: bool, server_error: &mut ServerError) -> Result<(), PeerFault> {
    (server_error.sqlstate, server_error.number, server_error.is_fatal) = (SqlState::default(), 0, false);
    server_error.text.clear();
    server_error.context.clear();
    let mut has_plain_severity = false;
    let mut rest = content;
    while let [kind, fields @ ..] = rest
        && *kind != 0
    {
        let (value, after) = match memchr::memchr(0, fields) {
            Some(end) => (&fields[..end], &fields[end + 1..]),
            None if is_whole => return Err(Fault::BadText.plain()),
            None => (fields, &[][..]),
        };
        match kind {
            // The untranslated severity takes precedence over the one in the server's language.
            b'V' => (has_plain_severity, server_error.is_fatal) = (true, is_fatal(value)),
            b'S' if !has_plain_severity => server_error.is_fatal = is_fatal(value),
            b'C' => server_error.sqlstate = SqlState::new(value),
            b'M' => keep_text(&mut server_error.text, value),
            b'W' => keep_text(&mut server_error.context, value),
            _ => {}
        }
        rest = after;
    }
    match (is_whole, rest) {
        (true, [0]) | (false, _) => Ok(()),
        _ => Err(Fault::BadText.plain()),
    }
}

fn is_fatal(severity: &[u8]) -> bool {
    matches!(severity, b"FATAL" | b"PANIC")
}

/// Keeps a text up to the max length, and replaces invalid UTF-8.
pub(super) fn keep_text(kept: &mut String, text: &[u8]) {
    kept.clear();
    for chunk in text[..text.len().min(TEXT_BYTES_MAX)].utf8_chunks() {
        kept.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            kept.push(char::REPLACEMENT_CHARACTER);
        }
    }
}
