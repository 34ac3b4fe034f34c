//! Encodes values according to their place in a request: a value cannot leave its place, regardless of its bytes.

use alloc::vec::Vec;

use super::json;
use super::request::Request;
use crate::braces::{Piece, pieces};

/// Encoding of the values in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Path segment, query, or form: percent-encodes all but the unreserved characters of RFC 3986.
    Component,
    /// Location: keeps delimiters and percent-encoded bytes, and percent-encodes only bytes that a target cannot have.
    Location,
    /// Header, or a part of a body: replaces CR, LF, and NUL with spaces.
    Line,
    /// JSON string (RFC 8259, 7).
    JsonString,
    /// Raw bytes, not encoded.
    Bytes,
}

impl Encoding {
    /// Max number of bytes that one byte of a value is encoded to.
    pub(super) fn expansion_max(self) -> u64 {
        match self {
            Self::Component | Self::Location => 3,
            Self::JsonString => 6,
            Self::Line | Self::Bytes => 1,
        }
    }

    /// Passes the encoded value to `put`, piece by piece.
    pub(super) fn encode(self, value: &[u8], mut put: impl FnMut(&[u8])) {
        // A path segment of one or two dots is removed by normalization (RFC 3986, 5.2.4).
        let is_dots = matches!(value, b"." | b"..");
        for (at, byte) in value.iter().enumerate() {
            match (self, byte) {
                (Self::Bytes, _) => return put(value),
                (Self::Component, byte) if is_unreserved(*byte) && !is_dots => put(&[*byte]),
                (Self::Location, byte) if stays_in_location(*byte, &value[at + 1..]) => put(&[*byte]),
                (Self::Component | Self::Location, byte) => put(&[b'%', upper(byte >> 4), upper(*byte)]),
                (Self::Line, b'\r' | b'\n' | 0) => put(b" "),
                (Self::JsonString, b'"' | b'\\') => put(&[b'\\', *byte]),
                (Self::JsonString, b'\n') => put(b"\\n"),
                (Self::JsonString, b'\r') => put(b"\\r"),
                (Self::JsonString, b'\t') => put(b"\\t"),
                (Self::JsonString, 0..0x20) => {
                    put(&[b'\\', b'u', b'0', b'0', upper(byte >> 4), upper(*byte)]);
                }
                (Self::Line | Self::JsonString, _) => put(&[*byte]),
            }
        }
    }

    /// Length of the encoded value in bytes.
    pub(super) fn length(self, value: &[u8]) -> usize {
        let mut bytes = 0;
        self.encode(value, |more| bytes += more.len());
        bytes
    }
}

/// Encoded forms of a value in all places, to find secrets in texts.
pub(super) fn encoded_forms(value: &[u8]) -> Vec<Vec<u8>> {
    let written = |encoding: Encoding| {
        let mut spelling = Vec::new();
        encoding.encode(value, |bytes| spelling.extend_from_slice(bytes));
        spelling
    };
    [Encoding::Component, Encoding::Location, Encoding::Line, Encoding::JsonString].map(written).into()
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

fn stays_in_location(byte: u8, rest: &[u8]) -> bool {
    match byte {
        b'%' => matches!(rest, [a, b, ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit()),
        _ => is_unreserved(byte) || b"!$&'()*+,;=:@/?".contains(&byte),
    }
}

fn upper(nibble: u8) -> u8 {
    b"0123456789ABCDEF"[usize::from(nibble & 15)]
}

/// Parser state of a text that is read from its front, as far as it decides the encoding of values in it.
pub(super) enum Text {
    /// Path with its query.
    Target {
        /// Whether the target is still empty. A value at the start of a target is a location.
        is_empty: bool,
    },
    Header,
    Json {
        in_string: bool,
        /// Whether the next character is escaped.
        is_escaped: bool,
    },
    Form,
    /// Multipart body with boundary lines: a value without line breaks cannot end a part.
    Multipart,
    Other,
}

/// Kind of a body, by its Content-Type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// JSON.
    Json,
    /// Fields of a form, percent-encoded.
    Form,
    /// Multipart body.
    Multipart,
    /// Anything else.
    Other,
}

impl BodyKind {
    /// Kind of a body with this value of the header Content-Type.
    pub fn of(content_type: &str) -> Self {
        let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match kind.as_str() {
            "application/x-www-form-urlencoded" => Self::Form,
            "application/json" | "text/json" => Self::Json,
            kind if kind.ends_with("+json") => Self::Json,
            kind if kind.starts_with("multipart/") => Self::Multipart,
            _ => Self::Other,
        }
    }
}

impl Text {
    pub(super) const TARGET: Self = Self::Target { is_empty: true };
    const JSON: Self = Self::Json { in_string: false, is_escaped: false };

    /// State at the beginning of a request's body: by its Content-Type, or JSON if the body without one is valid JSON with any
    /// value inserted.
    pub(super) fn for_body(request: &Request) -> Self {
        let is_type = |name: &str| name.eq_ignore_ascii_case("content-type");
        let body = request.body.as_deref().unwrap_or_default();
        match request.headers.iter().find(|(name, _)| is_type(name)) {
            Some((_, given)) => match BodyKind::of(given) {
                BodyKind::Form => Self::Form,
                BodyKind::Json => Self::JSON,
                BodyKind::Multipart => Self::Multipart,
                BodyKind::Other => Self::Other,
            },
            None if json::is_json(&example(body)) => Self::JSON,
            None => Self::Other,
        }
    }

    /// Advances over literal text.
    pub(super) fn advance(&mut self, text: &[u8]) {
        match self {
            Self::Target { is_empty } => *is_empty &= text.is_empty(),
            Self::Json { in_string, is_escaped } => {
                for byte in text {
                    match byte {
                        _ if *is_escaped => *is_escaped = false,
                        b'\\' => *is_escaped = *in_string,
                        b'"' => *in_string = !*in_string,
                        _ => {}
                    }
                }
            }
            Self::Header | Self::Form | Self::Multipart | Self::Other => {}
        }
    }

    /// Encoding of a value at this position.
    pub(super) fn value(&mut self, is_raw: bool) -> Encoding {
        match self {
            Self::Target { is_empty } => {
                let is_location = core::mem::take(is_empty) || is_raw;
                if is_location { Encoding::Location } else { Encoding::Component }
            }
            Self::Header => Encoding::Line,
            Self::Multipart if !is_raw => Encoding::Line,
            Self::Json { in_string: true, is_escaped: false } if !is_raw => Encoding::JsonString,
            Self::Form if !is_raw => Encoding::Component,
            Self::Json { .. } | Self::Form | Self::Multipart | Self::Other => Encoding::Bytes,
        }
    }
}

/// A body with example values that are valid in any place.
fn example(body: &[u8]) -> Vec<u8> {
    let mut example = Vec::with_capacity(body.len());
    for piece in pieces(body) {
        match piece {
            Piece::Text(bytes) => example.extend_from_slice(bytes),
            // A digit is a valid number, and a valid character of a string.
            Piece::Name(_) | Piece::Raw(_) => example.push(b'1'),
        }
    }
    example
}
