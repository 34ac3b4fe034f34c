//! Dates in headers, parsed as leniently as browsers do (RFC 6265, 5.1.1).

/// A date and time: year, month from 1, day, hour, minute, second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Date(u16, u8, u8, u8, u8, u8);

const MONTHS: [&[u8; 3]; 12] =
    [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];

impl Date {
    /// Date before any reply, used for replies without a date.
    pub(super) const BEFORE_ANY_REPLY: Self = Self(2020, 1, 1, 0, 0, 0);

    /// Parses a date whose parts may be in any order.
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        let is_delimiter = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b':' && *byte < 0x80;
        let (mut time, mut day, mut month, mut year) = (None, None, None, None);
        for token in text.split(is_delimiter).filter(|token| !token.is_empty()) {
            if time.is_none() && token.contains(&b':') {
                time = Some(clock(token)?);
            } else if day.is_none() && digits(token, 2).is_some() {
                day = digits(token, 2);
            } else if month.is_none() && month_of(token).is_some() {
                month = month_of(token);
            } else if year.is_none() {
                year = digits(token, 4).filter(|_| token.len() >= 2);
            }
        }
        let (hour, minute, second) = time?;
        let year = match year? {
            year @ 70..100 => year + 1900,
            year @ 0..70 => year + 2000,
            year => year,
        };
        let day = day.filter(|day| (1..=31).contains(day))?;
        (year >= 1601).then_some(Self(year, month?, day as u8, hour, minute, second))
    }
}

fn month_of(token: &[u8]) -> Option<u8> {
    let start = token.get(..3)?.to_ascii_lowercase();
    MONTHS.iter().position(|month| **month == *start).map(|number| number as u8 + 1)
}

/// Parses a time such as `10:00:00`.
fn clock(token: &[u8]) -> Option<(u8, u8, u8)> {
    let mut parts = token.split(|byte| *byte == b':').map(|part| digits(part, 2));
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    (hour < 24 && minute < 60 && second < 60).then_some((hour as u8, minute as u8, second as u8))
}

/// Parses a number of 1 to `most` digits, without a sign.
fn digits(token: &[u8], most: usize) -> Option<u16> {
    let is_number = (1..=most).contains(&token.len()) && token.iter().all(u8::is_ascii_digit);
    is_number.then(|| token.iter().fold(0, |number, digit| number * 10 + u16::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_all_three_date_formats_and_rejects_invalid_dates() {
        let date = Date(1994, 11, 6, 8, 49, 37);
        for text in
            ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        {
            assert_eq!(Date::read(text.as_bytes()), Some(date), "{text}");
        }
        assert!(
            date < Date::BEFORE_ANY_REPLY
                && Date::read(b"1 Jan 2036 0:0:0").is_some_and(|date| date > Date::BEFORE_ANY_REPLY)
        );
        for text in [
            "",
            "0",
            "Thu, 01 Jan",
            "32 Jan 2000 00:00:00",
            "1 Jan 2000 24:00:00",
            "1 Foo 2000 00:00:00",
            "::: 1 1 1",
        ] {
            assert_eq!(Date::read(text.as_bytes()), None, "{text}");
        }
    }
}
