//! Times in logs, as nanoseconds since 1970.
//!
//! Zones: `UTC`, `GMT`, `Z`, and numeric offsets are applied. An abbreviation such as `CET` is ambiguous and taken as UTC: the
//! distances between lines are right, and only they matter for a replay.

const SECOND_NS: i64 = 1_000_000_000;
const MONTHS: [&[u8]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// Reads `2026-01-02 03:04:05.678 UTC`, or with `T` and `Z`. Returns the time and the number of bytes; a zone of letters is
/// read if it follows a blank.
pub(crate) fn iso(text: &[u8]) -> Option<(u64, usize)> {
    if text.len() < 19 || text[4] != b'-' || text[7] != b'-' || !matches!(text[10], b' ' | b'T') {
        return None;
    }
    let day = days_since_epoch(number(&text[..4])?, number(&text[5..7])?, number(&text[8..10])?)?;
    let mut ns = (day * 86_400 + seconds_of_day(&text[11..19])?) * SECOND_NS;
    let mut used = 19;
    if let Some(b'.' | b',') = text.get(used) {
        let digits = text[used + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        ns += fraction_ns(&text[used + 1..used + 1 + digits])?;
        used += 1 + digits;
    }
    let (zone_s, zone_bytes) = zone(&text[used..]);
    u64::try_from(ns - zone_s * SECOND_NS).ok().map(|ns| (ns, used + zone_bytes))
}

/// Reads `28/Sep/2026:12:00:00 +0600`.
pub(crate) fn common_log(text: &[u8]) -> Option<u64> {
    let (day, rest) = text.split_at_checked(2)?;
    let month = MONTHS.iter().position(|name| rest.get(1..4).is_some_and(|month| month == *name))? as i64 + 1;
    let (year, time) = (number(rest.get(5..9)?)?, rest.get(10..18)?);
    let zone = zone(rest.get(18..)?).0;
    let seconds = days_since_epoch(year, month, number(day)?)? * 86_400 + seconds_of_day(time)? - zone;
    u64::try_from(seconds.checked_mul(SECOND_NS)?).ok()
}

/// Reads `240119 16:29:48`, as MySQL up to 5.6 and MariaDB write it; the hour may have one digit after two blanks.
pub(crate) fn mysql_short(text: &[u8]) -> Option<u64> {
    let date = text.get(..6)?;
    let (year, month, day) = (number(&date[..2])?, number(&date[2..4])?, number(&date[4..])?);
    let time = text.get(6..)?.trim_ascii();
    let time = if time.get(1) == Some(&b':') { [b"0", time].concat() } else { time.to_vec() };
    let seconds = days_since_epoch(2000 + year, month, day)? * 86_400 + seconds_of_day(time.get(..8)?)?;
    let fraction = time.get(8..).and_then(|rest| rest.strip_prefix(b".")).unwrap_or_default();
    u64::try_from(seconds * SECOND_NS + fraction_ns(fraction)?).ok()
}

/// Reads seconds since 1970 with decimals, such as `1700000000.123`.
pub(crate) fn epoch(text: &[u8]) -> Option<u64> {
    seconds(text).filter(|ns| *ns > 0)
}

/// Reads seconds with up to nine decimals, as nanoseconds. Further decimals are cut.
pub(crate) fn seconds(text: &[u8]) -> Option<u64> {
    decimal(text, SECOND_NS)
}

/// Reads milliseconds with decimals, as nanoseconds.
pub(crate) fn milliseconds(text: &[u8]) -> Option<u64> {
    decimal(text, 1_000_000)
}

fn decimal(text: &[u8], unit_ns: i64) -> Option<u64> {
    let (whole, fraction) = match memchr::memchr(b'.', text) {
        Some(dot) => (&text[..dot], &text[dot + 1..]),
        None => (text, &b""[..]),
    };
    if whole.is_empty() || whole.len() > 12 {
        return None;
    }
    let part_ns = fraction_ns(fraction)? * unit_ns / SECOND_NS;
    u64::try_from(number(whole)?.checked_mul(unit_ns)?.checked_add(part_ns)?).ok()
}

/// Digits after a decimal point, as nanoseconds of a second.
fn fraction_ns(digits: &[u8]) -> Option<i64> {
    let kept = &digits[..digits.len().min(9)];
    let scale = 10_i64.pow(9 - kept.len() as u32);
    if digits.iter().all(u8::is_ascii_digit) { Some(number(kept).unwrap_or(0) * scale) } else { None }
}

/// Seconds of a day from `03:04:05`.
fn seconds_of_day(text: &[u8]) -> Option<i64> {
    let [h1, h2, b':', m1, m2, b':', s1, s2] = text else { return None };
    let (hour, minute, second) = (number(&[*h1, *h2])?, number(&[*m1, *m2])?, number(&[*s1, *s2])?);
    (hour < 24 && minute < 60 && second <= 60).then_some(hour * 3600 + minute * 60 + second)
}

/// Offset of a zone from UTC in seconds, and the number of its bytes, with the blank before it.
fn zone(text: &[u8]) -> (i64, usize) {
    let blank = usize::from(text.first() == Some(&b' '));
    let rest = &text[blank..];
    match rest.first() {
        Some(sign @ (b'+' | b'-')) if rest.get(1).is_some_and(u8::is_ascii_digit) => {
            let digits: Vec<u8> =
                rest[1..].iter().copied().take_while(|byte| byte.is_ascii_digit() || *byte == b':').collect();
            let plain: Vec<u8> = digits.iter().copied().filter(u8::is_ascii_digit).take(4).collect();
            let hours = number(plain.get(..2).unwrap_or_default()).unwrap_or(0);
            let minutes = number(plain.get(2..4).unwrap_or_default()).unwrap_or(0);
            let offset = (hours * 60 + minutes) * 60;
            (if *sign == b'-' { -offset } else { offset }, blank + 1 + digits.len())
        }
        Some(b'Z') if blank == 0 => (0, 1),
        Some(byte) if blank == 1 && byte.is_ascii_uppercase() => {
            (0, 1 + rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count())
        }
        _ => (0, 0),
    }
}

/// Days from 1970 to a date of the Gregorian calendar.
fn days_since_epoch(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1970..=2200).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// Number of 1 to 12 digits.
pub(crate) fn number(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() || digits.len() > 12 {
        return None;
    }
    let add = |sum: i64, byte: &u8| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0'));
    digits.iter().try_fold(0, add)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = 1_767_323_045_000_000_000;

    #[test]
    fn iso_times_have_fractions_and_zones() {
        for (text, ns, used) in [
            ("2026-01-02 03:04:05 UTC [12]", AT, 23),
            ("2026-01-02 03:04:05.678 UTC:", AT + 678_000_000, 27),
            ("2026-01-02T03:04:05.678901Z", AT + 678_901_000, 27),
            ("2026-01-02T05:04:05.5+02:00 x", AT + 500_000_000, 27),
            ("2026-01-02 08:34:05 +0530 x", AT, 25),
            ("2026-01-02 03:04:05 CET", AT, 23),
            ("2026-01-02 03:04:05,1", AT + 100_000_000, 21),
        ] {
            assert_eq!(iso(text.as_bytes()), Some((ns, used)), "{text}");
        }
        for wrong in ["2026-13-02 03:04:05", "2026-01-02 24:04:05", "1960-01-02 03:04:05", "2026-01-02", ""] {
            assert_eq!(iso(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn other_forms_are_read() {
        assert_eq!(common_log(b"02/Jan/2026:09:04:05 +0600"), Some(AT));
        assert_eq!(common_log(b"02/Foo/2026:09:04:05 +0600"), None);
        assert_eq!(mysql_short(b"260102  3:04:05"), Some(AT));
        assert_eq!(mysql_short(b"260102 03:04:05.25"), Some(AT + 250_000_000));
        assert_eq!(epoch(b"1767323045.5"), Some(AT + 500_000_000));
        assert_eq!(milliseconds(b"1.25"), Some(1_250_000));
        assert_eq!(milliseconds(b"1.2x"), None);
        assert_eq!(seconds(b"99999999999999"), None);
    }
}
