//! Where a reply's body ends (RFC 9112 §6.3), and whether its connection lives on (§9.3).

use core::mem::MaybeUninit;

use httparse::{Error, Header, ParserConfig, Response, Status};

use super::capture::Values;
use super::decoding::Coding;
use super::fault::Fault;
use super::redirect;
use super::step::Step;
use crate::blame::PeerFault;

/// Bytes that a head may have.
pub(super) const HEAD_BYTES_MAX: usize = 64 * 1024;
const HEADERS_MAX: usize = 256;
/// Bytes of empty lines before a head.
const EMPTY_LINE_BYTES_MAX: usize = 8;

/// What a head says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) length: Length,
    pub(super) keeps_alive: bool,
    /// The number of the first header check that does not hold.
    pub(super) failed_check: Option<u32>,
    /// Whether the body is compressed, or coded in another way.
    pub(super) coding: Coding,
    /// Whether the step follows it to another place: it is not the reply that is judged.
    pub(super) is_redirect: bool,
}

/// How the end of a body is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    Known(u64),
    Chunked,
    UntilClose,
}

/// Reads a head from the front of `bytes`, and keeps the values that the step captures in it; `None` while it is incomplete.
/// Also says how many bytes it took.
pub(super) fn read(
    bytes: &[u8],
    step: &Step,
    values: &mut Values,
) -> Result<Option<(usize, Head)>, PeerFault> {
    // A few empty lines before a head are allowed (RFC 9112 §2.2); a flood of them is not worth reading again and again.
    if bytes.len() > EMPTY_LINE_BYTES_MAX
        && bytes[..=EMPTY_LINE_BYTES_MAX].iter().all(|byte| b"\r\n".contains(byte))
    {
        return Err(Fault::NotHttp.showing(bytes));
    }
    let mut headers = [const { MaybeUninit::<Header<'_>>::uninit() }; HEADERS_MAX];
    let mut response = Response::new(&mut []);
    let parsed =
        ParserConfig::default().parse_response_with_uninit_headers(&mut response, bytes, &mut headers);
    match parsed {
        Ok(Status::Partial) if bytes.len() >= HEAD_BYTES_MAX => Err(Fault::HeadTooLong.plain()),
        Ok(Status::Partial) => Ok(None),
        Ok(Status::Complete(used)) if used > HEAD_BYTES_MAX => Err(Fault::HeadTooLong.plain()),
        Ok(Status::Complete(used)) => interpret(&response, step, values).map(|head| Some((used, head))),
        Err(Error::TooManyHeaders) => Err(Fault::TooManyHeaders.plain()),
        Err(Error::HeaderName | Error::HeaderValue) => Err(Fault::BadHeader.plain()),
        Err(Error::NewLine | Error::Token | Error::Version | Error::Status) => {
            Err(Fault::NotHttp.showing(bytes))
        }
    }
}

fn interpret(response: &Response<'_, '_>, step: &Step, values: &mut Values) -> Result<Head, PeerFault> {
    let (status, minor) = (response.code.unwrap_or(0), response.version.unwrap_or(0));
    if !(100..600).contains(&status) {
        return Err(Fault::BadStatus.plain());
    }
    let mut length = None;
    let mut coding: Option<bool> = None;
    let (mut says_close, mut says_keep_alive, mut coded) = (false, minor == 1, Coding::Identity);
    for header in response.headers.iter() {
        match header.name.len() {
            10 if is_named(header, "Connection") => {
                for token in tokens(header.value) {
                    says_close |= token.eq_ignore_ascii_case(b"close");
                    says_keep_alive |= token.eq_ignore_ascii_case(b"keep-alive");
                }
            }
            14 if is_named(header, "Content-Length") => {
                let new = parse_length(header.value).ok_or_else(|| Fault::BadLength.showing(header.value))?;
                if length.replace(new).is_some_and(|old| old != new) {
                    return Err(Fault::TwoLengths.plain());
                }
            }
            16 if is_named(header, "Content-Encoding") => {
                coded = tokens(header.value).fold(coded, Coding::with);
            }
            17 if is_named(header, "Transfer-Encoding") => {
                coding = Some(
                    tokens(header.value).last().is_some_and(|last| last.eq_ignore_ascii_case(b"chunked")),
                );
            }
            _ => {}
        }
    }
    let length = match (length, coding) {
        (Some(_), Some(_)) => return Err(Fault::LengthAndCoding.plain()),
        (_, Some(_)) if minor == 0 => return Err(Fault::CodingInOldVersion.plain()),
        _ if step.request.is_head() || matches!(status, 100..200 | 204 | 304) => Length::Known(0),
        (_, Some(true)) => Length::Chunked,
        (Some(length), _) => Length::Known(length),
        (None, _) => Length::UntilClose,
    };
    let mut is_redirect = false;
    if let Some(origin) = step.request.origin()
        && let Some(location) = redirect::location_of(status, response.headers)
    {
        values.set(origin.redirects.location, location);
        is_redirect = true;
    }
    let failed_check =
        if is_redirect { None } else { step.checks.first_failed_header(response.headers, &values.list) };
    if !step.captures.is_empty() && !is_redirect {
        values.keep_from_head(&step.captures, response.headers);
    }
    if let Some(cookies) = step.request.cookies() {
        values.keep_cookies(cookies, step.request.cookie_host(), response.headers);
    }
    let keeps_alive = says_keep_alive && !says_close;
    let keeps_alive = keeps_alive && length != Length::UntilClose;
    // Nothing of a redirect's body is needed, and the connection ends with it.
    let length = if is_redirect && length == Length::UntilClose { Length::Known(0) } else { length };
    Ok(Head { status, length, keeps_alive, failed_check, coding: coded, is_redirect })
}

/// Digits only: no sign, no list, no more than 2^63 − 1.
fn parse_length(value: &[u8]) -> Option<u64> {
    let digits = value.trim_ascii();
    let number = digits.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit <= 9)?;
        number.checked_mul(10)?.checked_add(digit.into())
    });
    number.filter(|number| !digits.is_empty() && *number <= i64::MAX as u64)
}

/// Compares with the usual spelling first, which is one comparison of memory for almost every server.
fn is_named(header: &Header<'_>, name: &str) -> bool {
    header.name == name || header.name.eq_ignore_ascii_case(name)
}

fn tokens(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}
