//! Reads the checks of a reply, and the values that are saved from it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::{Range, RangeInclusive};

use regex::bytes::{Regex, RegexBuilder};

use super::capture::{Capture, CaptureSource};
use super::checks::{BodyCheck, Checks, HeaderCheck, SizeCheck, StatusSet};
use super::expected::Expected;
use super::json_path::{JsonPath, JsonPathError};
use crate::braces::{Piece, pieces};
use crate::step::tree::{Entry, Node, Span};
use crate::step::{Reader, TextError};

/// Max bytes of a compiled regular expression.
const REGEX_BYTES_MAX: usize = 1 << 20;

/// Reads the checks of the replies to a method. `None` if they have errors.
pub(super) fn checks(node: &Node, method: &str, reader: &mut dyn Reader) -> Option<Checks> {
    let of = |key: &str| node.get("expect").and_then(|expect| expect.get(key));
    let items = |key| of(key).map_or(&[][..], Node::items).iter();
    let headers = of("headers").map_or(&[][..], Node::entries).iter();
    let headers = headers.map(|entry| header(entry, reader)).collect();
    let mut texts: Vec<(Span, BodyCheck)> = Vec::new();
    for item in items("body") {
        let Some(text) = item.text() else { continue };
        let check = match expected(item, text, reader) {
            expected if expected.variables().next().is_some() => BodyCheck::ContainsValues(expected),
            expected => BodyCheck::Contains(expected.text()),
        };
        texts.push((item.at, check));
    }
    for entry in of("json").map_or(&[][..], Node::entries) {
        let Some(path) = json_path(&entry.key, |_, _| entry.key_at, reader) else { continue };
        let text = entry.value.text().filter(|_| !entry.value.is_nothing());
        let value = text.map(|text| expected(&entry.value, text, reader));
        texts.push((entry.value.at, BodyCheck::Json(path, value)));
    }
    let expressions: Vec<_> =
        items("body-matches").filter_map(|item| Some((item.at, self::expression(item.text()?)))).collect();
    let size = of("size").and_then(|node| {
        let text = node.text()?;
        Some((node.at, size(text, |text| reader.size_bytes(text))))
    });
    let status = of("status").map(|node| {
        let texts: Vec<&str> = node.items().iter().filter_map(Node::text).collect();
        (node.at, statuses(&texts.join(",")))
    });
    let first = texts.first().map(|(at, _)| *at).or_else(|| expressions.first().map(|(at, _)| *at));
    let mut errors: Vec<(Span, TextError)> = Vec::new();
    if let Some(at) = first.filter(|_| method == "HEAD") {
        errors.push((at, no_body()));
    }
    let expressions: Vec<BodyCheck> = expressions
        .into_iter()
        .filter_map(|(at, read)| read.map_err(|wrong| errors.push((at, wrong))).ok())
        .map(BodyCheck::Matches)
        .collect();
    let status = status.and_then(|(at, read)| read.map_err(|wrong| errors.push((at, wrong))).ok());
    let size = size.and_then(|(at, read)| read.map_err(|wrong| errors.push((at, wrong))).ok());
    let is_sound = errors.is_empty();
    for (at, (what, help)) in errors {
        if !reader.has_error_at(at) {
            reader.report(at, what, help);
        }
    }
    let bodies = texts.into_iter().map(|(_, check)| check).chain(expressions).collect();
    is_sound.then(|| Checks { status: status.unwrap_or_default(), headers, bodies, size })
}

/// Error for a check of the body of a reply to HEAD.
pub(super) fn no_body() -> TextError {
    ("a reply to HEAD has no body".into(), "remove it, or use another method".into())
}

fn header(entry: &Entry, reader: &mut dyn Reader) -> HeaderCheck {
    if entry.key.is_empty() || entry.key.contains([':', ' ', '\n']) {
        let help = "write a name such as Content-Type";
        reader.report(entry.key_at, "invalid name of a header".into(), help.into());
    }
    let text = entry.value.text().unwrap_or_default().trim();
    let contains = (!text.is_empty()).then(|| expected(&entry.value, text, reader));
    HeaderCheck { name: entry.key.trim().into(), contains }
}

/// Text that a reply must contain, with its variables.
fn expected(node: &Node, text: &str, reader: &mut dyn Reader) -> Expected {
    if reader.has_secret(text) {
        let what = "`expect` contains no secret: messages show what a reply was expected to contain";
        reader.report(node.at, what.into(), "expect another part of the reply".into());
    } else {
        reader.resolve_names(node, text);
    }
    Expected::compile(text.as_bytes(), reader.variables())
}

/// Reads the values that are saved from a reply.
pub(super) fn captures(node: &Node, reader: &mut dyn Reader) -> Vec<Capture> {
    let entries = node.get("save").map_or(&[][..], Node::entries);
    let captures = entries.iter().filter_map(|entry| {
        let from = capture(entry, reader);
        let variable = reader.save(entry);
        Some(Capture { variable: variable?, from: from? })
    });
    captures.collect()
}

fn capture(entry: &Entry, reader: &mut dyn Reader) -> Option<CaptureSource> {
    let texts = entry.value.entries().iter().filter(|entry| entry.value.text().is_some());
    let (sources, regex): (Vec<&Entry>, Vec<&Entry>) = texts.partition(|entry| entry.key != "regex");
    let mut given = sources.into_iter();
    if let Some(regex) = regex.first().filter(|_| entry.value.get("header").is_none()) {
        let help = match entry.value.get("body") {
            Some(_) => "remove it: `body` is a regular expression itself",
            None => "add `header: NAME`, or write `body` instead of `regex`",
        };
        reader.report(regex.key_at, "`regex` requires `header`".into(), help.into());
    }
    let first = given.next()?;
    if let Some(second) = given.next() {
        let what = format!("a saved value has one source, and this one has `{}`", first.key);
        reader.report(second.key_at, what, "remove one of them".into());
    }
    let (text, at) = (first.value.text()?, first.value.at);
    match first.key.as_str() {
        "header" => Some(match regex.first().and_then(|regex| Some((regex, regex.value.text()?))) {
            None => CaptureSource::Header(text.into()),
            Some((entry, regex)) => {
                CaptureSource::HeaderPart(text.into(), reported_expression(regex, entry.value.at, reader)?)
            }
        }),
        "json" => {
            let part = |at: Range<usize>, reader: &dyn Reader| reader.part(&first.value, at.start, at.end);
            json_path(text, part, reader).map(CaptureSource::Json)
        }
        "body" => reported_expression(text, at, reader).map(CaptureSource::Body),
        _ => None,
    }
}

fn reported_expression(text: &str, at: Span, reader: &mut dyn Reader) -> Option<Regex> {
    expression(text).map_err(|(what, help)| reader.report(at, what, help)).ok()
}

/// Reads a path to one JSON value. `place` maps a part of the text to its place.
fn json_path(
    text: &str,
    place: impl Fn(Range<usize>, &dyn Reader) -> Span,
    reader: &mut dyn Reader,
) -> Option<JsonPath> {
    let JsonPathError { at, what } = match JsonPath::read(text) {
        Ok(path) => return Some(path),
        Err(wrong) => wrong,
    };
    let help = if text.starts_with(['$', '/']) {
        String::from("write a path to one value, such as $.data[0].id")
    } else {
        format!("write $.{text}")
    };
    let at = place(at, &*reader);
    reader.report(at, format!("the path {text:?} {what}"), help);
    None
}

/// Parses a regular expression over bytes.
///
/// # Errors
///
/// Error message and help.
pub(super) fn expression(text: &str) -> Result<Regex, TextError> {
    RegexBuilder::new(text).size_limit(REGEX_BYTES_MAX).build().map_err(|error| {
        let error = format!("{error}");
        let what = error.lines().last().unwrap_or_default().trim();
        let has_values = pieces(text.as_bytes()).any(|piece| matches!(piece, Piece::Name(_) | Piece::Raw(_)));
        let help = match has_values {
            true => "a regular expression takes no values; write \\{ for a literal brace",
            false => "use the syntax of Rust's regex crate, which has no look-around and no back-references",
        };
        (format!("{text:?}: {what}"), help.into())
    })
}

/// Parses `200,201`, `2xx`, or `200-299`.
///
/// # Errors
///
/// Error message and help.
pub(super) fn statuses(text: &str) -> Result<StatusSet, TextError> {
    let one = |text: &str| text.parse::<u16>().ok().filter(|status| (100..600).contains(status));
    let range = |part: &str| -> Option<RangeInclusive<u16>> {
        if let Some((from, to)) = part.split_once('-') {
            return Some(one(from.trim())?..=one(to.trim())?).filter(|range| !range.is_empty());
        }
        match part.strip_suffix("xx") {
            Some(class) => one(&format!("{class}00")).map(|from| from..=from + 99),
            None => one(part).map(|status| status..=status),
        }
    };
    let ranges: Option<Vec<_>> = text.split(',').map(|part| range(part.trim())).collect();
    ranges.map(StatusSet::new).ok_or_else(|| {
        let what = format!("{text:?} is not a list of statuses between 100 and 599");
        (what, "write statuses such as 200,201, 2xx, or 200-299".into())
    })
}

/// Parses `100` or `1KiB..2KiB`. `size_bytes` parses a number of bytes with a unit.
///
/// # Errors
///
/// Error message and help.
pub(super) fn size(
    text: &str,
    size_bytes: impl Fn(&str) -> Result<u64, String>,
) -> Result<SizeCheck, TextError> {
    let (min, max) = text.split_once("..").unwrap_or((text, text));
    let bound = |text: &str, open: u64| match text.trim().is_empty() {
        true => Ok(open),
        false => size_bytes(text).map_err(|what| (what, "write 1024, or 1KiB..2KiB".into())),
    };
    let check = SizeCheck { min_bytes: bound(min, 0)?, max_bytes: bound(max, u64::MAX)? };
    if check.min_bytes > check.max_bytes {
        return Err((format!("{text:?} has its end before its start"), "write 1KiB..2KiB".into()));
    }
    Ok(check)
}
