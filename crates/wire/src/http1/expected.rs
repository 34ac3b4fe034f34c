//! Texts with variables that a reply must contain.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use crate::braces::{Piece, spans};

/// A text with values of variables, which are inserted without encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Bytes(Vec<u8>),
    Value(u16),
}

impl Expected {
    /// Compiles a text with names of `variables` in braces. A variable's number is its index in the list. Unknown names stay as
    /// they are written.
    pub fn compile(text: &[u8], variables: &[String]) -> Self {
        let number = |name: &str| variables.iter().position(|known| known == name);
        let mut parts: Vec<Part> = Vec::new();
        let mut push = |part: Part| match (parts.last_mut(), part) {
            (Some(Part::Bytes(last)), Part::Bytes(more)) => last.extend(more),
            (_, part) => parts.push(part),
        };
        for (range, piece) in spans(text) {
            push(match piece {
                Piece::Text(bytes) => Part::Bytes(bytes.to_vec()),
                Piece::Name(name) | Piece::Raw(name) => match number(name) {
                    Some(number) => Part::Value(number as u16),
                    None => Part::Bytes(text[range].to_vec()),
                },
            });
        }
        Self(parts)
    }

    /// Numbers of the variables in the text.
    pub fn variables(&self) -> impl Iterator<Item = u16> {
        self.0.iter().filter_map(|part| match part {
            Part::Value(variable) => Some(*variable),
            Part::Bytes(_) => None,
        })
    }

    /// The text with empty values.
    pub fn text(&self) -> Vec<u8> {
        self.filled(&[]).into_owned()
    }

    /// The text with these values inserted.
    pub(super) fn filled<'a>(&'a self, values: &'a [Vec<u8>]) -> Cow<'a, [u8]> {
        let bytes = |part: &'a Part| match part {
            Part::Bytes(bytes) => bytes.as_slice(),
            Part::Value(variable) => values.get(usize::from(*variable)).map_or(&[][..], Vec::as_slice),
        };
        match self.0.as_slice() {
            [] => Cow::Borrowed(&[]),
            [part] => Cow::Borrowed(bytes(part)),
            parts => Cow::Owned(parts.iter().flat_map(bytes).copied().collect()),
        }
    }
}

/// Takes the text literally, names in braces included.
impl From<&str> for Expected {
    fn from(text: &str) -> Self {
        Self(Vec::from([Part::Bytes(text.into())]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserts_values_and_keeps_other_braces() {
        let variables = ["a".into(), "b.c".into()];
        let values = [b"1".to_vec(), b"2".to_vec()];
        for (text, expected) in [
            ("x {a}, {b.c}.", "x 1, 2."),
            ("{a}", "1"),
            ("", ""),
            (r#"{"id": {a}, "z": {}} {{a}}"#, r#"{"id": 1, "z": {}} {a}"#),
            ("{other}", "{other}"),
        ] {
            let compiled = Expected::compile(text.as_bytes(), &variables);
            assert_eq!(&*compiled.filled(&values), expected.as_bytes(), "{text}");
        }
        assert_eq!(
            Expected::compile(b"{b.c}{a}{b.c}", &variables).variables().collect::<Vec<_>>(),
            [1, 0, 1]
        );
        assert_eq!(&*Expected::from("{a}").filled(&values), b"{a}");
    }
}
