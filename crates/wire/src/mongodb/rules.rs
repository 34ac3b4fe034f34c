//! Checks of replies, and values that are saved from them.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::errors;
use super::json::Node;
use super::reply::Reply;
use super::step::{MongoStep, Source};
use crate::ErrorClass;
use crate::braces;
use crate::conversation::Rejection;
use crate::secrets::Secrets;
use crate::step::Template;

/// Codes of refusals, by the check that failed. From `FIELDS` on, they are `FIELDS` plus the number of the field, and from `SAVED`
/// on, `SAVED` plus the number of the saved value.
const ERROR: u32 = 0;
const DOCUMENTS: u32 = 1;
const MATCHED: u32 = 2;
const MODIFIED: u32 = 3;
const FIELDS: u32 = 4;
const SAVED: u32 = 1 << 16;
/// Max bytes of a value in a message.
const SHOWN_BYTES_MAX: usize = 120;

/// Checks and saved values of a step.
#[derive(Debug)]
pub(super) struct Rules {
    documents: Option<u64>,
    matched: Option<u64>,
    modified: Option<u64>,
    fields: Box<[Field]>,
    saves: Box<[(u16, Place)]>,
    /// Paths of the values that checks and saved values read.
    pub(super) wanted: Box<[Box<[u8]>]>,
}

/// Expected value of a field.
#[derive(Debug)]
struct Field {
    /// Number of its path in [`Rules::wanted`].
    place: usize,
    template: Template,
    /// Whether the value is a number, which equals numbers of other types.
    is_number: bool,
}

/// Part of a reply that is saved.
#[derive(Clone, Copy, Debug)]
enum Place {
    Cursor,
    /// Value at the path of this number.
    Value(usize),
}

/// Expected texts of the fields with the values of a user.
pub(super) type Expected = Vec<Vec<u8>>;

impl Rules {
    pub(super) fn compile(step: &MongoStep, variables: &[String], secrets: &Secrets) -> Result<Self, String> {
        let mut wanted: Vec<Box<[u8]>> = Vec::new();
        let mut place_of = |path: &[u8]| {
            wanted.iter().position(|known| **known == *path).unwrap_or_else(|| {
                wanted.push(path.into());
                wanted.len() - 1
            })
        };
        let mut fields = Vec::new();
        for (path, node) in &step.expect.fields {
            let template = match node {
                Node::Text(template) | Node::Raw(template) => template.clone(),
                Node::Number(text) => text.as_bytes().into(),
                Node::Boolean(is_true) => format!("{is_true}").into_bytes(),
                Node::Null | Node::List(_) | Node::Map(_) => {
                    return Err(format!(
                        "`{}` is compared with no text, number, or truth value",
                        String::from_utf8_lossy(path)
                    ));
                }
            };
            let is_number = matches!(node, Node::Number(_) | Node::Raw(_));
            let template = Template::compile(&template, variables, secrets)?;
            fields.push(Field { place: place_of(path), template, is_number });
        }
        let saves = step.saves.iter().map(|(variable, source)| match source {
            Source::Cursor => (*variable, Place::Cursor),
            Source::Field(path) => (*variable, Place::Value(place_of(path))),
        });
        let saves = saves.collect();
        Ok(Self {
            documents: step.expect.documents,
            matched: step.expect.matched,
            modified: step.expect.modified,
            fields: fields.into(),
            saves,
            wanted: wanted.into(),
        })
    }

    /// Whether values of replies are needed.
    pub(super) fn need_content(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Whether a step saves the cursor's number, so that a later step continues to read from it.
    pub(super) fn saves_cursor(&self) -> bool {
        self.saves.iter().any(|(_, place)| matches!(place, Place::Cursor))
    }

    pub(super) fn needs(&self, variable: u16) -> bool {
        self.fields.iter().flat_map(|field| field.template.variables()).any(|needed| needed == variable)
    }

    /// Max bytes of the filled texts.
    pub(super) fn bytes_max(&self, longest_bytes: &dyn Fn(u16) -> u64) -> u64 {
        let bytes = self.fields.iter().map(|field| field.template.bytes_max(longest_bytes));
        bytes.fold(0, u64::saturating_add)
    }

    /// Numbers of the variables that replies give values to.
    pub(super) fn saved(&self) -> impl Iterator<Item = u16> {
        self.saves.iter().map(|(variable, _)| *variable)
    }

    /// Expected texts with the values of variables.
    pub(super) fn expected<'v>(&self, value: &impl Fn(u16) -> &'v [u8]) -> Expected {
        let filled = |field: &Field| {
            let mut text = Vec::new();
            field.template.fill(value, &mut text);
            text
        };
        self.fields.iter().map(filled).collect()
    }

    /// Reason why a reply is rejected. `None` if it passes.
    pub(super) fn check_reply(&self, reply: &Reply, expected: &Expected) -> Option<Rejection> {
        if let Some((code, _)) = reply.error() {
            return Some(Rejection { class: errors::class(code), code: ERROR });
        }
        let check = |code| Some(Rejection { class: ErrorClass::CheckBody, code });
        let differs = |expected: Option<u64>, count: Option<i64>| {
            expected
                .is_some_and(|expected| count.and_then(|count| u64::try_from(count).ok()) != Some(expected))
        };
        if self.documents.is_some_and(|expected| expected != reply.documents) {
            return check(DOCUMENTS);
        }
        if differs(self.matched, reply.matched) {
            return check(MATCHED);
        }
        if differs(self.modified, reply.modified) {
            return check(MODIFIED);
        }
        let is_wrong = |(field, text): (&Field, &Vec<u8>)| !field.is_equal(reply.value(field.place), text);
        let wrong = self.fields.iter().zip(expected).position(is_wrong);
        wrong.and_then(|number| check(FIELDS + number as u32))
    }

    /// Passes the values that are saved from a reply to `take`.
    ///
    /// # Errors
    ///
    /// A value is absent, null, no text or number, or longer than 64 KiB.
    pub(super) fn save(&self, reply: &Reply, take: &mut dyn FnMut(u16, &[u8])) -> Result<(), Rejection> {
        for (code, (variable, place)) in (SAVED..).zip(&self.saves) {
            match place {
                Place::Cursor => take(*variable, format!("{}", reply.cursor).as_bytes()),
                Place::Value(place) => {
                    let value = reply.value(*place).ok_or(Rejection { class: ErrorClass::Capture, code })?;
                    take(*variable, value);
                }
            }
        }
        Ok(())
    }

    /// Error message for a refusal.
    pub(super) fn explain(&self, rejection: Rejection, reply: &Reply, secrets: &Secrets) -> String {
        let shown = |bytes: &[u8]| {
            let bytes = &bytes[..bytes.len().min(SHOWN_BYTES_MAX)];
            format!("\"{}\"", secrets.redact(bytes).escape_ascii())
        };
        let count = |count: Option<i64>| count.map_or_else(|| "none".into(), |count| format!("{count}"));
        match rejection.code {
            ERROR => {
                let (code, message) = reply.error().unwrap_or_default();
                format!("{code}: {}", String::from_utf8_lossy(&secrets.redact(message)))
            }
            DOCUMENTS => {
                format!("expected {} documents, got {}", self.documents.unwrap_or(0), reply.documents)
            }
            MATCHED => format!("expected n = {}, got {}", self.matched.unwrap_or(0), count(reply.matched)),
            MODIFIED => {
                format!("expected nModified = {}, got {}", self.modified.unwrap_or(0), count(reply.modified))
            }
            code if code < SAVED => {
                let place = self.fields.get((code - FIELDS) as usize).map_or(0, |field| field.place);
                let got = reply.value(place).map_or_else(|| "no value".into(), shown);
                format!("`{}` differs from `expect`: got {got}", self.path(place))
            }
            code => match self.saves.get((code - SAVED) as usize) {
                Some((_, Place::Value(place))) => {
                    format!("the reply has no text or number of at most 64 KiB at `{}`", self.path(*place))
                }
                _ => "the reply has no value to save there".into(),
            },
        }
    }

    fn path(&self, place: usize) -> String {
        self.wanted.get(place).map_or_else(String::new, |path| String::from_utf8_lossy(path).into_owned())
    }
}

impl Field {
    fn is_equal(&self, value: Option<&[u8]>, expected: &[u8]) -> bool {
        let Some(value) = value else { return false };
        let number = |bytes: &[u8]| core::str::from_utf8(bytes).ok()?.parse::<f64>().ok();
        value == expected || (self.is_number && number(value).is_some() && number(value) == number(expected))
    }
}

/// Template text that yields exactly these bytes.
pub(super) fn literal(text: &str) -> Node {
    Node::Text(braces::literal(text.as_bytes()))
}
