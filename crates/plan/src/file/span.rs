//! Places in a file: bytes, and the line and column that a person sees.

/// Bytes of a file, from and to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }

    /// The text within, or nothing if the span does not fit the source.
    pub(crate) fn slice(self, source: &str) -> &str {
        source.get(self.start..self.end).unwrap_or_default()
    }

    /// The span without spaces and line breaks at its end.
    pub(crate) fn trimmed(self, source: &str) -> Self {
        Self::new(self.start, self.start + self.slice(source).trim_end().len())
    }
}

/// The line around a byte of a source.
pub(crate) struct SourceLine<'a> {
    /// Counted from 1.
    pub(crate) number: usize,
    /// Where it begins.
    pub(crate) start: usize,
    /// Its text, without the line break.
    pub(crate) text: &'a str,
}

/// The line that holds this byte; the last one for a byte behind the end.
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
    fn lines_are_counted_from_one_and_never_missed() {
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
