//! Encoding of commands: compiled once, and encoded for each exchange. A value is never split into several words.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::binary::Request;
use super::content::{Content, Kind};
use super::format::Format;
use super::step::{MemcachedStep, ReplyPart};
use crate::ErrorClass;
use crate::conversation::Rejection;
use crate::secrets::Secrets;
use crate::step::Template;

/// Max bytes of a key, and of any other word of a command's line.
const WORD_BYTES_MAX: usize = 250;
/// Max digits of a length.
const LENGTH_DIGITS_MAX: u64 = 20;
/// Codes of refusals, by the check that failed. From `SAVED` on, they are `SAVED` plus the number of the saved value.
const ERROR: u32 = 0;
const TYPE: u32 = 1;
const REPLY: u32 = 2;
const CONTENT: u32 = 3;
const SAVED: u32 = 4;
/// Max bytes of a value in a message.
const SHOWN_BYTES_MAX: usize = 120;

/// A compiled command of a load.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) encoding: Encoding,
    kind: Option<Kind>,
    reply: Option<Template>,
    content: Option<Template>,
    saves: Box<[(u16, ReplyPart)]>,
}

/// A command in the format of its load.
#[derive(Debug)]
pub(super) enum Encoding {
    Text(Line),
    Binary(Request),
}

/// A command of the text protocol.
#[derive(Debug)]
pub(super) struct Line {
    /// Words of the line, without the length of the data.
    words: Box<[Template]>,
    /// Number of words before the length of the data, and the data. `None` if the command has no data.
    data: Option<(usize, Template)>,
}

/// Expected texts of checks with the values of a user.
#[derive(Clone, Debug, Default)]
pub(super) struct Expected {
    reply: Option<Vec<u8>>,
    content: Option<Vec<u8>>,
}

impl Encoding {
    /// Compiles the command of a step in the format of a load.
    fn compile(
        step: &MemcachedStep,
        format: Format,
        variables: &[String],
        secrets: &Secrets,
    ) -> Result<Self, String> {
        match format {
            Format::Text => Line::compile(step, variables, secrets).map(Self::Text),
            Format::Binary { vbuckets } => {
                Request::compile(step, vbuckets, variables, secrets).map(Self::Binary)
            }
        }
    }

    fn templates(&self) -> Box<dyn Iterator<Item = &Template> + '_> {
        match self {
            Self::Text(line) => Box::new(line.templates()),
            Self::Binary(request) => Box::new(request.templates()),
        }
    }

    /// Max length in bytes.
    fn bytes_max(&self, longest_bytes: &dyn Fn(u16) -> u64) -> u64 {
        match self {
            Self::Text(line) => line.bytes_max(longest_bytes),
            Self::Binary(request) => request.bytes_max(longest_bytes),
        }
    }
}

impl Line {
    fn compile(step: &MemcachedStep, variables: &[String], secrets: &Secrets) -> Result<Self, String> {
        let template = |text: &Vec<u8>| Template::compile(text, variables, secrets);
        let data = step.data.as_ref().map(|(place, text)| Ok::<_, String>((*place, template(text)?)));
        Ok(Self {
            words: step.words.iter().map(template).collect::<Result<_, _>>()?,
            data: data.transpose()?,
        })
    }

    /// Appends the line and its data. `value` returns the value of a variable, empty if it has none.
    ///
    /// # Errors
    ///
    /// A word is empty, too long, or has white space or control characters, which would form another command.
    fn encode<'v>(&self, value: &impl Fn(u16) -> &'v [u8], out: &mut Vec<u8>) -> Result<(), String> {
        for (number, word) in self.words.iter().enumerate() {
            if number > 0 {
                out.push(b' ');
            }
            self.put_length(number, value, out);
            let start = out.len();
            word.fill(value, out);
            check_word(&out[start..])?;
        }
        if self.data.as_ref().is_some_and(|(place, _)| *place == self.words.len()) {
            out.push(b' ');
            self.put_length(self.words.len(), value, out);
            out.pop();
        }
        out.extend_from_slice(b"\r\n");
        if let Some((_, data)) = &self.data {
            data.fill(value, out);
            out.extend_from_slice(b"\r\n");
        }
        Ok(())
    }

    /// Appends the length of the data and a space, if this is its place.
    fn put_length<'v>(&self, number: usize, value: &impl Fn(u16) -> &'v [u8], out: &mut Vec<u8>) {
        if let Some((place, data)) = &self.data
            && *place == number
        {
            let length = data.bytes_max(&|variable| value(variable).len() as u64);
            out.extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
            out.push(b' ');
        }
    }

    fn templates(&self) -> impl Iterator<Item = &Template> {
        self.words.iter().chain(self.data.iter().map(|(_, data)| data))
    }

    fn bytes_max(&self, longest_bytes: &dyn Fn(u16) -> u64) -> u64 {
        let bytes = self.templates().map(|template| template.bytes_max(longest_bytes).saturating_add(1));
        bytes.fold(LENGTH_DIGITS_MAX + 4, u64::saturating_add)
    }
}

impl Command {
    /// Compiles the command of a step.
    ///
    /// # Errors
    ///
    /// The message for an unknown variable.
    pub(super) fn compile(
        step: &MemcachedStep,
        format: Format,
        variables: &[String],
        secrets: &Secrets,
    ) -> Result<Self, String> {
        let template = |text: &Vec<u8>| Template::compile(text, variables, secrets);
        Ok(Self {
            encoding: Encoding::compile(step, format, variables, secrets)?,
            kind: step.expect.kind,
            reply: step.expect.reply.as_ref().map(template).transpose()?,
            content: step.expect.content.as_ref().map(template).transpose()?,
            saves: step.saves.clone().into(),
        })
    }

    /// Appends the command. `value` returns the value of a variable, empty if it has none.
    ///
    /// # Errors
    ///
    /// A word or a key is not allowed by the protocol, or a value that must be a number is not one.
    pub(super) fn encode<'v>(
        &self,
        value: &impl Fn(u16) -> &'v [u8],
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        match &self.encoding {
            Encoding::Text(line) => line.encode(value, out),
            Encoding::Binary(request) => request.encode(value, out),
        }
    }

    /// Whether the command or its checks need a variable.
    pub(super) fn needs(&self, variable: u16) -> bool {
        self.templates().flat_map(Template::variables).any(|needed| needed == variable)
    }

    /// Max length in bytes of the encoded command and of its expected texts.
    pub(super) fn bytes_max(&self, longest_bytes: &dyn Fn(u16) -> u64) -> u64 {
        let expected = self.reply.iter().chain(&self.content);
        let bytes = expected.map(|template| template.bytes_max(longest_bytes).saturating_add(1));
        bytes.fold(self.encoding.bytes_max(longest_bytes), u64::saturating_add)
    }

    fn templates(&self) -> impl Iterator<Item = &Template> {
        self.encoding.templates().chain(&self.reply).chain(&self.content)
    }

    /// Whether values of replies are needed.
    #[inline]
    pub(super) fn inspects_replies(&self) -> bool {
        self.reply.is_some() || self.content.is_some() || !self.saves.is_empty()
    }

    /// Numbers of the variables that replies give values to.
    pub(super) fn saved(&self) -> impl Iterator<Item = u16> {
        self.saves.iter().map(|(variable, _)| *variable)
    }

    /// Expected texts with the values of variables. `None` if there are no checks of texts.
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
    pub(super) fn check_reply(&self, reply: &Content, expected: Option<&Expected>) -> Option<Rejection> {
        if let Some((_, class)) = reply.error() {
            return Some(Rejection { class, code: ERROR });
        }
        let check = |code| Some(Rejection { class: ErrorClass::CheckBody, code });
        if self.kind.is_some_and(|kind| kind != reply.kind) {
            return check(TYPE);
        }
        let expected = expected?;
        if expected.reply.as_deref().is_some_and(|text| reply.value(0) != Some(text)) {
            return check(REPLY);
        }
        if expected.content.as_deref().is_some_and(|text| !reply.contains(text)) {
            return check(CONTENT);
        }
        None
    }

    /// Passes the values that are saved from a reply to `take`.
    ///
    /// # Errors
    ///
    /// A value is absent, or longer than 64 KiB.
    pub(super) fn save(&self, reply: &Content, take: &mut dyn FnMut(u16, &[u8])) -> Result<(), Rejection> {
        for (code, (variable, part)) in (SAVED..).zip(&self.saves) {
            let value = match part {
                ReplyPart::Item(number) => reply.value(*number),
                ReplyPart::Unique => reply.unique(),
            };
            take(*variable, value.ok_or(Rejection { class: ErrorClass::Capture, code })?);
        }
        Ok(())
    }

    /// Error message for a refusal, with the beginning of the reply.
    pub(super) fn explain(&self, rejection: Rejection, reply: &Content, secrets: &Secrets) -> String {
        let value = reply.value(0).unwrap_or_default();
        let value = &value[..value.len().min(SHOWN_BYTES_MAX)];
        let got = match reply.kind {
            kind @ (Kind::Value | Kind::Number) => {
                format!("{} \"{}\"", kind.name(), secrets.redact(value).escape_ascii())
            }
            kind => kind.name().into(),
        };
        match rejection.code {
            ERROR => {
                let error = reply.error().map_or(&[][..], |(error, _)| error);
                String::from_utf8_lossy(&secrets.redact(error)).into_owned()
            }
            TYPE => format!("expected type {}, got {got}", self.kind.map_or("", Kind::name)),
            REPLY => format!("the reply differs from `expect`: {got}"),
            CONTENT => format!("the reply does not contain the text in `expect`: {got}"),
            _ => format!("the reply has no value to save there, or one above 64 KiB: {got}"),
        }
    }
}

/// Checks that a word of a command's line stays one word.
fn check_word(word: &[u8]) -> Result<(), String> {
    let is_sound = !word.is_empty() && word.iter().all(|byte| *byte > b' ' && *byte != 0x7f);
    match is_sound && word.len() <= WORD_BYTES_MAX {
        true => Ok(()),
        false => {
            let shown = word[..word.len().min(40)].escape_ascii();
            Err(format!(
                "\"{shown}\" cannot be sent: a key has 1 to {WORD_BYTES_MAX} bytes without spaces and control characters"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_with_space_or_control_character_is_not_sent() {
        for word in [&b""[..], b"a b", b"a\r\nflush_all", b"a\0", &[b'x'; 251]] {
            assert!(check_word(word).is_err(), "{word:?}");
        }
        assert!(check_word("schl\u{fc}ssel".as_bytes()).is_ok() && check_word(&[b'x'; 250]).is_ok());
    }
}
