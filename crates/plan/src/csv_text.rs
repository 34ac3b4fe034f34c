//! Text of a CSV file: its size, encoding, and quotes, checked before anything is read from it.

/// Largest file.
pub(crate) const BYTES_MAX: u64 = 100 * 1024 * 1024;
/// What to do where the CSV reader stops.
pub(crate) const UNREADABLE: &str = "separate values by commas, and quote values that contain commas";

/// The bytes of a file without its byte order mark; they are UTF-8, and every quote ends.
///
/// # Errors
///
/// The error with the line, and what to do.
pub(crate) fn checked(mut bytes: Vec<u8>, name: &str) -> Result<Vec<u8>, (String, String)> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    if let Err(error) = std::str::from_utf8(&bytes) {
        let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        return Err((format!("{name}, line {line}: invalid UTF-8"), "save it as UTF-8".to_owned()));
    }
    if let Some(line) = unterminated_quote(&bytes) {
        let help = "end the value with a quote, and write a quote within it twice: \"a \"\"b\"\" c\"";
        return Err((format!("{name}, line {line}: unterminated quote"), help.to_owned()));
    }
    Ok(bytes)
}

/// Line of a quote that opens a value and never ends it. The CSV reader takes the rest of the file as that value.
fn unterminated_quote(bytes: &[u8]) -> Option<usize> {
    let (mut line, mut opened, mut is_at_start) = (1, None, true);
    let mut rest = bytes.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        line += usize::from(byte == b'\n');
        match opened {
            None if byte == b'"' && is_at_start => opened = Some(line),
            None => is_at_start = matches!(byte, b',' | b'\n' | b'\r'),
            Some(_) if byte != b'"' => {}
            Some(_) if rest.peek() == Some(&b'"') => _ = rest.next(),
            Some(_) => (opened, is_at_start) = (None, false),
        }
    }
    opened
}
