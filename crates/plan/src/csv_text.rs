//! Checks the size, encoding, and quotes of a CSV file before it is parsed.

/// Max size of a file in bytes.
pub(crate) const BYTES_MAX: u64 = 100 * 1024 * 1024;
/// Help for a file that the CSV reader rejects.
pub(crate) const UNREADABLE_HELP: &str = "separate values by commas, and quote values that contain commas";

/// Removes the byte order mark. Checks that the bytes are UTF-8, and that every quote is closed.
///
/// # Errors
///
/// The error with its line, and the help.
pub(crate) fn validate(mut bytes: Vec<u8>, name: &str) -> Result<Vec<u8>, (String, String)> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    if let Err(error) = std::str::from_utf8(&bytes) {
        let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        return Err((format!("{name}, line {line}: invalid UTF-8"), "save it as UTF-8".to_owned()));
    }
    if let Some(line) = unterminated_quote_line(&bytes) {
        let help = "end the value with a quote, and write a quote within it twice: \"a \"\"b\"\" c\"";
        return Err((format!("{name}, line {line}: unterminated quote"), help.to_owned()));
    }
    Ok(bytes)
}

/// Line of an unterminated quote. The CSV reader would take the rest of the file as one value.
fn unterminated_quote_line(bytes: &[u8]) -> Option<usize> {
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
