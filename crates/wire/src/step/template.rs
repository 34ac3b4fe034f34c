//! Texts with variables, compiled once, and filled for each exchange.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::braces::{self, Piece};
use crate::secrets::Secrets;

/// Text with variables that are identified by numbers.
#[derive(Debug)]
pub struct Template(Box<[Part]>);

#[derive(Debug)]
enum Part {
    Text(Vec<u8>),
    Variable(u16),
}

impl Template {
    /// Creates a template of exactly these bytes.
    pub fn fixed(bytes: &[u8]) -> Self {
        Self(Box::from([Part::Text(bytes.into())]))
    }

    /// Compiles a text with names in braces: names of `variables`, numbered by their indexes in the list, or of secrets.
    ///
    /// # Errors
    ///
    /// The message for an unknown name.
    pub fn compile(text: &[u8], variables: &[String], secrets: &Secrets) -> Result<Self, String> {
        let mut parts: Vec<Part> = Vec::new();
        for piece in braces::pieces(text) {
            let text = match piece {
                Piece::Text(text) => text,
                Piece::Name(name) | Piece::Raw(name) => {
                    if let Some(number) = variables.iter().position(|known| known == name) {
                        parts.push(Part::Variable(number as u16));
                        continue;
                    }
                    secrets.get(name).map(str::as_bytes).ok_or_else(|| {
                        format!(
                            "nothing gives a value to {{{name}}}; write {{{{{name}}}}} for the text itself"
                        )
                    })?
                }
            };
            match parts.last_mut() {
                Some(Part::Text(before)) => before.extend_from_slice(text),
                _ => parts.push(Part::Text(text.into())),
            }
        }
        Ok(Self(parts.into()))
    }

    /// Numbers of the variables in the text, in order.
    pub fn variables(&self) -> impl Iterator<Item = u16> {
        self.0.iter().filter_map(|part| match part {
            Part::Variable(number) => Some(*number),
            Part::Text(_) => None,
        })
    }

    /// Bytes of the text. `None` if it has variables.
    pub fn constant(&self) -> Option<&[u8]> {
        match &*self.0 {
            [] => Some(&[]),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Appends the filled text to `out`. `value` returns the value of a variable, empty if it has none.
    pub fn fill<'v>(&self, value: impl Fn(u16) -> &'v [u8], out: &mut Vec<u8>) {
        for part in &self.0 {
            match part {
                Part::Text(text) => out.extend_from_slice(text),
                Part::Variable(number) => out.extend_from_slice(value(*number)),
            }
        }
    }

    /// Pieces of the filled text, in order. `value` returns the value of a variable, empty if it has none.
    pub fn filled<'v>(&'v self, value: &impl Fn(u16) -> &'v [u8]) -> impl Iterator<Item = &'v [u8]> {
        self.0.iter().map(move |part| match part {
            Part::Text(text) => text.as_slice(),
            Part::Variable(number) => value(*number),
        })
    }

    /// Max length of the filled text in bytes. `longest_bytes` returns the max length of a variable's value.
    pub fn bytes_max(&self, longest_bytes: &dyn Fn(u16) -> u64) -> u64 {
        let bytes = |part: &Part| match part {
            Part::Text(text) => text.len() as u64,
            Part::Variable(number) => longest_bytes(*number),
        };
        self.0.iter().map(bytes).fold(0, u64::saturating_add)
    }
}
