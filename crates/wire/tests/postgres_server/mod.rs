//! What a PostgreSQL server says, as bytes.

/// A message with its length.
pub(crate) fn message(tag: u8, content: &[u8]) -> Vec<u8> {
    [&[tag][..], &(content.len() as u32 + 4).to_be_bytes(), content].concat()
}

/// The description of rows with these columns.
pub(crate) fn described(names: &[&str]) -> Vec<u8> {
    let mut content = (names.len() as u16).to_be_bytes().to_vec();
    for name in names {
        content.extend_from_slice(name.as_bytes());
        content.extend_from_slice(&[0; 19]);
    }
    message(b'T', &content)
}

/// A row.
pub(crate) fn row(values: &[Option<&str>]) -> Vec<u8> {
    let mut content = (values.len() as u16).to_be_bytes().to_vec();
    for value in values {
        content.extend_from_slice(&value.map_or(-1, |value| value.len() as i32).to_be_bytes());
        content.extend_from_slice(value.unwrap_or_default().as_bytes());
    }
    message(b'D', &content)
}

/// The end of a statement.
pub(crate) fn ended(tag: &str) -> Vec<u8> {
    message(b'C', &[tag.as_bytes(), b"\0"].concat())
}

/// An error.
pub(crate) fn error(severity: &str, sqlstate: &str, text: &str) -> Vec<u8> {
    let fields = ["S", severity, "\0V", severity, "\0C", sqlstate, "\0M", text, "\0\0"];
    message(b'E', fields.concat().as_bytes())
}

/// Ready, with no transaction open.
pub(crate) fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

/// A notice.
pub(crate) fn notice() -> Vec<u8> {
    message(b'N', b"SNOTICE\0Mhear\0\0")
}

/// What comes with the log-in: `kind` and what belongs to it.
pub(crate) fn log_in(kind: u32, rest: &[u8]) -> Vec<u8> {
    message(b'R', &[&kind.to_be_bytes(), rest].concat())
}
