//! Framing of replies: the end of the body (RFC 9112 §6.3), and reuse of the connection (§9.3).

use alloc::vec::Vec;
use core::mem::MaybeUninit;

use httparse::{Error, Header, ParserConfig, Response, Status};

use super::cache;
use super::capture::Values;
use super::fault::Fault;
use super::foreign;
use super::redirect;
use super::step::{CompiledStep, Step};
use crate::blame::PeerFault;
use crate::content::{CacheUse, Coding};

/// Max bytes of a head.
pub(super) const HEAD_BYTES_MAX: usize = 64 * 1024;
const HEADERS_MAX: usize = 256;
/// Max bytes of empty lines before a head.
const EMPTY_LINE_BYTES_MAX: usize = 8;
/// Number of bytes before the wrong one that an error message quotes.
const QUOTED_BEFORE_BYTES: usize = 12;

/// Parsed head of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) length: Length,
    pub(super) keeps_alive: bool,
    /// Seconds for which the server keeps an idle connection open, according to its reply. 0 if the reply does not state it.
    pub(super) idle_max_s: u16,
    /// Number of the first header check that fails. `None` if all hold.
    pub(super) failed_check: Option<u32>,
    /// Content coding of the body.
    pub(super) coding: Coding,
    /// Whether a cache answered, if known.
    pub(super) cache: CacheUse,
    /// Whether the step follows the reply as a redirect, so that checks do not apply to it.
    pub(super) is_redirect: bool,
}

/// Rule that determines the end of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    Known(u64),
    Chunked,
    UntilClose,
}

/// Parses a head at the front of `bytes`, and saves the values that the step captures from it. Returns its length with it; `None`
/// while the head is incomplete.
pub(super) fn read(bytes: &[u8], step: &CompiledStep, values: &mut Values) -> HeadRead {
    if let Some(known) = step.known_heads.find(bytes) {
        return Ok(Some(known));
    }
    // A few empty lines before a head are allowed (RFC 9112 §2.2). Many of them would be parsed again after each read.
    if bytes.len() > EMPTY_LINE_BYTES_MAX
        && bytes[..=EMPTY_LINE_BYTES_MAX].iter().all(|byte| b"\r\n".contains(byte))
    {
        return Err(Fault::NotHttp.with_first_bytes(bytes));
    }
    let read = parse(&ParserConfig::default(), bytes, &step.step, values)
        .unwrap_or_else(|| read_obsolete(bytes, &step.step, values));
    if step.known_heads.has_room()
        && step.has_equal_results()
        && let Ok(Some((used, head))) = &read
    {
        step.known_heads.keep(&bytes[..*used], *head);
    }
    read
}

pub(super) type HeadRead = Result<Option<(usize, Head)>, PeerFault>;

/// Parses a head with the strictness of `config`. `None` if a header line is malformed.
#[inline]
fn parse(config: &ParserConfig, bytes: &[u8], step: &Step, values: &mut Values) -> Option<HeadRead> {
    let mut headers = [const { MaybeUninit::<Header<'_>>::uninit() }; HEADERS_MAX];
    let mut response = Response::new(&mut []);
    let parsed = config.parse_response_with_uninit_headers(&mut response, bytes, &mut headers);
    Some(match parsed {
        Ok(Status::Partial) if bytes.len() >= HEAD_BYTES_MAX => {
            Err(Fault::HeadTooLong.with_first_bytes(bytes))
        }
        Ok(Status::Partial) => Ok(None),
        Ok(Status::Complete(used)) if used > HEAD_BYTES_MAX => {
            Err(Fault::HeadTooLong.with_first_bytes(bytes))
        }
        Ok(Status::Complete(used)) => interpret(&response, step, values).map(|head| Some((used, head))),
        Err(Error::TooManyHeaders) => Err(Fault::TooManyHeaders.with_first_bytes(bytes)),
        Err(Error::HeaderName | Error::HeaderValue) => return None,
        Err(Error::Version) if let Some(at) = minor_version_at(bytes) => {
            return parse_as_http_1_1(config, bytes, at, step, values);
        }
        Err(Error::NewLine | Error::Token | Error::Version | Error::Status) => {
            foreign::reject_foreign(bytes).map(|()| None)
        }
    })
}

/// Position of the minor version in a head with a version above HTTP/1.1. `None` for other heads.
#[cold]
fn minor_version_at(bytes: &[u8]) -> Option<usize> {
    let start = bytes.iter().position(|byte| !b"\r\n".contains(byte))?;
    let [b'2'..=b'9', rest @ ..] = bytes[start..].strip_prefix(b"HTTP/1.")? else { return None };
    matches!(rest, [] | [b' ', ..]).then_some(start + b"HTTP/1.".len())
}

/// Parses a head of a higher minor version, which a client processes as HTTP/1.1 (RFC 9110, 2.5). `at` is the position of the minor
/// version.
#[cold]
fn parse_as_http_1_1(
    config: &ParserConfig,
    bytes: &[u8],
    at: usize,
    step: &Step,
    values: &mut Values,
) -> Option<HeadRead> {
    let mut bytes = bytes.to_vec();
    bytes[at] = b'1';
    parse(config, &bytes, step, values)
}

/// Parses a head with folded header lines (RFC 9112, 5.2), or with spaces before a colon, which a proxy would have removed (5.1).
#[cold]
fn read_obsolete(bytes: &[u8], step: &Step, values: &mut Values) -> HeadRead {
    let mut config = ParserConfig::default();
    config.allow_spaces_after_header_name_in_responses(true);
    let unfolded = unfolded(bytes);
    parse(&config, &unfolded, step, values)
        .unwrap_or_else(|| Err(Fault::BadHeader.with_first_bytes(malformed_line(&unfolded))))
}

/// Copies a head, and replaces each fold of a header line with spaces. The length does not change.
fn unfolded(bytes: &[u8]) -> Vec<u8> {
    let mut unfolded = bytes.to_vec();
    let (mut start, mut is_after_status) = (0, false);
    for end in memchr::memchr_iter(b'\n', bytes) {
        let line = &bytes[start..end];
        let is_blank = matches!(line, [] | [b'\r']);
        if is_blank && is_after_status {
            break;
        }
        if is_after_status && matches!(bytes.get(end + 1), Some(b' ' | b'\t')) {
            unfolded[end - usize::from(line.ends_with(b"\r"))..=end].fill(b' ');
        }
        is_after_status |= !is_blank;
        start = end + 1;
    }
    unfolded
}

/// First malformed header line, from shortly before its first wrong byte.
fn malformed_line(bytes: &[u8]) -> &[u8] {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let mut lines = lines.skip_while(|line| matches!(**line, [b'\n'] | [b'\r', b'\n'])).skip(1);
    let found = lines.find_map(|line| {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let at = first_wrong_byte(content.strip_suffix(b"\r").unwrap_or(content))?;
        Some(&line[at.saturating_sub(QUOTED_BEFORE_BYTES)..])
    });
    found.unwrap_or(bytes)
}

/// Position where a header line breaks RFC 9110, 5.5 or 5.6.2. `None` if it is valid.
fn first_wrong_byte(line: &[u8]) -> Option<usize> {
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    let Some(colon) = memchr::memchr(b':', line).filter(|colon| *colon > 0) else { return Some(0) };
    let name = line[..colon].trim_ascii_end();
    let in_name = if name.is_empty() { Some(0) } else { name.iter().position(|byte| !is_token(byte)) };
    let in_value = || line[colon..].iter().position(|byte| byte.is_ascii_control() && *byte != b'\t');
    in_name.or_else(|| Some(colon + in_value()?))
}

fn interpret(response: &Response<'_, '_>, step: &Step, values: &mut Values) -> Result<Head, PeerFault> {
    let (status, minor) = (response.code.unwrap_or(0), response.version.unwrap_or(0));
    let mut length = None;
    let mut transfer_coding: Option<&[u8]> = None;
    let (mut has_close, mut has_keep_alive, mut coded) = (false, minor == 1, Coding::Identity);
    let (mut idle_max_s, mut cache) = (0, CacheUse::Unknown);
    for header in response.headers.iter() {
        match header.name.len() {
            10 if is_named(header, "Connection") => {
                for token in tokens(header.value) {
                    has_close |= token.eq_ignore_ascii_case(b"close");
                    has_keep_alive |= token.eq_ignore_ascii_case(b"keep-alive");
                }
            }
            10 if is_named(header, "Keep-Alive") => match parse_keep_alive(header.value) {
                KeepAlive::Ends => has_close = true,
                KeepAlive::For { idle_max_s: max_s } => idle_max_s = max_s,
            },
            14 if is_named(header, "Content-Length") => {
                let new = parse_length(header.value)
                    .ok_or_else(|| Fault::BadLength.with_first_bytes(header.value))?;
                if length.replace(new).is_some_and(|old| old != new) {
                    return Err(Fault::TwoLengths.with_first_bytes(header.value));
                }
            }
            16 if is_named(header, "Content-Encoding") => {
                coded = tokens(header.value).fold(coded, Coding::with);
            }
            17 if is_named(header, "Transfer-Encoding") => {
                transfer_coding = Some(header.value);
            }
            3 | 7 | 12 | 14 | 15 if cache::may_be_cache_header(header.name) => {
                cache = cache::cache_use_after(header, cache)
            }
            _ => {}
        }
    }
    let is_chunked = |coding| tokens(coding).last().is_some_and(|last| last.eq_ignore_ascii_case(b"chunked"));
    let length = match (length, transfer_coding) {
        (_, Some(coding)) if minor == 0 => return Err(Fault::CodingInOldVersion.with_first_bytes(coding)),
        _ if step.request.is_head() || matches!(status, 100..200 | 204 | 304) => Length::Known(0),
        (Some(_), Some(coding)) => return Err(Fault::LengthAndCoding.with_first_bytes(coding)),
        (None, Some(coding)) if is_chunked(coding) => Length::Chunked,
        (Some(length), None) => Length::Known(length),
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
    let keeps_alive = has_keep_alive && !has_close;
    let keeps_alive = keeps_alive && length != Length::UntilClose;
    // A redirect's body is not needed, and the connection ends with it.
    let length = if is_redirect && length == Length::UntilClose { Length::Known(0) } else { length };
    Ok(Head { status, length, keeps_alive, idle_max_s, failed_check, coding: coded, cache, is_redirect })
}

/// Content of a `Keep-Alive` header (RFC 2068, 19.7.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeepAlive {
    /// The connection carries no further request: its idle timeout is 0 s, or 0 requests are left.
    Ends,
    /// Idle timeout in seconds; 0 if none is given.
    For { idle_max_s: u16 },
}

/// Parses `timeout=5, max=100`. Other parameters are ignored.
#[cold]
fn parse_keep_alive(value: &[u8]) -> KeepAlive {
    let mut idle_max_s = 0;
    for token in tokens(value) {
        let Some(equals) = memchr::memchr(b'=', token) else { continue };
        let (name, number) = (token[..equals].trim_ascii(), token[equals + 1..].trim_ascii());
        let number = parse_one_length(
            number.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(number),
        );
        let is_timeout = name.eq_ignore_ascii_case(b"timeout");
        match number {
            Some(0) if is_timeout || name.eq_ignore_ascii_case(b"max") => return KeepAlive::Ends,
            Some(number) if is_timeout => idle_max_s = u16::try_from(number).unwrap_or(u16::MAX),
            _ => {}
        }
    }
    KeepAlive::For { idle_max_s }
}

/// Parses a length, which may be repeated with an equal value (RFC 9112, 6.3).
fn parse_length(value: &[u8]) -> Option<u64> {
    parse_one_length(value).or_else(|| {
        let mut lengths = value.split(|byte| *byte == b',').map(parse_one_length);
        let first = lengths.next()??;
        lengths.all(|length| length == Some(first)).then_some(first)
    })
}

/// Parses digits without a sign, up to 2^63 − 1.
fn parse_one_length(value: &[u8]) -> Option<u64> {
    let digits = value.trim_ascii();
    let number = digits.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit <= 9)?;
        number.checked_mul(10)?.checked_add(digit.into())
    });
    number.filter(|number| !digits.is_empty() && *number <= i64::MAX as u64)
}

/// Compares with the usual spelling first, because that is one memory comparison for almost every server.
fn is_named(header: &Header<'_>, name: &str) -> bool {
    header.name == name || header.name.eq_ignore_ascii_case(name)
}

fn tokens(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_idle_timeout_from_keep_alive() {
        let of = |value: &str| parse_keep_alive(value.as_bytes());
        for (value, idle_max_s) in [
            ("timeout=5", 5),
            ("timeout=5, max=100", 5),
            ("max=1, Timeout = \"75\"", 75),
            ("timeout=99999999", u16::MAX),
            ("max=7", 0),
            ("timeout=-1, timeout, max", 0),
            ("", 0),
        ] {
            assert_eq!(of(value), KeepAlive::For { idle_max_s }, "{value}");
        }
        assert_eq!(["timeout=0", "timeout=5, max=0"].map(of), [KeepAlive::Ends; 2]);
    }
}
