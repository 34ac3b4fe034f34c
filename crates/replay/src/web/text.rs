//! Access logs of nginx and Apache, in the combined, common, or a custom format.

use std::borrow::Cow;

use super::Access;
use super::pattern::{COMBINED, COMMON, Field, Pattern};
use crate::formats::{self, Format};
use crate::instant;
use crate::output::{Output, Reader};
use crate::skipped::Reason;

/// Entry in [`crate::FORMATS`] for the combined format.
pub(crate) const COMBINED_FORMAT: Format = Format {
    name: "combined",
    sentence: "nginx and Apache, combined format",
    traffic: &super::TRAFFIC,
    count: |sample| with_pattern(sample, COMBINED),
    open: |_, _| Ok(Box::new(Text::new(Pattern::compile(COMBINED)?))),
};

/// Entry in [`crate::FORMATS`] for the common format.
pub(crate) const COMMON_FORMAT: Format = Format {
    name: "common",
    sentence: "nginx and Apache, common format",
    traffic: &super::TRAFFIC,
    count: |sample| with_pattern(sample, COMMON),
    open: |_, _| Ok(Box::new(Text::new(Pattern::compile(COMMON)?))),
};

/// Entry in [`crate::FORMATS`] for any other format.
pub(crate) const ACCESS_FORMAT: Format = Format {
    name: "access",
    sentence: "nginx and Apache, any format: --log-format '$remote_addr [$time_local] \"$request\" $request_time'",
    traffic: &super::TRAFFIC,
    count: |_| 0,
    open: |layout, _| {
        let pattern = layout.pattern.as_deref().ok_or("write the format itself instead of its name")?;
        Ok(Box::new(Text::new(Pattern::compile(pattern)?)))
    },
};

/// Reader of lines with one pattern.
#[derive(Debug)]
pub(crate) struct Text {
    pattern: Pattern,
}

impl Text {
    pub(crate) fn new(pattern: Pattern) -> Self {
        Self { pattern }
    }
}

impl Reader for Text {
    fn line(&mut self, line: &[u8], out: &mut Output) {
        let line = String::from_utf8_lossy(line);
        let Some(values) = split(&self.pattern, &line) else {
            return out.skip(if line.trim().is_empty() { Reason::NoStatement } else { Reason::Unparsable });
        };
        emit(&self.pattern, &values, out);
    }

    fn end(&mut self, _out: &mut Output) {}
}

/// Whether a line has the pattern and a time.
fn is_record(pattern: &Pattern, line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    let Some(values) = split(pattern, &line) else { return false };
    let mut out = Output::default();
    emit(pattern, &values, &mut out);
    out.skipped.count(Reason::NoTime) == 0
}

/// Number of the first lines of a sample that have a pattern.
fn with_pattern(sample: &[u8], pattern: &str) -> usize {
    let Ok(pattern) = Pattern::compile(pattern) else { return 0 };
    formats::lines(sample).filter(|line| is_record(&pattern, line)).count()
}

fn emit(pattern: &Pattern, values: &[Cow<'_, str>], out: &mut Output) {
    let (mut access, mut target) =
        (Access { is_end: pattern.is_end, ..Access::default() }, Cow::Borrowed(""));
    for ((_, field), value) in pattern.parts.iter().zip(values) {
        let value = value.as_ref();
        match field {
            Field::Ignored => {}
            Field::User => access.user = value,
            Field::Host => access.host = value,
            Field::LocalTime => access.at_ns = access.at_ns.or_else(|| instant::common_log(value.as_bytes())),
            Field::IsoTime => access.at_ns = access.at_ns.or_else(|| Some(instant::iso(value.as_bytes())?.0)),
            // The only time with fractions of a second.
            Field::Epoch => access.at_ns = instant::epoch(value.as_bytes()).or(access.at_ns),
            Field::Line => {
                let mut words = value.split(' ');
                (access.method, target) =
                    (words.next().unwrap_or_default(), words.next().unwrap_or_default().into());
                let protocol = words.next().unwrap_or_default();
                if !protocol.starts_with("HTTP/") || words.next().is_some() {
                    access.method = "";
                }
            }
            Field::Method => access.method = value,
            Field::Target => target = value.into(),
            Field::Path if target.is_empty() => target = value.into(),
            Field::Query if !target.contains('?') && !matches!(value, "" | "-") => {
                target = format!("{target}?{}", value.trim_start_matches('?')).into();
            }
            Field::Path | Field::Query => {}
            Field::Status => access.status = value.parse().ok(),
            Field::Seconds => access.duration_ns = instant::seconds(value.as_bytes()),
            Field::Milliseconds => access.duration_ns = instant::milliseconds(value.as_bytes()),
            Field::Microseconds => {
                access.duration_ns = value.parse::<u64>().ok().and_then(|us| us.checked_mul(1_000));
            }
        }
    }
    Access { target: &target, ..access }.emit(out);
}

/// Values of a line, without their escapes. `None` if it does not have the pattern.
fn split<'a>(pattern: &Pattern, line: &'a str) -> Option<Vec<Cow<'a, str>>> {
    let (mut rest, mut values) = (line, Vec::with_capacity(pattern.parts.len()));
    for (number, (literal, _)) in pattern.parts.iter().enumerate() {
        rest = rest.strip_prefix(literal.as_str())?;
        let next =
            pattern.parts.get(number + 1).map_or(pattern.last.as_str(), |(literal, _)| literal.as_str());
        let end = if next.is_empty() { rest.len() } else { end(rest, next)? };
        values.push(unescape(&rest[..end], pattern.is_json));
        rest = &rest[end..];
    }
    // A server may append further values to a known format.
    rest.starts_with(pattern.last.as_str()).then_some(values)
}

/// First place of `literal` that is not escaped.
fn end(text: &str, literal: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + text[from..].find(literal)?;
        let slashes = text[..at].bytes().rev().take_while(|byte| *byte == b'\\').count();
        if !literal.starts_with('"') || slashes % 2 == 0 {
            return Some(at);
        }
        from = at + 1;
    }
}

/// Text without the escapes `\"`, `\\`, and `\xHH`. Bytes that are not UTF-8 are replaced.
fn unescape(text: &str, is_json: bool) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    if is_json {
        return serde_json::from_str(&format!("\"{text}\"")).map_or(Cow::Borrowed(text), Cow::Owned);
    }
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while at < bytes.len() {
        let hex = |place: usize| bytes.get(place).and_then(|byte| char::from(*byte).to_digit(16));
        match (bytes[at], bytes.get(at + 1)) {
            (b'\\', Some(b'x')) if hex(at + 2).is_some() && hex(at + 3).is_some() => {
                out.push((hex(at + 2).unwrap_or(0) * 16 + hex(at + 3).unwrap_or(0)) as u8);
                at += 4;
            }
            (b'\\', Some(next)) => {
                out.push(*next);
                at += 2;
            }
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}
