//! An instant as a date and a time of day in UTC.

use std::fmt;

use jiff::SignedDuration;
use jiff::civil::{DateTime, date};

/// A civil date and time in UTC, to the millisecond. Displayed as RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utc(DateTime);

impl Utc {
    /// The instant so many milliseconds after 1970 began; the nearest one with a year of four digits, if it has none.
    pub fn from_unix_ms(unix_ms: i64) -> Self {
        let at = date(1970, 1, 1).at(0, 0, 0, 0).saturating_add(SignedDuration::from_millis(unix_ms));
        Self(at.max(date(1, 1, 1).at(0, 0, 0, 0)))
    }

    /// In another form, with the letters of `strftime`.
    pub fn format(&self, form: &str) -> String {
        self.0.strftime(form).to_string()
    }
}

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_instants_have_their_dates() {
        let of = |unix_ms| Utc::from_unix_ms(unix_ms).to_string();
        assert_eq!(of(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(of(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(of(1_795_271_101_042), "2026-11-21T14:25:01.042Z");
        assert_eq!(of(-1), "1969-12-31T23:59:59.999Z");
        assert_eq!(Utc::from_unix_ms(1_795_271_101_042).format("%a %b %d"), "Sat Nov 21");
    }

    #[test]
    fn instants_out_of_reach_are_clamped() {
        assert!(Utc::from_unix_ms(i64::MAX).to_string().starts_with("9999-12-31"));
        assert_eq!(Utc::from_unix_ms(i64::MIN).to_string(), "0001-01-01T00:00:00.000Z");
    }
}
