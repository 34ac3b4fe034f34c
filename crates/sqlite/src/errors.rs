//! Converts SQLite errors to those of the SQL protocols.

use rusqlite::Error;
use rusqlite::ffi;
use wire::sql::{ServerError, SqlState};

const TEXT_BYTES_MAX: usize = 500;

/// Prefixes of the generic error for a missing object.
const MISSING: [&str; 2] = ["no such ", "has no column named "];

/// Converts an error: its extended result code becomes the number, and an equivalent SQLSTATE is chosen.
pub(crate) fn server_error(error: &Error) -> ServerError {
    let (number, text) = match error {
        Error::SqliteFailure(failure, text) => {
            (failure.extended_code, text.clone().unwrap_or_else(|| failure.to_string()))
        }
        Error::SqlInputError { error, msg, .. } => (error.extended_code, msg.clone()),
        other => (ffi::SQLITE_MISUSE, other.to_string()),
    };
    let text: String = text.chars().take(TEXT_BYTES_MAX).collect();
    let is_missing = number == ffi::SQLITE_ERROR && MISSING.iter().any(|words| text.contains(words));
    let sqlstate = SqlState(if is_missing { *b"42704" } else { *state(number) });
    ServerError { sqlstate, number: u16::try_from(number).unwrap_or(0), text, ..ServerError::default() }
}

fn state(number: i32) -> &'static [u8; 5] {
    match number {
        // Another connection wrote after this transaction began to read. Waiting does not help, but a retry does.
        ffi::SQLITE_BUSY_SNAPSHOT => return b"40001",
        ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID => {
            return b"23505";
        }
        _ => {}
    }
    match number & 0xff {
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED => b"55P03",
        ffi::SQLITE_CONSTRAINT => b"23000",
        ffi::SQLITE_READONLY => b"25006",
        ffi::SQLITE_FULL => b"53100",
        ffi::SQLITE_NOMEM => b"53200",
        ffi::SQLITE_INTERRUPT => b"57014",
        ffi::SQLITE_ERROR | ffi::SQLITE_RANGE => b"42000",
        ffi::SQLITE_TOOBIG => b"54000",
        ffi::SQLITE_CORRUPT | ffi::SQLITE_NOTADB => b"XX001",
        ffi::SQLITE_IOERR => b"58030",
        _ => b"HY000",
    }
}
