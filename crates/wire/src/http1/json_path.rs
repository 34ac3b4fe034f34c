//! Paths to one value in a JSON text: JSON pointers (RFC 6901), and singular queries of JSONPath (RFC 9535, 2.3.5.1).

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// The largest index of RFC 9535, 2.1: every JSON reader represents it exactly.
const INDEX_MAX: u64 = (1 << 53) - 1;
/// Max parts of a path, equal to the max nesting of JSON texts that are parsed.
const PARTS_MAX: usize = 128;

/// A path to one value in a JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath {
    written: String,
    parts: Vec<Part>,
}

/// Part of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Member of this name.
    Key(String),
    /// Element at this index; a negative one counts from the end.
    Index(i64),
    /// Part of a JSON pointer: the member of this name, or the element at this index.
    KeyOrIndex(String, Option<u64>),
}

/// Error in the text of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPathError {
    /// Range of the error in the text; empty at the end if something is missing there.
    pub at: Range<usize>,
    /// Error message.
    pub what: String,
}

impl JsonPath {
    /// Parses `/data/0/id`, or `$.data[0].id`.
    ///
    /// # Errors
    ///
    /// The error, and its place in the text.
    pub fn read(text: &str) -> Result<Self, JsonPathError> {
        let parts = match text.as_bytes().first() {
            None => Vec::new(),
            Some(b'/') => pointer(text)?,
            Some(b'$') => Query { text, at: 1 }.parts()?,
            Some(_) => {
                return Err(fault(0..text.len(), "is not a path into JSON, which starts with $ or /"));
            }
        };
        if parts.len() > PARTS_MAX {
            return Err(fault(0..text.len(), "has more than 128 parts"));
        }
        Ok(Self { written: text.into(), parts })
    }

    /// The path as it was written.
    pub fn written(&self) -> &str {
        &self.written
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }
}

fn fault(at: Range<usize>, what: &str) -> JsonPathError {
    JsonPathError { at, what: what.into() }
}

fn pointer(text: &str) -> Result<Vec<Part>, JsonPathError> {
    let are_escapes_good = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    if !are_escapes_good {
        return Err(fault(0..text.len(), "is not a JSON pointer: write ~0 for ~, and ~1 for /"));
    }
    let part = |part: &str| {
        let is_number = part == "0" || (!part.starts_with(['0', '+']) && !part.is_empty());
        let index = part.parse().ok().filter(|_| is_number);
        Part::KeyOrIndex(part.replace("~1", "/").replace("~0", "~"), index)
    };
    Ok(text.split('/').skip(1).map(part).collect())
}

/// Parser of a JSONPath query.
struct Query<'a> {
    text: &'a str,
    at: usize,
}

impl Query<'_> {
    fn parts(mut self) -> Result<Vec<Part>, JsonPathError> {
        let mut parts = Vec::new();
        loop {
            let before = self.at;
            self.skip_space();
            match self.peek() {
                None if self.at == before => return Ok(parts),
                None => return Err(self.error_here(before, "ends with a space")),
                Some(b'.') => {
                    self.at += 1;
                    parts.push(self.name()?);
                }
                Some(b'[') => {
                    self.at += 1;
                    self.skip_space();
                    parts.push(self.selector()?);
                    self.skip_space();
                    match self.peek() {
                        Some(b']') => self.at += 1,
                        Some(b',' | b':') => return Err(self.ambiguous()),
                        _ => return Err(self.error_here(self.at, "has a [ that is not closed")),
                    }
                }
                Some(_) => return Err(self.error_here(self.at, "has no . or [ before the next name")),
            }
        }
    }

    /// Parses a name after a dot.
    fn name(&mut self) -> Result<Part, JsonPathError> {
        let rest = &self.text[self.at..];
        let is_later = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || !letter.is_ascii();
        match rest.chars().next() {
            Some('.' | '*') => return Err(self.ambiguous()),
            Some(first) if is_later(first) && !first.is_ascii_digit() => {}
            Some(first) if is_later(first) => {
                let what = "has a name that begins with a digit: write it in brackets and quotes";
                return Err(self.error_here(self.at, what));
            }
            _ => return Err(self.error_here(self.at, "has no name behind the dot")),
        }
        let end = rest.find(|letter| !is_later(letter)).unwrap_or(rest.len());
        self.at += end;
        Ok(Part::Key(rest[..end].into()))
    }

    /// Parses a selector in brackets.
    fn selector(&mut self) -> Result<Part, JsonPathError> {
        match self.peek() {
            Some(quote @ (b'\'' | b'"')) => self.quoted(quote).map(Part::Key),
            Some(b'-' | b'0'..=b'9') => self.index(),
            Some(b'*' | b'?' | b':') => Err(self.ambiguous()),
            _ => Err(self.error_here(self.at, "has neither a quoted name nor a whole number in brackets")),
        }
    }

    fn index(&mut self) -> Result<Part, JsonPathError> {
        let from = self.at;
        let rest = &self.text[from..];
        let end = rest.find(|letter: char| letter != '-' && !letter.is_ascii_digit()).unwrap_or(rest.len());
        let (written, digits) = (&rest[..end], rest[..end].strip_prefix('-').unwrap_or(&rest[..end]));
        let is_written_well = written == "0" || (!digits.starts_with('0') && !digits.contains('-'));
        let index = written.parse::<i64>().ok().filter(|index| index.unsigned_abs() <= INDEX_MAX);
        self.at += end;
        match index.filter(|_| is_written_well) {
            Some(index) => Ok(Part::Index(index)),
            None => Err(fault(from..self.at, "has an index that is not a whole number below 2^53")),
        }
    }

    fn quoted(&mut self, quote: u8) -> Result<String, JsonPathError> {
        let from = self.at;
        self.at += 1;
        let mut name = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(letter) = rest.chars().next() else {
                return Err(fault(from..self.at, "has a quoted name that does not end"));
            };
            self.at += letter.len_utf8();
            match letter {
                '\\' => name.push(self.escaped(quote)?),
                letter if letter == char::from(quote) => return Ok(name),
                letter if letter < ' ' => return Err(self.error_here(self.at - 1, "has a control character")),
                letter => name.push(letter),
            }
        }
    }

    /// Parses the character after a backslash.
    fn escaped(&mut self, quote: u8) -> Result<char, JsonPathError> {
        let from = self.at - 1;
        let Some(letter) = self.peek() else { return Err(fault(from..self.at, "ends with a backslash")) };
        self.at += 1;
        let meant = match letter {
            b'b' => Some('\u{8}'),
            b'f' => Some('\u{c}'),
            b'n' => Some('\n'),
            b'r' => Some('\r'),
            b't' => Some('\t'),
            b'/' | b'\\' => Some(char::from(letter)),
            b'u' => self.code_point(),
            letter if letter == quote => Some(char::from(letter)),
            _ => None,
        };
        meant.ok_or_else(|| self.error_here(from, "has an unknown escape"))
    }

    fn code_point(&mut self) -> Option<char> {
        let unit = |text: &str, at: usize| {
            let digits =
                text.get(at..at + 4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
            digits.and_then(|digits| u16::from_str_radix(digits, 16).ok())
        };
        let first = unit(self.text, self.at)?;
        let behind = self.text.get(self.at + 4..)?;
        let second = behind.strip_prefix("\\u").and_then(|_| unit(self.text, self.at + 6));
        let letter = char::decode_utf16([Some(first), second].into_iter().flatten()).next()?.ok()?;
        self.at += 4 + if letter.len_utf16() == 2 { 6 } else { 0 };
        Some(letter)
    }

    fn ambiguous(&self) -> JsonPathError {
        self.error_here(self.at, "selects several values")
    }

    /// Error about the character at this position.
    fn error_here(&self, at: usize, what: &str) -> JsonPathError {
        let width = self.text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        fault(at..at + width, what)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    fn key(name: &str) -> Part {
        Part::Key(name.into())
    }

    #[test]
    fn parses_singular_queries() {
        for (text, parts) in [
            ("$", vec![]),
            ("$.data[0].id", vec![key("data"), Part::Index(0), key("id")]),
            ("$['a b'][\"c\"]", vec![key("a b"), key("c")]),
            ("$[-1]", vec![Part::Index(-1)]),
            ("$ .a [ 'b' ]", vec![key("a"), key("b")]),
            (r#"$['it\'s']["\"\u00e9\ud83d\ude00\/"]"#, vec![key("it's"), key("\"é😀/")]),
            ("$.überall_1", vec![key("überall_1")]),
            ("$[9007199254740991]", vec![Part::Index(9_007_199_254_740_991)]),
            ("$['']", vec![key("")]),
        ] {
            assert_eq!(JsonPath::read(text).map(|path| path.parts), Ok(parts), "{text}");
        }
    }

    #[test]
    fn rejects_other_paths_with_position() {
        for (text, at, what) in [
            ("data.id", 0..7, "is not a path"),
            ("$..id", 2..3, "selects several values"),
            ("$.*", 2..3, "selects several values"),
            ("$[*]", 2..3, "selects several values"),
            ("$[?@.a]", 2..3, "selects several values"),
            ("$[0:2]", 3..4, "selects several values"),
            ("$[:2]", 2..3, "selects several values"),
            ("$[0,1]", 3..4, "selects several values"),
            ("$['a','b']", 5..6, "selects several values"),
            ("$.a ", 3..4, "ends with a space"),
            ("$a", 1..2, "has no . or ["),
            ("$.", 2..2, "has no name"),
            ("$.1a", 2..3, "begins with a digit"),
            ("$[01]", 2..4, "has an index"),
            ("$[-0]", 2..4, "has an index"),
            ("$[--1]", 2..5, "has an index"),
            ("$[9007199254740992]", 2..18, "has an index"),
            ("$[99999999999999999999]", 2..22, "has an index"),
            ("$[a]", 2..3, "has neither"),
            ("$[", 2..2, "has neither"),
            ("$[0", 3..3, "is not closed"),
            ("$['a", 2..4, "does not end"),
            (r"$['\x']", 3..4, "unknown escape"),
            (r"$['\ud83d']", 3..4, "unknown escape"),
            (r#"$['\"']"#, 3..4, "unknown escape"),
            ("/m~n", 0..4, "~0 for ~"),
        ] {
            let fault = JsonPath::read(text).expect_err(text);
            assert!(fault.what.contains(what) && fault.at == at, "{text}: {fault:?}");
        }
        assert!(JsonPath::read(&"/a".repeat(129)).is_err() && JsonPath::read(&"/a".repeat(128)).is_ok());
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics_and_error_range_is_valid(text in "[$.a'\"\\\\ud8d\\[\\]0-9é*:?~/ -]{0,16}") {
            if let Err(fault) = JsonPath::read(&text) {
                prop_assert!(text.get(fault.at.clone()).is_some(), "{:?}", fault);
            }
        }
    }
}
