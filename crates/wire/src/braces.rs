//! Placeholders in braces: `{name}` in a text is replaced by an encoded value, `{name:raw}` by the unencoded value, and `{{name}}` yields
//! the text `{name}`. Any other brace is literal.

use alloc::vec::Vec;
use core::ops::Range;

/// Part of a text with placeholders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Literal text; never empty.
    Text(&'a [u8]),
    /// Name of a value that is inserted with the encoding of its place.
    Name(&'a str),
    /// Name of a value that is inserted without encoding.
    Raw(&'a str),
}

/// Splits a text into its parts, in order. Names begin with a letter or `_`, followed by letters, digits, `_`, `.`, and `-`.
pub fn pieces(text: &[u8]) -> impl Iterator<Item = Piece<'_>> {
    Pieces { rest: text }
}

/// Splits a text into its parts like [`pieces`], each with its range in the text, braces included.
pub fn spans(text: &[u8]) -> impl Iterator<Item = (Range<usize>, Piece<'_>)> {
    let mut pieces = Pieces { rest: text };
    core::iter::from_fn(move || {
        let start = text.len() - pieces.rest.len();
        let piece = pieces.next()?;
        Some((start..text.len() - pieces.rest.len(), piece))
    })
}

/// Escapes bytes as a text without placeholders that yields exactly these bytes.
pub fn literal(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(b'{', rest) {
        text.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let name_bytes = name(rest).map_or(0, Placeholder::width);
        if name_bytes > 0 {
            text.push(b'{');
            text.extend_from_slice(&rest[..name_bytes]);
            text.push(b'}');
        } else {
            text.push(b'{');
        }
        rest = &rest[name_bytes.max(1)..];
    }
    text.extend_from_slice(rest);
    text
}

struct Pieces<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let braces = memchr::memchr_iter(b'{', self.rest);
        let found = braces.map(|at| (at, &self.rest[at..])).find_map(|(at, from)| {
            if let Some(braced) = name(from) {
                return Some((at, from, braced, false));
            }
            let inner = name(from.get(1..)?)?;
            // `{{name}}` is the literal text `{name}`.
            (from.get(inner.width() + 1) == Some(&b'}')).then_some((at, from, inner, true))
        });
        match found {
            Some((0, from, braced, false)) => {
                self.rest = &from[braced.width()..];
                Some(if braced.is_raw { Piece::Raw(braced.name) } else { Piece::Name(braced.name) })
            }
            Some((0, from, braced, true)) => {
                self.rest = &from[braced.width() + 2..];
                Some(Piece::Text(&from[1..=braced.width()]))
            }
            Some((at, from, ..)) => {
                let text = &self.rest[..at];
                self.rest = from;
                Some(Piece::Text(text))
            }
            None => Some(Piece::Text(core::mem::take(&mut self.rest))),
        }
    }
}

/// A placeholder in braces: its name, and whether the value is inserted without encoding.
#[derive(Clone, Copy)]
struct Placeholder<'a> {
    name: &'a str,
    is_raw: bool,
}

impl Placeholder<'_> {
    /// Length of the placeholder in bytes, braces and `:raw` included.
    fn width(self) -> usize {
        self.name.len() + 2 + if self.is_raw { RAW.len() } else { 0 }
    }
}

/// Suffix of a name whose value is inserted without encoding.
pub const RAW: &str = ":raw";

/// Parses the placeholder at the start of a text. `None` if the text does not start with one.
fn name(text: &[u8]) -> Option<Placeholder<'_>> {
    let inner = text.strip_prefix(b"{")?;
    let is_first = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    let is_later = |byte: &u8| is_first(byte) || byte.is_ascii_digit() || matches!(byte, b'.' | b'-');
    inner.first().filter(|byte| is_first(byte))?;
    let end = inner.iter().position(|byte| !is_later(byte))?;
    let rest = &inner[end..];
    let behind = rest.strip_prefix(RAW.as_bytes());
    let name = core::str::from_utf8(&inner[..end]).ok()?;
    behind.unwrap_or(rest).starts_with(b"}").then_some(Placeholder { name, is_raw: behind.is_some() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use proptest::prelude::*;

    fn show(text: &str) -> String {
        let mut shown = String::new();
        for piece in pieces(text.as_bytes()) {
            match piece {
                Piece::Text(bytes) => shown.push_str(core::str::from_utf8(bytes).unwrap()),
                Piece::Name(name) => {
                    shown.push('<');
                    shown.push_str(name);
                    shown.push('>');
                }
                Piece::Raw(name) => {
                    shown.push('(');
                    shown.push_str(name);
                    shown.push(')');
                }
            }
        }
        shown
    }

    #[test]
    fn finds_names_and_keeps_other_braces_as_text() {
        for (text, expected) in [
            ("", ""),
            ("/a?n={n}&m={people.first-name}", "/a?n=<n>&m=<people.first-name>"),
            ("{_a}{b2}", "<_a><b2>"),
            ("{{n}}", "{n}"),
            ("{{{n}}}", "{{n}}"),
            ("{{n}", "{<n>"),
            ("{n}}", "<n>}"),
            (r#"{"id": {id}, "a": {}}"#, r#"{"id": <id>, "a": {}}"#),
            ("{2}{a b}{", "{2}{a b}{"),
            ("a{1,3}", "a{1,3}"),
            ("{é}", "{é}"),
            ("{n:raw}{a.b:raw}", "(n)(a.b)"),
            ("{{n:raw}}", "{n:raw}"),
            ("{n:raw}}", "(n)}"),
            ("{n:other}{n:}{:raw}{n:raw", "{n:other}{n:}{:raw}{n:raw"),
        ] {
            assert_eq!(show(text), expected, "{text}");
        }
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            Just(b"{".to_vec()),
            Just(b"}".to_vec()),
            Just(b"{{".to_vec()),
            Just(b"}}".to_vec()),
            Just(b"n".to_vec()),
            Just(b"{n}".to_vec()),
            Just(b":raw".to_vec()),
            any::<u8>().prop_map(|byte| [byte].to_vec())
        ];
        proptest::collection::vec(part, 0..20).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn escaped_literal_parses_back_to_its_bytes(bytes in text()) {
            let written = literal(&bytes);
            let mut read = Vec::new();
            for piece in pieces(&written) {
                match piece {
                    Piece::Text(text) => {
                        prop_assert!(!text.is_empty());
                        read.extend_from_slice(text);
                    }
                    Piece::Name(name) | Piece::Raw(name) => prop_assert!(false, "{name} is taken for a name"),
                }
            }
            prop_assert_eq!(read, bytes);
        }
    }
}
