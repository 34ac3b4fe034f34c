//! Parser of documents that are written as JSON (RFC 8259), with variables in their texts.
//!
//! `{name:raw}` without quotes inserts a number from a variable.

use alloc::string::String;
use alloc::vec::Vec;

use crate::braces::{self, Piece};

/// Max nesting of documents and arrays, like the limit of servers.
pub(super) const DEPTH_MAX: usize = 100;

/// A value of a document. Texts are templates: names in braces stand for variables.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Null,
    Boolean(bool),
    /// Number as it is written.
    Number(String),
    Text(Vec<u8>),
    /// Template of a number: a single name in braces.
    Raw(Vec<u8>),
    List(Vec<Node>),
    Map(Vec<(Vec<u8>, Node)>),
}

impl Node {
    /// Value of a key. `None` if it is absent, or if this node is not a mapping.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|(name, _)| name == key.as_bytes()).map(|(_, value)| value)
    }

    /// Entries of a mapping; empty for other values.
    pub(super) fn entries(&self) -> &[(Vec<u8>, Self)] {
        match self {
            Self::Map(entries) => entries,
            _ => &[],
        }
    }
}

/// Parses a whole text.
///
/// # Errors
///
/// The text is not JSON, a key contains a zero byte, or the nesting is deeper than [`DEPTH_MAX`].
pub(super) fn parse(text: &[u8]) -> Result<Node, String> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    let node = reader.value()?;
    reader.skip_space();
    if reader.at < text.len() {
        return Err(reader.error_here());
    }
    Ok(node)
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn error_here(&self) -> String {
        let rest = &self.text[self.at.min(self.text.len())..];
        let seen = String::from_utf8_lossy(&rest[..rest.len().min(20)]).into_owned();
        match rest.is_empty() {
            true => "the JSON ends too early".into(),
            false => alloc::format!("the JSON is wrong at {seen:?}"),
        }
    }

    fn skip_space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// Skips white space, and takes this byte if it is next.
    fn takes(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_next = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.takes(byte) { Ok(()) } else { Err(self.error_here()) }
    }

    fn value(&mut self) -> Result<Node, String> {
        self.skip_space();
        let rest = &self.text[self.at..];
        match rest.first() {
            Some(b'{') => match braces::pieces(rest).next() {
                Some(Piece::Raw(name)) => {
                    let length = name.len() + braces::RAW.len() + 2;
                    self.at += length;
                    Ok(Node::Raw(rest[..length].into()))
                }
                _ => self.nested(Self::map),
            },
            Some(b'[') => self.nested(Self::list),
            Some(b'"') => Ok(Node::Text(self.text()?)),
            Some(b't') => self.word("true", Node::Boolean(true)),
            Some(b'f') => self.word("false", Node::Boolean(false)),
            Some(b'n') => self.word("null", Node::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.error_here()),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Node, String>) -> Result<Node, String> {
        if self.depth == DEPTH_MAX {
            return Err(alloc::format!("more than {DEPTH_MAX} documents are within each other"));
        }
        self.depth += 1;
        self.at += 1;
        let node = read(self);
        self.depth -= 1;
        node
    }

    fn map(&mut self) -> Result<Node, String> {
        let mut entries = Vec::new();
        if self.takes(b'}') {
            return Ok(Node::Map(entries));
        }
        loop {
            self.skip_space();
            let template = self.text()?;
            let key = literal(&template).filter(|key| !key.contains(&0));
            let key = key.ok_or("a key of a document contains a variable or a zero byte")?;
            self.expect(b':')?;
            entries.push((key, self.value()?));
            if !self.takes(b',') {
                self.expect(b'}')?;
                return Ok(Node::Map(entries));
            }
        }
    }

    fn list(&mut self) -> Result<Node, String> {
        let mut items = Vec::new();
        if self.takes(b']') {
            return Ok(Node::List(items));
        }
        loop {
            items.push(self.value()?);
            if !self.takes(b',') {
                self.expect(b']')?;
                return Ok(Node::List(items));
            }
        }
    }

    fn word(&mut self, word: &str, node: Node) -> Result<Node, String> {
        if !self.text[self.at..].starts_with(word.as_bytes()) {
            return Err(self.error_here());
        }
        self.at += word.len();
        Ok(node)
    }

    fn number(&mut self) -> Result<Node, String> {
        let rest = &self.text[self.at..];
        let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
        let end = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        let text = String::from_utf8_lossy(&rest[..end]).into_owned();
        if !text.parse::<f64>().is_ok_and(f64::is_finite) {
            return Err(self.error_here());
        }
        self.at += end;
        Ok(Node::Number(text))
    }

    /// Parses a text in quotes.
    fn text(&mut self) -> Result<Vec<u8>, String> {
        self.expect(b'"')?;
        let mut text = Vec::new();
        loop {
            let byte = *self.text.get(self.at).ok_or_else(|| self.error_here())?;
            match byte {
                b'"' => {
                    self.at += 1;
                    return Ok(text);
                }
                b'\\' => self.escape(&mut text)?,
                0..=0x1f => return Err(self.error_here()),
                byte => {
                    text.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Result<(), String> {
        let escaped = *self.text.get(self.at + 1).ok_or_else(|| self.error_here())?;
        let byte = match escaped {
            b'"' | b'\\' | b'/' => escaped,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => return self.unicode(text),
            _ => return Err(self.error_here()),
        };
        text.push(byte);
        self.at += 2;
        Ok(())
    }

    fn unicode(&mut self, text: &mut Vec<u8>) -> Result<(), String> {
        let unit = |at: usize| {
            let digits = self.text.get(at..at + 6)?.strip_prefix(b"\\u")?;
            u16::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok()
        };
        let first = unit(self.at).ok_or_else(|| self.error_here())?;
        let is_high = (0xd800..0xdc00).contains(&first);
        let units = [first, if is_high { unit(self.at + 6).unwrap_or(0) } else { 0 }];
        let used = if is_high { 2 } else { 1 };
        let character = char::decode_utf16(units[..used].iter().copied()).next().and_then(Result::ok);
        let character = character.ok_or_else(|| self.error_here())?;
        text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        self.at += 6 * used;
        Ok(())
    }
}

/// Bytes of a template without variables. `None` if it has variables.
pub(super) fn literal(template: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for piece in braces::pieces(template) {
        match piece {
            Piece::Text(text) => bytes.extend_from_slice(text),
            Piece::Name(_) | Piece::Raw(_) => return None,
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_values_of_every_kind() {
        let node =
            parse(br#" {"a": [1, -2.5e3, true, null, "x\n\u00e9\ud83d\ude00"], "b": {n:raw}, "c": "{v}"} "#);
        let node = node.expect("a document");
        let number = |text: &str| Node::Number(text.into());
        let text = Node::Text("x\n\u{e9}\u{1f600}".as_bytes().into());
        let list = [number("1"), number("-2.5e3"), Node::Boolean(true), Node::Null, text];
        assert_eq!(node.get("a"), Some(&Node::List(list.into())));
        assert_eq!(node.get("b"), Some(&Node::Raw(b"{n:raw}".into())));
        assert_eq!(node.get("c"), Some(&Node::Text(b"{v}".into())));
    }

    #[test]
    fn rejects_text_that_is_not_json() {
        for text in [
            "",
            "{",
            "{\"a\"}",
            "{\"a\":}",
            "[1,]",
            "{} x",
            "nul",
            "\"a",
            "\"\\x\"",
            "\"\\ud800\"",
            "1e999",
            "--1",
            "{a:1}",
            "{\"{v}\":1}",
            "{\"a\\u0000\":1}",
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
        let nested = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
        assert!(parse(nested(DEPTH_MAX).as_bytes()).is_ok());
        assert!(parse(nested(DEPTH_MAX + 1).as_bytes()).is_err());
    }
}
