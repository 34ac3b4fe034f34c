//! Parses and formats numbers as people write them (`10s`, `200ms`, `5000/s`, `64KiB`, `10k`), and times as dates.

use std::fmt::Write as _;

mod corrected;
mod share;
pub mod shown;
mod utc;

pub use share::Share;
pub use utc::Utc;

/// Longest accepted duration: one year.
const DURATION_MAX_NS: u64 = 366 * 24 * 3600 * 1_000_000_000;
/// Highest accepted rate.
const RATE_MAX_PER_S: f64 = 1e8;

const DURATIONS: &[(&str, f64)] = &[
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 60e9),
    ("min", 60e9),
    ("h", 3600e9),
];
const RATES: &[(&str, f64)] = &[("/s", 1.0), ("/m", 1.0 / 60.0), ("/min", 1.0 / 60.0), ("/h", 1.0 / 3600.0)];
const SIZES: &[(&str, f64)] = &[
    ("", 1.0),
    ("B", 1.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];
const COUNTS: &[(&str, f64)] = &[("", 1.0), ("k", 1e3), ("K", 1e3), ("M", 1e6)];

/// Parses a duration to nanoseconds. Several parts add up (`1m30s`). The unit is required.
pub fn duration_ns(text: &str) -> Result<u64, String> {
    let mut total_ns = 0.0;
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(parse_error(text, "duration", "10s, 200ms, 5m", corrected::duration(text)));
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let letters = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        if unit.is_empty() && number.parse::<f64>().is_ok() {
            return Err(format!(
                "{text:?} has no unit; write {text}s for seconds or {text}ms for milliseconds"
            ));
        }
        total_ns += scale(number, unit.trim(), DURATIONS)
            .ok_or_else(|| parse_error(text, "duration", "10s, 200ms, 5m", corrected::duration(text)))?;
        rest = after;
    }
    check_max(text, total_ns, DURATION_MAX_NS as f64, "a year").map(|ns| ns as u64)
}

/// Parses a rate to requests per second. A number without a unit is per second.
pub fn rate_per_s(text: &str) -> Result<f64, String> {
    let (amount, unit) = match text.trim().split_once('/') {
        Some((amount, unit)) => (amount.trim(), format!("/{}", unit.trim())),
        None => (text.trim(), "/s".to_owned()),
    };
    let (number, multiple) = split(amount);
    let per_s = scale(number, multiple, COUNTS)
        .and_then(|amount| RATES.iter().find(|(name, _)| *name == unit).map(|(_, factor)| amount * factor))
        .ok_or_else(|| parse_error(text, "rate", "500/s, 10k/s, 90/min", corrected::rate(text)))?;
    check_max(text, per_s, RATE_MAX_PER_S, "100 million a second")
}

/// Parses a whole number. The suffixes `k` and `M` multiply.
pub fn count(text: &str) -> Result<u64, String> {
    let (number, multiple) = split(text.trim());
    let count = scale(number, multiple, COUNTS).filter(|count| count.fract() == 0.0);
    check_max(
        text,
        count.ok_or_else(|| {
            parse_error(text, "whole number", "100, 10k, 2M", corrected::whole_number(text))
        })?,
        1e15,
        "10^15",
    )
    .map(|count| count as u64)
}

/// Parses a size to bytes.
pub fn size_bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text.trim());
    let bytes = scale(number, unit, SIZES)
        .ok_or_else(|| parse_error(text, "size", "512, 64KiB, 10MB", corrected::size(text)))?;
    check_max(text, bytes, 1e15, "10^15 bytes").map(|bytes| bytes as u64)
}

/// Parses a bandwidth to bytes per second: a size, with or without `/s`.
pub fn bytes_per_s(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let size = text.strip_suffix("/s").unwrap_or(text);
    let bytes = size_bytes(size).map_err(|_| parse_error(text, "bandwidth", "10MB/s, 64KiB/s", None))?;
    if bytes == 0 { Err(format!("{text} lets nothing pass; write 1B/s or more")) } else { Ok(bytes) }
}

/// Parses a percentage to a share: `3%` is 0.03.
pub fn percent(text: &str) -> Result<f64, String> {
    let number = match text.strip_suffix('%') {
        Some(number) => number,
        None if text.parse::<f64>().is_ok() => {
            return Err(format!("{text:?} has no unit; write {text}% for a percentage"));
        }
        None => text,
    };
    let number = number.trim_end();
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    match number.parse::<f64>() {
        Ok(number) if is_plain && number <= 100.0 => Ok(number / 100.0),
        _ => Err(format!("{text:?} is not a percentage from 0% to 100%")),
    }
}

/// Formats a duration exactly, as a sum of whole units: `1m30s`, `200ms`.
pub fn show_duration(ns: u64) -> String {
    let parts = [
        ("h", 3_600_000_000_000),
        ("m", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("µs", 1_000),
    ];
    let (mut shown, mut rest) = (String::new(), ns);
    for (unit, size) in parts {
        if rest >= size {
            let _ = write!(shown, "{}{unit}", rest / size);
            rest %= size;
        }
    }
    if rest > 0 || shown.is_empty() {
        let _ = write!(shown, "{rest}ns");
    }
    shown
}

/// Formats a size in the largest unit that gives a whole number: `64MiB`, `1500B`.
pub fn show_size(bytes: u64) -> String {
    let units = [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.into_iter().find(|(_, size)| bytes > 0 && bytes.is_multiple_of(*size)) {
        Some((unit, size)) => format!("{}{unit}", bytes / size),
        None => format!("{bytes}B"),
    }
}

/// Formats a rate with its unit, with up to three decimals.
pub fn show_rate(per_s: f64) -> String {
    format!("{}/s", shown::without_trailing_zeros(&format!("{per_s:.3}")))
}

/// Formats a share in percent, as plans write it, with up to two decimals: `3%`, `0.25%`.
pub fn show_percent(share: f64) -> String {
    format!("{}%", shown::without_trailing_zeros(&format!("{:.2}", share * 100.0)))
}

fn split(text: &str) -> (&str, &str) {
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    (number, unit.trim())
}

fn scale(number: &str, unit: &str, table: &[(&str, f64)]) -> Option<f64> {
    let factor = table.iter().find(|(name, _)| *name == unit)?.1;
    number.parse::<f64>().ok().map(|number| number * factor)
}

fn check_max(text: &str, value: f64, max: f64, limit: &str) -> Result<f64, String> {
    if value.is_finite() && value <= max {
        Ok(value)
    } else {
        Err(format!("{text} is more than the limit of {limit}"))
    }
}

/// Formats the error of a text that cannot be parsed. `corrected` is what the text probably means. `None`: only examples can help.
fn parse_error(text: &str, kind: &str, examples: &str, corrected: Option<String>) -> String {
    match corrected {
        Some(corrected) => format!("{text:?} is not a {kind}; write {corrected}"),
        None => format!("{text:?} is not a {kind}; write it like {examples}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_need_units_and_may_have_several_parts() {
        assert_eq!(duration_ns("10s"), Ok(10_000_000_000));
        assert_eq!(duration_ns("1m30s"), Ok(90_000_000_000));
        assert_eq!(duration_ns("1.5ms"), Ok(1_500_000));
        assert_eq!(duration_ns("250us"), Ok(250_000));
        assert_eq!(
            duration_ns("10").unwrap_err(),
            "\"10\" has no unit; write 10s for seconds or 10ms for milliseconds"
        );
        for bad in ["", "s", "10x", "-5s", "1..5s", "ten seconds", "1e9s", "NaNs", "infs", "10s5"] {
            assert!(duration_ns(bad).is_err(), "{bad}");
        }
        assert!(duration_ns("999999h").unwrap_err().contains("a year"));
    }

    #[test]
    fn rates_are_per_second_unless_they_have_a_unit() {
        assert_eq!(rate_per_s("500"), Ok(500.0));
        assert_eq!(rate_per_s("10k/s"), Ok(10_000.0));
        assert_eq!(rate_per_s("90/min"), Ok(1.5));
        for bad in ["", "/s", "5/day", "-1/s", "1e400", "NaN", "inf/s"] {
            assert!(rate_per_s(bad).is_err(), "{bad}");
        }
        assert!(rate_per_s("999999M").is_err());
    }

    #[test]
    fn counts_are_whole_and_sizes_know_both_kinds_of_kilo() {
        assert_eq!(count("10k"), Ok(10_000));
        assert!(count("1.5").is_err() && count("-1").is_err() && count("18446744073709551616").is_err());
        assert_eq!(count("1.5k"), Ok(1_500));
        assert_eq!(size_bytes("64KiB"), Ok(65_536));
        assert_eq!(size_bytes("10MB"), Ok(10_000_000));
        assert!(size_bytes("10 apples").is_err());
    }

    #[test]
    fn durations_are_shown_as_they_are_read() {
        for text in ["10s", "1m30s", "200ms", "1s500ms", "2h", "15µs", "7ns"] {
            assert_eq!(show_duration(duration_ns(text).unwrap()), text);
        }
        assert_eq!(show_duration(0), "0ns");
        for text in ["64MiB", "1GiB", "1500B", "0B", "3KiB"] {
            assert_eq!(show_size(size_bytes(text).unwrap()), text);
        }
    }

    #[test]
    fn percentages_are_shown_as_they_are_read() {
        for text in ["3%", "0.25%", "100%", "12.5%", "0%"] {
            assert_eq!(show_percent(percent(text).unwrap()), text);
        }
        assert_eq!(show_percent(1.0 / 3.0), "33.33%");
    }
}
