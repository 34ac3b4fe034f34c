//! Error packets of servers.

use alloc::format;
use alloc::string::String;

use super::fields::Fields;
use crate::sql::{ServerError, SqlState};

/// Max bytes that are kept of an error's text.
const TEXT_BYTES_MAX: usize = 1024;
/// Errors that end the connection: shutdown, killed, idle timeout.
const FATAL_ERRORS: [u16; 6] = [1053, 1077, 1079, 1080, 1927, 4031];

/// Parses the content of an error packet. `None` if it is malformed.
pub(super) fn read(payload: &[u8]) -> Option<ServerError> {
    let mut fields = Fields::of(payload);
    let (_kind, number) = (fields.byte()?, fields.u16_le()?);
    // An error before the log-in has no SQLSTATE.
    let sqlstate = match fields.rest() {
        [b'#', ..] => SqlState::new(&fields.bytes(6)?[1..]),
        _ => SqlState(*b"HY000"),
    };
    let text = fields.rest();
    let text = String::from_utf8_lossy(&text[..text.len().min(TEXT_BYTES_MAX)]).into_owned();
    Some(ServerError {
        sqlstate,
        number,
        text,
        is_fatal: FATAL_ERRORS.contains(&number),
        ..ServerError::default()
    })
}

/// Formats an error as one line.
pub(super) fn line(server_error: &ServerError) -> String {
    format!("{} ({}): {}", server_error.number, server_error.sqlstate.as_str(), server_error.text)
}
