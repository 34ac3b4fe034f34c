//! Checks: conditions for a reply to count as ok.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::RangeInclusive;

use super::capture::Missing;
use super::expected::Expected;
use super::json;
use super::json_path::JsonPath;
use httparse::Header;
use memchr::memmem;
use regex::bytes::Regex;

/// Max bytes of a body that are kept for checks; a longer body that does not match within them is rejected.
pub const KEPT_BODY_BYTES_MAX: usize = 1024 * 1024;

/// Flag in the number of a failed rule: the body had a content coding that could not be decoded, and was checked as it arrived.
pub(super) const UNDECODED_BODY: u32 = 1 << 30;

/// A set of status codes.
#[derive(Clone, PartialEq, Eq)]
pub struct StatusSet {
    written_ranges: Vec<RangeInclusive<u16>>,
    members: [u64; 10],
}

impl StatusSet {
    /// Creates the union of ranges within 100..=599.
    pub fn new(ranges: impl IntoIterator<Item = RangeInclusive<u16>>) -> Self {
        let written_ranges: Vec<_> = ranges.into_iter().collect();
        let mut members = [0; 10];
        for status in written_ranges.iter().cloned().flatten().filter(|status| *status < 640) {
            members[usize::from(status / 64)] |= 1 << (status % 64);
        }
        Self { written_ranges, members }
    }

    /// Whether the set contains a status code.
    #[inline]
    pub fn contains(&self, status: u16) -> bool {
        self.members.get(usize::from(status / 64)).is_some_and(|word| word >> (status % 64) & 1 == 1)
    }
}

impl Default for StatusSet {
    /// 200–399: a redirect counts as ok.
    fn default() -> Self {
        Self::new([200..=399])
    }
}

impl fmt::Display for StatusSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, range) in self.written_ranges.iter().enumerate() {
            let comma = if number > 0 { ", " } else { "" };
            match (range.start(), range.end()) {
                (from, to) if from == to => write!(f, "{comma}{from}")?,
                (from, to) => write!(f, "{comma}{from}–{to}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for StatusSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StatusSet({self})")
    }
}

/// A condition for a body.
#[derive(Clone, Debug)]
pub enum BodyCheck {
    /// Contains these bytes.
    Contains(Vec<u8>),
    /// Contains this text, with the values of the request.
    ContainsValues(Expected),
    /// Matches this expression. The regex engine takes linear time.
    Matches(Regex),
    /// JSON with a value at this path, equal to the expected one if given. `null`, arrays, and objects cannot be compared.
    Json(JsonPath, Option<Expected>),
}

/// A header that must be present.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderCheck {
    /// Name of the header, ignoring case.
    pub name: String,
    /// Text that the header's value must contain. `None` accepts any value.
    pub contains: Option<Expected>,
}

/// Bounds on the size of a body, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeCheck {
    /// Smallest size.
    pub min_bytes: u64,
    /// Largest size.
    pub max_bytes: u64,
}

/// All checks of one step; a reply that fails one is `rejected`.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    /// Accepted status codes.
    pub status: StatusSet,
    /// Conditions for headers.
    pub headers: Vec<HeaderCheck>,
    /// Conditions for the body. If there are any, up to [`KEPT_BODY_BYTES_MAX`] of a body are kept while it arrives.
    pub bodies: Vec<BodyCheck>,
    /// Bounds of the body's size. `None` accepts any size.
    pub size: Option<SizeCheck>,
}

impl Checks {
    /// Whether checks need the bytes of bodies.
    #[inline]
    pub(super) fn needs_body(&self) -> bool {
        !self.bodies.is_empty()
    }

    /// Numbers of the variables that checks compare with replies.
    pub(super) fn variables(&self) -> impl Iterator<Item = u16> {
        let of_headers = self.headers.iter().filter_map(|check| check.contains.as_ref());
        let of_bodies = self.bodies.iter().filter_map(|check| match check {
            BodyCheck::ContainsValues(expected) => Some(expected),
            BodyCheck::Json(_, expected) => expected.as_ref(),
            BodyCheck::Contains(_) | BodyCheck::Matches(_) => None,
        });
        of_headers.chain(of_bodies).flat_map(Expected::variables)
    }

    pub(super) fn first_failed_header(&self, headers: &[Header<'_>], values: &[Vec<u8>]) -> Option<u32> {
        let holds = |check: &HeaderCheck| {
            let text = check.contains.as_ref().map(|text| text.filled(values));
            let wanted = text.as_ref().map(memmem::Finder::new);
            let mut named = headers.iter().filter(|header| header.name.eq_ignore_ascii_case(&check.name));
            named.any(|header| wanted.as_ref().is_none_or(|wanted| wanted.find(header.value).is_some()))
        };
        self.headers.iter().position(|check| !holds(check)).map(|index| index as u32)
    }

    /// Number of the first body rule that fails. `None` if all hold.
    pub(super) fn first_failed_body(&self, body: &[u8], values: &[Vec<u8>]) -> Option<u32> {
        let holds = |check: &BodyCheck| match check {
            BodyCheck::Contains(text) => memmem::find(body, text).is_some(),
            BodyCheck::ContainsValues(text) => memmem::find(body, &text.filled(values)).is_some(),
            BodyCheck::Matches(expression) => expression.is_match(body),
            BodyCheck::Json(path, expected) => match (json::find(body, path.parts()), expected) {
                (Ok(value), Some(expected)) => value == expected.filled(values),
                (Ok(_) | Err(Missing::NotScalar), None) => true,
                (Err(_), _) => false,
            },
        };
        let first = self.headers.len() as u32;
        self.bodies.iter().position(|check| !holds(check)).map(|index| first + index as u32)
    }

    pub(super) fn size_number(&self) -> u32 {
        (self.headers.len() + self.bodies.len()) as u32
    }

    /// Error message for the rule with this number. Header rules come first, then body rules, then the size.
    pub(super) fn explain(&self, number: u32, values: &[Vec<u8>]) -> Option<String> {
        let number = number as usize;
        let header = self.headers.get(number).map(|check| match &check.contains {
            Some(text) => {
                let text = text.filled(values);
                format!("header {} does not contain \"{}\"", check.name, text.escape_ascii())
            }
            None => format!("header {} is missing", check.name),
        });
        let body = || {
            self.bodies.get(number.checked_sub(self.headers.len())?).map(|check| match check {
                BodyCheck::Contains(text) => format!("the body does not contain \"{}\"", text.escape_ascii()),
                BodyCheck::ContainsValues(text) => {
                    let text = text.filled(values);
                    format!("the body does not contain \"{}\"", text.escape_ascii())
                }
                BodyCheck::Matches(expression) => {
                    format!("the body does not match /{}/", expression.as_str())
                }
                BodyCheck::Json(path, None) => format!("the body has no {:?}", path.written()),
                BodyCheck::Json(path, Some(expected)) => {
                    let value = expected.filled(values);
                    format!(
                        "the body has no {:?} with the value \"{}\"",
                        path.written(),
                        value.escape_ascii()
                    )
                }
            })
        };
        let size = || {
            let SizeCheck { min_bytes, max_bytes } = self.size?;
            Some(format!("the body does not have {min_bytes} to {max_bytes} bytes"))
        };
        header.or_else(body).or_else(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_set_contains_exactly_its_ranges() {
        let set = StatusSet::new([200..=204, 404..=404]);
        assert!(set.contains(200) && set.contains(204) && set.contains(404));
        assert!(!set.contains(199) && !set.contains(205) && !set.contains(65_535));
        assert_eq!(alloc::format!("{set}"), "200–204, 404");
    }
}
