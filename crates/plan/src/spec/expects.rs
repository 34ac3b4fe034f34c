//! Checks of a reply, as they were given, each value by itself.

use regex::bytes::Regex;
use wire::http1::{self, BodyCheck, Checks, Expected, HeaderCheck, SizeCheck, StatusSet};

use super::{Field, Spanned, Wrong};
use crate::error::{PlanError, StepProblem};
use crate::units;

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
            Field::EXPECT_STATUS => self.status = Some(Spanned::read(http1::statuses(text).map_err(wrong))),
            Field::EXPECT_BODY => self.bodies.push(BodyCheck::Contains(text.into()).into()),
            Field::EXPECT_BODY_REGEX => {
                self.expressions.push(Spanned::read(http1::expression(text).map_err(wrong)))
            }
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

fn wrong((what, help): (String, String)) -> Wrong {
    Wrong::new(what, help)
}

fn size(text: &str) -> Result<SizeCheck, Wrong> {
    let bytes = |text: &str| units::size_bytes(text).map_err(|what| Wrong::from(what).what);
    http1::size(text, bytes).map_err(wrong)
}

fn read<T: Clone>(field: Field, value: &Spanned<T>, errors: &mut Vec<PlanError>) -> Option<T> {
    if let Some(wrong) = value.wrong() {
        errors.push(PlanError { field, problem: wrong.into(), at: value.at() });
    }
    value.get().cloned()
}
