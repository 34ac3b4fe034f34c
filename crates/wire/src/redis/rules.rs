//! Checks of replies, and values that are saved from them.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::errors;
use super::reader::{Kind, ReplyParser};
use super::step::{Part, RedisStep};
use crate::ErrorClass;
use crate::conversation::Rejection;
use crate::secrets::Secrets;
use crate::step::Template;

/// Codes of refusals, by the check that failed. From `SAVED` on, they are `SAVED` plus the index of the saved value.
pub(super) const ERROR: u32 = 0;
const TYPE: u32 = 1;
const REPLY: u32 = 2;
const CONTENT: u32 = 3;
const SAVED: u32 = 4;

/// Checks and saved values of a step.
#[derive(Debug)]
pub(super) struct Rules {
    kind: Option<Kind>,
    reply: Option<Template>,
    content: Option<Template>,
    saves: Box<[(u16, Part)]>,
}

/// Expected texts of checks with the values of a user.
#[derive(Clone, Debug, Default)]
pub(super) struct Expected {
    reply: Option<Vec<u8>>,
    content: Option<Vec<u8>>,
}

impl Rules {
    pub(super) fn compile(step: &RedisStep, variables: &[String], secrets: &Secrets) -> Result<Self, String> {
        let template = |text: &Option<Vec<u8>>| {
            text.as_ref().map(|text| Template::compile(text, variables, secrets)).transpose()
        };
        Ok(Self {
            kind: step.expect.kind,
            reply: template(&step.expect.reply)?,
            content: template(&step.expect.content)?,
            saves: step.saves.clone().into(),
        })
    }

    /// Whether the content of replies is needed.
    #[inline]
    pub(super) fn need_content(&self) -> bool {
        self.reply.is_some() || self.content.is_some() || !self.saves.is_empty()
    }

    fn templates(&self) -> impl Iterator<Item = &Template> {
        self.reply.iter().chain(&self.content)
    }

    pub(super) fn needs(&self, variable: u16) -> bool {
        self.templates().flat_map(Template::variables).any(|needed| needed == variable)
    }

    /// Max bytes of the filled texts.
    pub(super) fn bytes_max(&self, longest_bytes: &dyn Fn(u16) -> u64) -> u64 {
        self.templates().map(|template| template.bytes_max(longest_bytes)).fold(0, u64::saturating_add)
    }

    /// Numbers of the variables that replies give values to.
    pub(super) fn saved(&self) -> impl Iterator<Item = u16> {
        self.saves.iter().map(|(variable, _)| *variable)
    }

    /// Expected texts with the values of variables. `None` if there are no checks of texts.
    #[inline]
    pub(super) fn expected<'v>(&self, value: &impl Fn(u16) -> &'v [u8]) -> Option<Box<Expected>> {
        if self.reply.is_none() && self.content.is_none() {
            return None;
        }
        let filled = |template: &Template| {
            let mut text = Vec::new();
            template.fill(value, &mut text);
            text
        };
        Some(Box::new(Expected {
            reply: self.reply.as_ref().map(filled),
            content: self.content.as_ref().map(filled),
        }))
    }

    /// Reason why a reply is rejected. `None` if it passes.
    #[inline]
    pub(super) fn check_reply(&self, reply: &ReplyParser, expected: Option<&Expected>) -> Option<Rejection> {
        if let Some(error) = reply.error()
            && (self.kind != Some(Kind::Error) || reply.kind() != Kind::Error)
        {
            return Some(Rejection { class: errors::class(error), code: ERROR });
        }
        if self.kind.is_none() && !self.need_content() {
            return None;
        }
        self.compare(reply, expected)
    }

    fn compare(&self, reply: &ReplyParser, expected: Option<&Expected>) -> Option<Rejection> {
        let check = |code| Some(Rejection { class: ErrorClass::CheckBody, code });
        if self.kind.is_some_and(|kind| kind != reply.kind()) {
            return check(TYPE);
        }
        let (kept, expected) = (reply.kept(), expected?);
        if expected.reply.as_deref().is_some_and(|text| kept.only_item() != Some(text)) {
            return check(REPLY);
        }
        if expected.content.as_deref().is_some_and(|text| !kept.contains(text)) {
            return check(CONTENT);
        }
        None
    }

    /// Passes the values that are saved from a reply to `take`.
    ///
    /// # Errors
    ///
    /// A value is null, absent, or longer than 64 KiB.
    pub(super) fn save(
        &self,
        reply: &ReplyParser,
        take: &mut dyn FnMut(u16, &[u8]),
    ) -> Result<(), Rejection> {
        for (code, (variable, source)) in (SAVED..).zip(&self.saves) {
            let lines;
            let value = match source {
                Part::Reply => reply.kept().only_item(),
                Part::Item(number) => reply.kept().item(*number),
                Part::Items => {
                    lines = reply.kept().lines();
                    Some(lines.as_slice())
                }
            };
            let value = value.ok_or(Rejection { class: ErrorClass::Capture, code })?;
            take(*variable, value);
        }
        Ok(())
    }

    /// Error message for a refusal, with the beginning of the reply.
    pub(super) fn explain(&self, rejection: Rejection, reply: &ReplyParser, secrets: &Secrets) -> String {
        let shown = |bytes: &[u8]| format!("{}", secrets.redact(bytes).escape_ascii());
        let got = || match reply.kind() {
            kind @ (Kind::String | Kind::Integer | Kind::Double | Kind::Boolean | Kind::BigNumber) => {
                format!("{} \"{}\"", kind.name(), shown(reply.kept().beginning()))
            }
            kind => kind.name().into(),
        };
        match rejection.code {
            ERROR => String::from_utf8_lossy(&secrets.redact(reply.error().unwrap_or_default())).into_owned(),
            TYPE => {
                let expected = self.kind.map_or("", Kind::name);
                format!("expected type {expected}, got {}", got())
            }
            REPLY => format!("the reply differs from `expect`: {}", got()),
            CONTENT => format!("the reply does not contain the text in `expect`: {}", got()),
            _ => format!("the reply has no value to save there, or one above 64 KiB: {}", got()),
        }
    }
}
