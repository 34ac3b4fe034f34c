//! Lines of a log, with a limit on their length.

use std::io::{self, BufRead};

/// Max bytes of a line or of a record of several lines. Longer ones are skipped and counted.
pub(crate) const BYTES_MAX: usize = 16 << 20;

/// Reads the next line into `line`, without its line break. Returns `None` at the end, and whether the line was too long otherwise;
/// then its bytes beyond the limit are skipped.
pub(crate) fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<bool>> {
    line.clear();
    let (mut is_too_long, mut has_any) = (false, false);
    loop {
        let bytes = match input.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if bytes.is_empty() {
            return Ok(has_any.then_some(is_too_long));
        }
        has_any = true;
        let end = memchr::memchr(b'\n', bytes);
        let taken = &bytes[..end.unwrap_or(bytes.len())];
        if line.len() + taken.len() > BYTES_MAX {
            is_too_long = true;
        } else if !is_too_long {
            line.extend_from_slice(taken);
        }
        let used = taken.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            return Ok(Some(is_too_long));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_over_the_limit_is_skipped_and_the_next_one_is_read() {
        let mut text = vec![b'a'; BYTES_MAX + 1];
        text.extend_from_slice(b"\nb\r\n\nc");
        let (mut input, mut line) = (io::BufReader::new(text.as_slice()), Vec::new());
        assert_eq!(next_line(&mut input, &mut line).unwrap(), Some(true));
        for expected in ["b", "", "c"] {
            assert_eq!(next_line(&mut input, &mut line).unwrap(), Some(false));
            assert_eq!(line, expected.as_bytes());
        }
        assert_eq!(next_line(&mut input, &mut line).unwrap(), None);
    }
}
