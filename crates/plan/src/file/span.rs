//! Places in a file: byte ranges, and the lines and columns that errors show.

pub(crate) use wire::step::tree::Span;

/// The line around a byte of a source.
pub(crate) struct SourceLine<'a> {
    /// Line number, from 1.
    pub(crate) number: usize,
    /// Byte offset of its start.
    pub(crate) start: usize,
    /// Text without the line break.
    pub(crate) text: &'a str,
}

/// Line that contains this byte. For a byte behind the end, the last line.
pub(crate) fn line_at(source: &str, byte: usize) -> SourceLine<'_> {
    let mut byte = byte.min(source.len());
    while !source.is_char_boundary(byte) {
        byte -= 1;
    }
    let start = source[..byte].rfind('\n').map_or(0, |at| at + 1);
    let text = source[start..].split('\n').next().unwrap_or_default();
    let number = source.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count() + 1;
    SourceLine { number, start, text: text.strip_suffix('\r').unwrap_or(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_a_line_counted_from_one() {
        let source = "ä: 1\r\nb\n";
        let at = |byte| {
            let line = line_at(source, byte);
            (line.number, line.start, line.text.to_owned())
        };
        assert_eq!(at(1), (1, 0, "ä: 1".to_owned()));
        assert_eq!(at(7), (2, 7, "b".to_owned()));
        assert_eq!(at(9), (3, 9, String::new()));
        assert_eq!(at(99), (3, 9, String::new()));
    }
}
