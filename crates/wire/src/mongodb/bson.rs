//! Encodes documents to BSON: the types that commands need, with the Extended JSON names of types that JSON lacks.
//!
//! The crate `bson` needs `std`, and builds a tree of each document. Here a document is compiled once. Parts without variables are bytes,
//! and lengths are filled in when the rest is known.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::json::{Node, literal};
use crate::secrets::Secrets;
use crate::step::Template;

pub(super) const DOUBLE: u8 = 1;
pub(super) const STRING: u8 = 2;
pub(super) const DOCUMENT: u8 = 3;
pub(super) const ARRAY: u8 = 4;
pub(super) const BINARY: u8 = 5;
pub(super) const UNDEFINED: u8 = 6;
pub(super) const OBJECT_ID: u8 = 7;
pub(super) const BOOLEAN: u8 = 8;
pub(super) const DATE: u8 = 9;
pub(super) const NULL: u8 = 10;
pub(super) const REGEX: u8 = 11;
pub(super) const POINTER: u8 = 12;
pub(super) const CODE: u8 = 13;
pub(super) const SYMBOL: u8 = 14;
pub(super) const SCOPED_CODE: u8 = 15;
pub(super) const INT32: u8 = 16;
pub(super) const TIMESTAMP: u8 = 17;
pub(super) const INT64: u8 = 18;
pub(super) const DECIMAL: u8 = 19;
pub(super) const MAX_KEY: u8 = 127;
pub(super) const MIN_KEY: u8 = 255;

/// A compiled document.
#[derive(Debug, Default)]
pub(super) struct Document(Box<[Piece]>);

/// Part of a compiled document.
#[derive(Debug)]
enum Piece {
    /// Encoded bytes.
    Fixed(Vec<u8>),
    /// Beginning of a document or an array: its length follows when it ends.
    Open,
    /// End of the innermost open document or array.
    Close,
    /// Text after its type and its name.
    Text(Template),
    /// Element with a value type that depends on the text.
    TypedElement(TypedElement),
}

/// Element with a value that is parsed from a text.
#[derive(Debug)]
struct TypedElement {
    /// Name with its end.
    name: Vec<u8>,
    template: Template,
    kind: Kind,
}

/// Kind of a value that is read from a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A number if the text is one, or `true`, `false`, or `null`; otherwise a string.
    Any,
    Int32,
    Int64,
    Double,
    ObjectId,
    /// Milliseconds since 1970.
    Date,
}

impl Kind {
    fn noun(self) -> &'static str {
        match self {
            Self::Any => "value",
            Self::Int32 => "whole number of 32 bits",
            Self::Int64 => "whole number of 64 bits",
            Self::Double => "number",
            Self::ObjectId => "object id of 24 hexadecimal digits",
            Self::Date => "number of milliseconds",
        }
    }
}

/// Compiler of a document.
struct Compiler<'a> {
    pieces: Vec<Piece>,
    variables: &'a [String],
    secrets: &'a Secrets,
}

impl Document {
    /// Compiles the entries of a mapping.
    ///
    /// # Errors
    ///
    /// The message for an unknown variable, or for a value that has no type.
    pub(super) fn compile(
        entries: &[(Vec<u8>, Node)],
        variables: &[String],
        secrets: &Secrets,
    ) -> Result<Self, String> {
        let mut compiler = Compiler { pieces: Vec::new(), variables, secrets };
        compiler.document(entries.iter().map(|(name, node)| (name.as_slice(), node)))?;
        Ok(Self(compiler.pieces.into()))
    }

    /// Appends the document. `value` returns the value of a variable, empty if it has none.
    ///
    /// # Errors
    ///
    /// A text is not a valid value of the type that it must have.
    pub(super) fn encode<'v>(
        &self,
        value: &impl Fn(u16) -> &'v [u8],
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let mut open: Vec<usize> = Vec::new();
        for piece in &self.0 {
            match piece {
                Piece::Fixed(bytes) => out.extend_from_slice(bytes),
                Piece::Open => {
                    open.push(out.len());
                    out.extend_from_slice(&[0; 4]);
                }
                Piece::Close => {
                    out.push(0);
                    if let Some(start) = open.pop() {
                        end_length(out, start, start);
                    }
                }
                Piece::Text(template) => {
                    let start = out.len();
                    out.extend_from_slice(&[0; 4]);
                    template.fill(value, out);
                    out.push(0);
                    end_length(out, start, start + 4);
                }
                Piece::TypedElement(typed) => typed.encode(value, out)?,
            }
        }
        Ok(())
    }

    /// Numbers of the variables in the document.
    pub(super) fn variables(&self) -> impl Iterator<Item = u16> {
        self.templates().flat_map(Template::variables)
    }

    /// Max length of the encoded document in bytes.
    pub(super) fn bytes_max(&self, longest_bytes: &dyn Fn(u16) -> u64) -> u64 {
        let bytes = |piece: &Piece| match piece {
            Piece::Fixed(bytes) => bytes.len() as u64,
            Piece::Open => 4,
            Piece::Close => 1,
            Piece::Text(template) => template.bytes_max(longest_bytes).saturating_add(5),
            Piece::TypedElement(TypedElement { name, template, .. }) => {
                template.bytes_max(longest_bytes).saturating_add(name.len() as u64 + 16)
            }
        };
        self.0.iter().map(bytes).fold(0, u64::saturating_add)
    }

    fn templates(&self) -> impl Iterator<Item = &Template> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Text(template) | Piece::TypedElement(TypedElement { template, .. }) => Some(template),
            _ => None,
        })
    }
}

impl TypedElement {
    fn encode<'v>(&self, value: &impl Fn(u16) -> &'v [u8], out: &mut Vec<u8>) -> Result<(), String> {
        let mut text = Vec::new();
        self.template.fill(value, &mut text);
        let (kind, bytes) = self.kind.read(&text).ok_or_else(|| {
            let name = String::from_utf8_lossy(&self.name[..self.name.len() - 1]);
            let shown = text[..text.len().min(40)].escape_ascii();
            format!("`{name}` gets \"{shown}\", which is no {}", self.kind.noun())
        })?;
        out.push(kind);
        out.extend_from_slice(&self.name);
        out.extend_from_slice(&bytes);
        Ok(())
    }
}

impl Kind {
    /// Type and encoded value of a text. `None` if the text is not a valid value.
    fn read(self, text: &[u8]) -> Option<(u8, Vec<u8>)> {
        let plain = core::str::from_utf8(text).unwrap_or_default();
        match self {
            Self::Int32 => Some((INT32, plain.parse::<i32>().ok()?.to_le_bytes().into())),
            Self::Int64 => Some((INT64, plain.parse::<i64>().ok()?.to_le_bytes().into())),
            Self::Date => Some((DATE, plain.parse::<i64>().ok()?.to_le_bytes().into())),
            Self::Double => Some((DOUBLE, plain.parse::<f64>().ok()?.to_le_bytes().into())),
            Self::ObjectId => Some((OBJECT_ID, object_id(text)?)),
            Self::Any => Some(match plain {
                "true" | "false" => (BOOLEAN, Vec::from([u8::from(plain == "true")])),
                "null" => (NULL, Vec::new()),
                _ => number(plain).unwrap_or_else(|| (STRING, string(text))),
            }),
        }
    }
}

/// Type and encoded value of a number: the smallest type that fits. `None` if the text is not a number.
fn number(text: &str) -> Option<(u8, Vec<u8>)> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    if !is_number {
        return None;
    }
    if let Ok(number) = text.parse::<i32>() {
        return Some((INT32, number.to_le_bytes().into()));
    }
    if let Ok(number) = text.parse::<i64>() {
        return Some((INT64, number.to_le_bytes().into()));
    }
    text.parse::<f64>().ok().map(|number| (DOUBLE, number.to_le_bytes().into()))
}

fn object_id(text: &[u8]) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.iter().map(|digit| Some((*digit as char).to_digit(16)? as u8)).collect();
    let digits = digits.filter(|digits| digits.len() == 24)?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// String with its length and its end.
fn string(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() + 5);
    bytes.extend_from_slice(&(text.len() as u32 + 1).to_le_bytes());
    bytes.extend_from_slice(text);
    bytes.push(0);
    bytes
}

/// Writes the length of the bytes from `from` on over the four bytes at `place`.
pub(super) fn end_length(out: &mut [u8], place: usize, from: usize) {
    let length = (out.len() - from) as u32;
    if let Some(bytes) = out.get_mut(place..place + 4) {
        bytes.copy_from_slice(&length.to_le_bytes());
    }
}

/// Name with the zero byte that ends it.
fn zero_terminated(name: &[u8]) -> Vec<u8> {
    [name, &[0]].concat()
}

impl Compiler<'_> {
    fn document<'n>(&mut self, entries: impl Iterator<Item = (&'n [u8], &'n Node)>) -> Result<(), String> {
        self.pieces.push(Piece::Open);
        for (name, node) in entries {
            self.element(name, node)?;
        }
        self.pieces.push(Piece::Close);
        Ok(())
    }

    fn list(&mut self, items: &[Node]) -> Result<(), String> {
        self.pieces.push(Piece::Open);
        for (number, item) in items.iter().enumerate() {
            self.element(format!("{number}").as_bytes(), item)?;
        }
        self.pieces.push(Piece::Close);
        Ok(())
    }

    /// Appends an element that has no variables.
    fn fixed(&mut self, kind: u8, name: &[u8], value: &[u8]) {
        let bytes = [&[kind], name, &[0], value].concat();
        match self.pieces.last_mut() {
            Some(Piece::Fixed(before)) => before.extend_from_slice(&bytes),
            _ => self.pieces.push(Piece::Fixed(bytes)),
        }
    }

    fn typed(&mut self, name: &[u8], template: &[u8], kind: Kind) -> Result<(), String> {
        let template = Template::compile(template, self.variables, self.secrets)?;
        let typed = TypedElement { name: zero_terminated(name), template, kind };
        match typed.template.constant() {
            None => self.pieces.push(Piece::TypedElement(typed)),
            Some(_) => {
                let mut bytes = Vec::new();
                typed.encode(&|_| &[][..], &mut bytes)?;
                self.pieces.push(Piece::Fixed(bytes));
            }
        }
        Ok(())
    }

    fn element(&mut self, name: &[u8], node: &Node) -> Result<(), String> {
        match node {
            Node::Null => self.fixed(NULL, name, &[]),
            Node::Boolean(is_true) => self.fixed(BOOLEAN, name, &[u8::from(*is_true)]),
            Node::Number(text) => {
                let (kind, value) = number(text).ok_or_else(|| format!("{text} is no number"))?;
                self.fixed(kind, name, &value);
            }
            Node::Text(text) => {
                let template = Template::compile(text, self.variables, self.secrets)?;
                match template.constant() {
                    Some(constant) => self.fixed(STRING, name, &string(constant)),
                    None => {
                        self.fixed(STRING, name, &[]);
                        self.pieces.push(Piece::Text(template));
                    }
                }
            }
            Node::Raw(text) => self.typed(name, text, Kind::Any)?,
            Node::List(items) => {
                self.fixed(ARRAY, name, &[]);
                self.list(items)?;
            }
            Node::Map(entries) => match entries.as_slice() {
                [(key, value)] if key.starts_with(b"$") && self.extended(name, key, value)? => {}
                _ => {
                    self.fixed(DOCUMENT, name, &[]);
                    self.document(entries.iter().map(|(name, node)| (name.as_slice(), node)))?;
                }
            },
        }
        Ok(())
    }

    /// Appends a value of Extended JSON, such as `{ "$oid": "…" }`. Returns whether the key names a type.
    fn extended(&mut self, name: &[u8], key: &[u8], value: &Node) -> Result<bool, String> {
        let kind = match key {
            b"$oid" => Kind::ObjectId,
            b"$numberInt" => Kind::Int32,
            b"$numberLong" => Kind::Int64,
            b"$numberDouble" => Kind::Double,
            b"$date" => Kind::Date,
            b"$binary" => return self.binary(name, value).map(|()| true),
            b"$numberDecimal"
            | b"$timestamp"
            | b"$regularExpression"
            | b"$code"
            | b"$minKey"
            | b"$maxKey" => {
                return Err(format!("{} is no type that can be sent", String::from_utf8_lossy(key)));
            }
            _ => return Ok(false),
        };
        let value = value.get("$numberLong").filter(|_| kind == Kind::Date).unwrap_or(value);
        let template = match value {
            Node::Number(text) => text.as_bytes(),
            Node::Text(template) | Node::Raw(template) => template,
            _ => return Err(format!("{} is followed by no text", String::from_utf8_lossy(key))),
        };
        self.typed(name, template, kind).map(|()| true)
    }

    /// Appends binary data: `{ "base64": "…", "subType": "00" }`.
    fn binary(&mut self, name: &[u8], value: &Node) -> Result<(), String> {
        let text = |key| match value.get(key) {
            Some(Node::Text(template)) => literal(template),
            _ => None,
        };
        let data = text("base64").and_then(|text| STANDARD.decode(text).ok());
        let subtype = text("subType").unwrap_or_else(|| b"00".into());
        let subtype = core::str::from_utf8(&subtype).ok().and_then(|text| u8::from_str_radix(text, 16).ok());
        let (Some(data), Some(subtype)) = (data, subtype) else {
            return Err("$binary is { base64: TEXT, subType: \"00\" }".into());
        };
        let bytes = [&(data.len() as u32).to_le_bytes()[..], &[subtype], &data].concat();
        self.fixed(BINARY, name, &bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::json;
    use super::*;

    fn encoded(text: &str, value: &str) -> Result<Vec<u8>, String> {
        let node = json::parse(text.as_bytes()).expect("JSON");
        let variables = ["v".into()];
        let document = Document::compile(node.entries(), &variables, &Secrets::default())?;
        let mut out = Vec::new();
        document.encode(&|_| value.as_bytes(), &mut out)?;
        assert!(out.len() as u64 <= document.bytes_max(&|_| value.len() as u64), "{text}");
        Ok(out)
    }

    /// The two examples of bsonspec.org.
    #[test]
    fn encodes_examples_of_specification() {
        let hello = b"\x16\0\0\0\x02hello\0\x06\0\0\0world\0\0";
        assert_eq!(encoded(r#"{"hello": "world"}"#, "").unwrap(), hello);
        assert_eq!(encoded(r#"{"hello": "{v}"}"#, "world").unwrap(), hello);
        let list =
            b"1\0\0\0\x04BSON\0&\0\0\0\x020\0\x08\0\0\0awesome\0\x011\x00333333\x14@\x102\0\xc2\x07\0\0\0\0";
        assert_eq!(encoded(r#"{"BSON": ["awesome", 5.05, 1986]}"#, "").unwrap(), list);
    }

    #[test]
    fn value_has_type_of_its_number_or_extended_json() {
        let kind = |text: &str, value: &str| encoded(text, value).map(|bytes| bytes[4]);
        for (text, value, expected) in [
            (r#"{"a": 1}"#, "", INT32),
            (r#"{"a": 2147483648}"#, "", INT64),
            (r#"{"a": 1.0}"#, "", DOUBLE),
            (r#"{"a": 99999999999999999999}"#, "", DOUBLE),
            (r#"{"a": {v:raw}}"#, "7", INT32),
            (r#"{"a": {v:raw}}"#, "-2.5", DOUBLE),
            (r#"{"a": {v:raw}}"#, "true", BOOLEAN),
            (r#"{"a": {v:raw}}"#, "nan", STRING),
            (r#"{"a": {"$numberLong": "{v}"}}"#, "7", INT64),
            (r#"{"a": {"$numberInt": 7}}"#, "", INT32),
            (r#"{"a": {"$numberDouble": "1"}}"#, "", DOUBLE),
            (r#"{"a": {"$oid": "{v}"}}"#, "0123456789abcdef01234567", OBJECT_ID),
            (r#"{"a": {"$date": {"$numberLong": "5"}}}"#, "", DATE),
            (r#"{"a": {"$binary": {"base64": "AQI=", "subType": "04"}}}"#, "", BINARY),
            (r#"{"a": {"$gt": 1}}"#, "", DOCUMENT),
            (r#"{"a": null}"#, "", NULL),
        ] {
            assert_eq!(kind(text, value), Ok(expected), "{text} {value}");
        }
        for (text, value) in [
            (r#"{"a": {"$numberLong": "{v}"}}"#, "7x"),
            (r#"{"a": {"$oid": "{v}"}}"#, "0123"),
            (r#"{"a": {"$oid": "zz"}}"#, ""),
            (r#"{"a": {"$numberDecimal": "1"}}"#, ""),
            (r#"{"a": {"$binary": {"base64": "?"}}}"#, ""),
            (r#"{"a": "{unknown}"}"#, ""),
        ] {
            assert!(kind(text, value).is_err(), "{text}");
        }
    }

    #[test]
    fn value_with_zero_bytes_and_quotes_stays_one_string() {
        let value = "a\0b\"}, \"$where\": 1";
        let bytes = encoded(r#"{"a": "{v}", "b": 1}"#, value).unwrap();
        assert_eq!(bytes[7..11], (value.len() as u32 + 1).to_le_bytes());
        assert_eq!(u32::from_le_bytes(bytes[..4].try_into().unwrap()), bytes.len() as u32);
    }
}
