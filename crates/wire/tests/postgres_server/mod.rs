//! Messages of a PostgreSQL server.

/// Encodes a message.
pub(crate) fn message(tag: u8, content: &[u8]) -> Vec<u8> {
    [&[tag][..], &(content.len() as u32 + 4).to_be_bytes(), content].concat()
}

/// ErrorResponse.
pub(crate) fn error(severity: &str, sqlstate: &str, text: &str) -> Vec<u8> {
    let fields = ["S", severity, "\0V", severity, "\0C", sqlstate, "\0M", text, "\0\0"];
    message(b'E', fields.concat().as_bytes())
}

/// ReadyForQuery without an open transaction.
pub(crate) fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

/// NoticeResponse.
pub(crate) fn notice() -> Vec<u8> {
    message(b'N', b"SNOTICE\0Mhear\0\0")
}

/// Authentication request of this kind, with its content.
pub(crate) fn log_in(kind: u32, rest: &[u8]) -> Vec<u8> {
    message(b'R', &[&kind.to_be_bytes(), rest].concat())
}
