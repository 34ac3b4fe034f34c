//! Values of a reply that later requests need.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use httparse::Header;
use regex::bytes::Regex;

use super::checks::KEPT_BODY_BYTES_MAX;
use super::jar::{self, CookieJar};
use super::json;
use super::json_path::JsonPath;

/// A captured value is at most this long; a longer one is refused.
pub const CAPTURED_BYTES_MAX: usize = 64 * 1024;

/// A value to keep; a reply that does not have it is `rejected`, in the class `capture`.
#[derive(Clone, Debug)]
pub struct Capture {
    /// The variable that gets it.
    pub variable: u16,
    /// Where it is found.
    pub from: CaptureFrom,
}

/// Where a value is found.
#[derive(Clone, Debug)]
pub enum CaptureFrom {
    /// The first header of this name, in any case.
    Header(String),
    /// The first match in the body: its group 1, or all of it if there is no such group.
    Body(Regex),
    /// The first header of this name that matches: the group 1 of the match, or all of it if there is no such group.
    HeaderPart(String, Regex),
    /// The place of this path: a text without its quotes; a number, true or false as it is written.
    Json(JsonPath),
}

/// Why there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    NotThere,
    TooLong,
    /// The body goes on beyond what is kept of one.
    BeyondKept,
    NotJson,
    /// A JSON object, a list or null.
    NoScalar,
    /// The header is there, without a match.
    NoMatch,
}

impl Missing {
    const ALL: [Self; 6] =
        [Self::NotThere, Self::TooLong, Self::BeyondKept, Self::NotJson, Self::NoScalar, Self::NoMatch];
}

impl CaptureFrom {
    pub(super) fn is_in_body(&self) -> bool {
        !matches!(self, Self::Header(_) | Self::HeaderPart(..))
    }

    /// Its regular expression, if it has one.
    pub(super) fn expression(&self) -> Option<&Regex> {
        match self {
            Self::Body(expression) | Self::HeaderPart(_, expression) => Some(expression),
            Self::Header(_) | Self::Json(_) => None,
        }
    }

    /// What it finds in a head; `None`: it is not looked for there.
    fn in_head<'a>(&self, headers: &[Header<'a>]) -> Option<Result<&'a [u8], Missing>> {
        let (name, expression) = match self {
            Self::Header(name) => (name, None),
            Self::HeaderPart(name, expression) => (name, Some(expression)),
            Self::Body(_) | Self::Json(_) => return None,
        };
        let mut named = headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name)).peekable();
        if named.peek().is_none() {
            return Some(Err(Missing::NotThere));
        }
        let value = |header: &Header<'a>| match expression {
            None => Some(header.value),
            Some(expression) => matched(expression, header.value),
        };
        Some(named.find_map(value).ok_or(Missing::NoMatch))
    }
}

/// What an expression finds in a text: its group 1, or the whole match if there is no such group.
fn matched<'a>(expression: &Regex, text: &'a [u8]) -> Option<&'a [u8]> {
    let found = expression.captures(text)?;
    found.get(1).or_else(|| found.get(0)).map(|part| part.as_bytes())
}

/// The values of one user's variables.
#[derive(Debug)]
pub(super) struct Values {
    /// By variable.
    pub(super) list: Box<[Vec<u8>]>,
    /// The code of a capture that found nothing in the last head.
    failed_in_head: Option<u32>,
}

impl Values {
    pub(super) fn new(variables: u16) -> Self {
        Self { list: (0..variables).map(|_| Vec::new()).collect(), failed_in_head: None }
    }

    /// Gives a variable its value.
    pub(super) fn set(&mut self, variable: u16, value: &[u8]) {
        if let Some(place) = self.list.get_mut(usize::from(variable)) {
            place.clear();
            // No more than is needed: a value that was long once must not leave twice its length behind.
            place.reserve_exact(value.len());
            place.extend_from_slice(value);
        }
    }

    fn keep(&mut self, capture: &Capture, value: &[u8]) -> Result<(), Missing> {
        if value.len() > CAPTURED_BYTES_MAX {
            return Err(Missing::TooLong);
        }
        self.set(capture.variable, value);
        Ok(())
    }

    /// Keeps what the captures find in a head.
    pub(super) fn keep_from_head(&mut self, captures: &[Capture], headers: &[Header<'_>]) {
        self.failed_in_head = None;
        for (number, capture) in captures.iter().enumerate() {
            let Some(value) = capture.from.in_head(headers) else { continue };
            if let Err(missing) = value.and_then(|value| self.keep(capture, value)) {
                self.failed_in_head = Some(code(number, missing));
                return;
            }
        }
    }

    /// Takes in the cookies of a reply.
    #[cold]
    pub(super) fn keep_cookies(&mut self, at: CookieJar, host: &str, headers: &[Header<'_>]) {
        let Some(jar) = self.list.get_mut(usize::from(at.jar)) else { return };
        let mut jar = core::mem::take(jar);
        let path = self.list.get(usize::from(at.path)).map_or(&[][..], Vec::as_slice);
        jar::take_in(&mut jar, headers, host, path);
        self.list[usize::from(at.jar)] = jar;
    }

    /// Keeps what the captures find in a body of which `body` was kept, `is_whole` or not. The first capture that found
    /// nothing, in the head or here, is answered by its code.
    pub(super) fn keep_from_body(
        &mut self,
        captures: &[Capture],
        body: &[u8],
        is_whole: bool,
    ) -> Result<(), u32> {
        if captures.is_empty() {
            // What failed in a head is that of an earlier step, whose reply was never looked at to its end.
            return Ok(());
        }
        if let Some(code) = self.failed_in_head.take() {
            return Err(code);
        }
        let missing = |missing| if is_whole { missing } else { Missing::BeyondKept };
        for (number, capture) in captures.iter().enumerate() {
            let kept = match &capture.from {
                CaptureFrom::Header(_) | CaptureFrom::HeaderPart(..) => Ok(()),
                CaptureFrom::Body(expression) => match matched(expression, body) {
                    Some(value) => self.keep(capture, value),
                    None => Err(missing(Missing::NotThere)),
                },
                CaptureFrom::Json(path) => match json::find(body, path.parts()) {
                    Ok(value) => self.keep(capture, &value),
                    Err(why) => Err(missing(why)),
                },
            };
            kept.map_err(|missing| code(number, missing))?;
        }
        Ok(())
    }
}

fn code(number: usize, missing: Missing) -> u32 {
    (number * Missing::ALL.len()) as u32 + missing as u32
}

/// What the code of a refusal says.
pub(super) fn explain(captures: &[Capture], code: u32) -> Option<String> {
    let (number, missing) =
        (code as usize / Missing::ALL.len(), Missing::ALL[code as usize % Missing::ALL.len()]);
    let from = &captures.get(number)?.from;
    let place = match from {
        CaptureFrom::Header(name) | CaptureFrom::HeaderPart(name, _) => format!("header {name}"),
        CaptureFrom::Body(expression) => format!("/{}/", expression.as_str()),
        CaptureFrom::Json(path) => format!("{:?}", path.written()),
    };
    Some(match (missing, from) {
        (Missing::NotThere, CaptureFrom::Header(_) | CaptureFrom::HeaderPart(..)) => {
            format!("{place}, to be saved, is missing")
        }
        (Missing::NotThere, CaptureFrom::Body(_)) => {
            format!("nothing in the body matches {place}, to be saved")
        }
        (Missing::NotThere, CaptureFrom::Json(_)) => format!("the body has no {place}, to be saved"),
        (Missing::NoMatch, from) => {
            let expression = from.expression().map_or("", Regex::as_str);
            format!("no {place} matches /{expression}/, to be saved")
        }
        (Missing::TooLong, _) => {
            format!("the value of {place} is longer than {} KiB, and is not saved", CAPTURED_BYTES_MAX / 1024)
        }
        (Missing::BeyondKept, _) => {
            let kept = KEPT_BODY_BYTES_MAX / (1024 * 1024);
            format!("{place}, to be saved, is not found in the first {kept} MiB of the body")
        }
        (Missing::NotJson, _) => format!("the body is not JSON, so that {place} cannot be saved"),
        (Missing::NoScalar, _) => format!("the value of {place} is neither text, number, true nor false"),
    })
}
