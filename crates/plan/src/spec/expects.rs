//! Checks of a reply, as they were given, each value by itself.

use regex::bytes::{Regex, RegexBuilder};
use wire::http1::{BodyCheck, Checks, Expected, HeaderCheck, SizeCheck, StatusSet};

use super::{Field, Spanned, Wrong};
use crate::error::{PlanError, StepProblem};
use crate::study::names_in;
use crate::units;

const REGEX_BYTES_MAX: usize = 1 << 20;

/// Checks of replies.
#[derive(Clone, Debug, Default)]
pub struct ExpectSpec {
    /// Accepted statuses.
    pub(crate) status: Option<Spanned<StatusSet>>,
    /// Texts that the body must contain.
    pub(crate) bodies: Vec<Spanned<BodyCheck>>,
    /// Regular expressions that the body must match.
    pub(crate) expressions: Vec<Spanned<Regex>>,
    /// Headers that must be present.
    pub(crate) headers: Vec<HeaderCheck>,
    /// Expected size of the body, in bytes.
    pub(crate) size: Option<Spanned<SizeCheck>>,
}

#[allow(missing_docs, reason = "each is the name of the value of its name")]
impl Field {
    pub const EXPECT_STATUS: Self = Self { key: "status", flag: "--expect-status" };
    pub const EXPECT_BODY: Self = Self { key: "body", flag: "--expect-body" };
    pub const EXPECT_BODY_REGEX: Self = Self { key: "body-matches", flag: "--expect-body-regex" };
    pub const EXPECT_HEADER: Self = Self { key: "headers", flag: "--expect-header" };
    pub const EXPECT_SIZE: Self = Self { key: "size", flag: "--expect-size" };
}

impl ExpectSpec {
    /// Sets a value from the text of a flag, which may be repeated.
    pub fn write(&mut self, field: Field, text: &str) {
        match field {
            Field::EXPECT_STATUS => self.status = Some(Spanned::read(statuses(text))),
            Field::EXPECT_BODY => self.bodies.push(BodyCheck::Contains(text.into()).into()),
            Field::EXPECT_BODY_REGEX => self.expressions.push(Spanned::read(expression(text))),
            Field::EXPECT_SIZE => self.size = Some(Spanned::read(size(text))),
            _ => {
                let (name, value) =
                    text.split_once(':').map_or((text, None), |(name, value)| (name, Some(value)));
                self.headers.push(HeaderCheck {
                    name: name.trim().into(),
                    contains: value.map(|value| Expected::from(value.trim())),
                });
            }
        }
    }

    /// Flags, and whether each was given.
    pub(crate) fn given(&self) -> [(&'static str, bool); 5] {
        [
            (Field::EXPECT_STATUS.flag, self.status.is_some()),
            (Field::EXPECT_BODY.flag, !self.bodies.is_empty()),
            (Field::EXPECT_BODY_REGEX.flag, !self.expressions.is_empty()),
            (Field::EXPECT_HEADER.flag, !self.headers.is_empty()),
            (Field::EXPECT_SIZE.flag, self.size.is_some()),
        ]
    }

    /// Compiles the checks of replies to a method. Appends errors to `errors`.
    pub(crate) fn check(&self, method: &str, errors: &mut Vec<PlanError>) -> Checks {
        let first = self.bodies.first().map(Spanned::at);
        let first = first.or_else(|| self.expressions.first().map(Spanned::at));
        if let Some(at) = first.filter(|_| method == "HEAD") {
            errors.push(PlanError { field: Field::EXPECT_BODY, problem: StepProblem::NoBody.into(), at });
        }
        let expressions =
            self.expressions.iter().filter_map(|one| read(Field::EXPECT_BODY_REGEX, one, errors));
        let expressions: Vec<_> = expressions.map(BodyCheck::Matches).collect();
        let texts = self.bodies.iter().filter_map(Spanned::get);
        let status = self.status.as_ref().and_then(|status| read(Field::EXPECT_STATUS, status, errors));
        Checks {
            status: status.unwrap_or_default(),
            headers: self.headers.clone(),
            bodies: texts.cloned().chain(expressions).collect(),
            size: self.size.as_ref().and_then(|size| read(Field::EXPECT_SIZE, size, errors)),
        }
    }
}

fn read<T: Clone>(field: Field, value: &Spanned<T>, errors: &mut Vec<PlanError>) -> Option<T> {
    if let Some(wrong) = value.wrong() {
        errors.push(PlanError { field, problem: wrong.into(), at: value.at() });
    }
    value.get().cloned()
}

/// Parses a regular expression over bytes.
pub(crate) fn expression(text: &str) -> Result<Regex, Wrong> {
    RegexBuilder::new(text).size_limit(REGEX_BYTES_MAX).build().map_err(|error| {
        let what = error.to_string().lines().last().unwrap_or_default().trim().to_owned();
        let help = match names_in(text).next() {
            Some(_) => "a regular expression takes no values; write \\{ for a literal brace",
            None => "use the syntax of Rust's regex crate, which has no look-around and no back-references",
        };
        Wrong::new(format!("{text:?}: {what}"), help)
    })
}

/// Parses `200,201`, `2xx`, or `200-299`.
pub(crate) fn statuses(text: &str) -> Result<StatusSet, Wrong> {
    let one = |text: &str| text.parse::<u16>().ok().filter(|status| (100..600).contains(status));
    let range = |part: &str| {
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
        Wrong::new(what, "write statuses such as 200,201, 2xx, or 200-299")
    })
}

/// Parses `100` or `1KiB..2KiB`.
pub(crate) fn size(text: &str) -> Result<SizeCheck, Wrong> {
    let (min, max) = text.split_once("..").unwrap_or((text, text));
    let bound = |text: &str, open: u64| match text.trim().is_empty() {
        true => Ok(open),
        false => units::size_bytes(text).map_err(|what| Wrong::of_units(what, "write 1024, or 1KiB..2KiB")),
    };
    let check = SizeCheck { min_bytes: bound(min, 0)?, max_bytes: bound(max, u64::MAX)? };
    if check.min_bytes > check.max_bytes {
        return Err(Wrong::new(format!("{text:?} has its end before its start"), "write 1KiB..2KiB"));
    }
    Ok(check)
}
