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
    /// The place of this JSON pointer (RFC 6901): a text without its quotes; a number, true or false as it is written.
    Json(String),
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
}

impl Missing {
    const ALL: [Self; 5] = [Self::NotThere, Self::TooLong, Self::BeyondKept, Self::NotJson, Self::NoScalar];
}

impl CaptureFrom {
    pub(super) fn is_in_body(&self) -> bool {
        !matches!(self, Self::Header(_))
    }
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
            let CaptureFrom::Header(name) = &capture.from else { continue };
            let found = headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
            let value = found.map(|header| header.value).ok_or(Missing::NotThere);
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
                CaptureFrom::Header(_) => Ok(()),
                CaptureFrom::Body(expression) => match expression.captures(body) {
                    Some(found) => {
                        let value =
                            found.get(1).or_else(|| found.get(0)).map_or(&[][..], |part| part.as_bytes());
                        self.keep(capture, value)
                    }
                    None => Err(missing(Missing::NotThere)),
                },
                CaptureFrom::Json(pointer) => match json::find(body, pointer) {
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
        CaptureFrom::Header(name) => format!("header {name}"),
        CaptureFrom::Body(expression) => format!("/{}/", expression.as_str()),
        CaptureFrom::Json(pointer) => format!("{pointer:?}"),
    };
    Some(match (missing, from) {
        (Missing::NotThere, CaptureFrom::Header(_)) => format!("{place}, to be saved, is missing"),
        (Missing::NotThere, CaptureFrom::Body(_)) => {
            format!("nothing in the body matches {place}, to be saved")
        }
        (Missing::NotThere, CaptureFrom::Json(_)) => format!("the body has no {place}, to be saved"),
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
