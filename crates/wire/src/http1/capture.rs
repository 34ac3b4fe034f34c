//! Captures: values that are saved from a reply for later requests.

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

/// Longest value that can be captured; a reply with a longer one is rejected.
pub const CAPTURED_BYTES_MAX: usize = 64 * 1024;

/// Value to save from a reply. A reply without it is `rejected`, with the class `capture`.
#[derive(Clone, Debug)]
pub struct Capture {
    /// Number of the variable that gets the value.
    pub variable: u16,
    /// Place of the value in the reply.
    pub from: CaptureSource,
}

/// Place of a value in a reply.
#[derive(Clone, Debug)]
pub enum CaptureSource {
    /// First header of this name, ignoring case.
    Header(String),
    /// First match in the body: group 1, or the whole match if there is no group.
    Body(Regex),
    /// First header of this name that matches: group 1, or the whole match if there is no group.
    HeaderPart(String, Regex),
    /// JSON value at this path: a string without its quotes; a number, `true`, or `false` as it is written.
    Json(JsonPath),
}

/// Reason why a capture found no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    NotThere,
    TooLong,
    /// No value in the kept part of a body that was longer than this part.
    BeyondKept,
    NotJson,
    /// A JSON object, array, or null.
    NotScalar,
    /// The header is present, but does not match.
    NoMatch,
}

impl Missing {
    const ALL: [Self; 6] =
        [Self::NotThere, Self::TooLong, Self::BeyondKept, Self::NotJson, Self::NotScalar, Self::NoMatch];
}

impl CaptureSource {
    pub(super) fn is_in_body(&self) -> bool {
        !matches!(self, Self::Header(_) | Self::HeaderPart(..))
    }

    /// Regular expression of the capture. `None` if it has none.
    pub(super) fn expression(&self) -> Option<&Regex> {
        match self {
            Self::Body(expression) | Self::HeaderPart(_, expression) => Some(expression),
            Self::Header(_) | Self::Json(_) => None,
        }
    }

    /// Value of the capture in a head. `None` for a capture from the body.
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
            Some(expression) => find_match(expression, header.value),
        };
        Some(named.find_map(value).ok_or(Missing::NoMatch))
    }
}

/// Match of an expression in a text: group 1, or the whole match if there is no group.
fn find_match<'a>(expression: &Regex, text: &'a [u8]) -> Option<&'a [u8]> {
    let found = expression.captures(text)?;
    found.get(1).or_else(|| found.get(0)).map(|part| part.as_bytes())
}

/// The values of one user's variables.
#[derive(Debug)]
pub(super) struct Values {
    /// Values in the order of their variables' numbers.
    pub(super) list: Box<[Vec<u8>]>,
    /// Code of the first capture that found no value in the last head.
    failed_in_head: Option<u32>,
}

impl Values {
    pub(super) fn new(variables: u16) -> Self {
        Self { list: (0..variables).map(|_| Vec::new()).collect(), failed_in_head: None }
    }

    /// Sets a variable.
    pub(super) fn set(&mut self, variable: u16, value: &[u8]) {
        if let Some(place) = self.list.get_mut(usize::from(variable)) {
            place.clear();
            // Reserves exactly the needed bytes, so that a variable never owns twice the length of a value.
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

    /// Saves the values of the captures from a head.
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

    /// Stores the cookies of a reply in the user's jar.
    #[cold]
    pub(super) fn keep_cookies(&mut self, at: CookieJar, host: &str, headers: &[Header<'_>]) {
        let Some(jar) = self.list.get_mut(usize::from(at.jar)) else { return };
        let mut jar = core::mem::take(jar);
        let path = self.list.get(usize::from(at.path)).map_or(&[][..], Vec::as_slice);
        jar::store_cookies(&mut jar, headers, host, path);
        self.list[usize::from(at.jar)] = jar;
    }

    /// Saves the values of the captures from `body`, the kept part of a body. `is_whole` is true if the body is complete.
    ///
    /// # Errors
    ///
    /// Returns the code of the first capture that found no value, in the head or in the body.
    pub(super) fn keep_from_body(
        &mut self,
        captures: &[Capture],
        body: &[u8],
        is_whole: bool,
    ) -> Result<(), u32> {
        if captures.is_empty() {
            // A failure in a head without captures belongs to an earlier step, whose reply was not read to its end.
            return Ok(());
        }
        if let Some(code) = self.failed_in_head.take() {
            return Err(code);
        }
        let missing = |missing| if is_whole { missing } else { Missing::BeyondKept };
        for (number, capture) in captures.iter().enumerate() {
            let kept = match &capture.from {
                CaptureSource::Header(_) | CaptureSource::HeaderPart(..) => Ok(()),
                CaptureSource::Body(expression) => match find_match(expression, body) {
                    Some(value) => self.keep(capture, value),
                    None => Err(missing(Missing::NotThere)),
                },
                CaptureSource::Json(path) => match json::find(body, path.parts()) {
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

/// Error message for the code of a refusal.
pub(super) fn explain(captures: &[Capture], code: u32) -> Option<String> {
    let (number, missing) =
        (code as usize / Missing::ALL.len(), Missing::ALL[code as usize % Missing::ALL.len()]);
    let from = &captures.get(number)?.from;
    let place = match from {
        CaptureSource::Header(name) | CaptureSource::HeaderPart(name, _) => format!("header {name}"),
        CaptureSource::Body(expression) => format!("/{}/", expression.as_str()),
        CaptureSource::Json(path) => format!("{:?}", path.written()),
    };
    Some(match (missing, from) {
        (Missing::NotThere, CaptureSource::Header(_) | CaptureSource::HeaderPart(..)) => {
            format!("{place}, to be saved, is missing")
        }
        (Missing::NotThere, CaptureSource::Body(_)) => {
            format!("nothing in the body matches {place}, to be saved")
        }
        (Missing::NotThere, CaptureSource::Json(_)) => format!("the body has no {place}, to be saved"),
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
        (Missing::NotScalar, _) => format!("the value of {place} is neither text, number, true nor false"),
    })
}
