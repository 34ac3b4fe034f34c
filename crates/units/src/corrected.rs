//! Corrects spellings of other tools and of everyday use: `30sec` to `30s`, `100rps` to `100/s`, `1,000` to `1000`.

use crate::{count, duration_ns, rate_per_s, size_bytes};

/// Maximum length of a text that is corrected, in bytes. Longer texts are not misspelled numbers.
const LENGTH_MAX: usize = 32;

const DURATIONS: &[(&[&str], &str)] = &[
    (&["ns", "nsec", "nanos", "nanosecond", "nanoseconds"], "ns"),
    (&["us", "µs", "usec", "micros", "microsecond", "microseconds"], "us"),
    (&["ms", "msec", "msecs", "millis", "millisecond", "milliseconds"], "ms"),
    (&["s", "sec", "secs", "second", "seconds"], "s"),
    (&["m", "min", "mins", "minute", "minutes"], "m"),
    (&["h", "hr", "hrs", "hour", "hours"], "h"),
];
const RATES: &[(&[&str], &str)] = &[
    (
        &["rps", "qps", "tps", "req/s", "reqs/s", "requests/s", "/sec", "/second", "/1s", "ps", "persecond"],
        "/s",
    ),
    (&["rpm", "/minute", "/mins", "/1m", "perminute"], "/min"),
    (&["/hour", "/hr", "/1h", "perhour"], "/h"),
];
const SIZES: &[(&[&str], &str)] = &[
    (&["byte", "bytes", "b"], "B"),
    (&["k", "ki", "kib"], "KiB"),
    (&["kb"], "kB"),
    (&["m", "mi", "mib"], "MiB"),
    (&["mb"], "MB"),
    (&["g", "gi", "gib"], "GiB"),
    (&["gb"], "GB"),
];

/// Returns the duration that the text probably means, in Tenbin's notation. `None` if there is none.
pub(crate) fn duration(original: &str) -> Option<String> {
    let text = plain(original)?;
    let mut rest = text.as_str();
    let mut corrected = String::new();
    while !rest.is_empty() {
        let (number, after) = split_at(rest, |c| !(c.is_ascii_digit() || c == '.'));
        let (unit, after) = split_at(after, |c| c.is_ascii_digit());
        corrected.push_str(number);
        corrected.push_str(find_unit(unit, DURATIONS)?);
        rest = after;
    }
    accept_if_valid(corrected, original, duration_ns)
}

/// Returns the rate that the text probably means, in Tenbin's notation. `None` if there is none.
pub(crate) fn rate(original: &str) -> Option<String> {
    let text = plain(original)?;
    let (number, unit) = split_at(&text, |c| !(c.is_ascii_digit() || c == '.'));
    let (multiple, unit) = match unit.strip_prefix('k') {
        Some(unit) => ("k", unit),
        None => ("", unit),
    };
    let corrected = format!("{number}{multiple}{}", find_unit(unit, RATES)?);
    accept_if_valid(corrected, original, rate_per_s)
}

/// Returns the whole number that the text probably means. `None` if there is none.
pub(crate) fn whole_number(original: &str) -> Option<String> {
    let text = plain(original)?;
    let groups: Vec<&str> = text.split([',', '_', '\'']).collect();
    let is_grouped = groups.len() > 1 && groups[1..].iter().all(|group| group.len() == 3);
    let corrected = match text.split_once('e') {
        _ if is_grouped => groups.concat(),
        Some((mantissa, zeros)) => {
            let zeros: usize = zeros.parse().ok().filter(|zeros| *zeros < 13)?;
            let is_digits = !mantissa.is_empty() && mantissa.bytes().all(|byte| byte.is_ascii_digit());
            is_digits.then(|| format!("{mantissa}{}", "0".repeat(zeros)))?
        }
        None => return None,
    };
    accept_if_valid(corrected, original, count)
}

/// Returns the size that the text probably means, in Tenbin's notation. `None` if there is none.
pub(crate) fn size(original: &str) -> Option<String> {
    let text = plain(original)?;
    let (number, unit) = split_at(&text, |c| !(c.is_ascii_digit() || c == '.'));
    let corrected = format!("{number}{}", find_unit(unit, SIZES)?);
    accept_if_valid(corrected, original, size_bytes)
}

/// Returns the corrected text if `read` accepts it. `None` if it equals the original, which was already rejected.
fn accept_if_valid<T>(
    corrected: String,
    original: &str,
    read: fn(&str) -> Result<T, String>,
) -> Option<String> {
    (corrected != original && read(&corrected).is_ok()).then_some(corrected)
}

/// Converts a text to lower case and removes its spaces. `None` if it is too long or does not begin with a digit.
fn plain(text: &str) -> Option<String> {
    let is_number = text.trim_start().starts_with(|first: char| first.is_ascii_digit());
    let plain = || text.to_lowercase().chars().filter(|character| !character.is_whitespace()).collect();
    (is_number && text.len() <= LENGTH_MAX).then(plain)
}

fn split_at(text: &str, end: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(end).unwrap_or(text.len()))
}

fn find_unit(unit: &str, units: &[(&[&str], &'static str)]) -> Option<&'static str> {
    units.iter().find(|(names, _)| names.contains(&unit)).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_a_correction_leaves_as_it_is_is_not_corrected() {
        for text in ["1.5.5s", "1.s", "99999999999999999999s", "1m1"] {
            assert_eq!(duration(text), None, "{text}");
        }
        assert_eq!((rate("1.5.5/s"), size("1.1.1B"), whole_number("1e999")), (None, None, None));
    }

    #[test]
    fn spellings_of_other_tools_are_corrected() {
        for (text, corrected) in
            [("30sec", "30s"), ("1minute", "1m"), ("30S", "30s"), ("1 hour 30 mins", "1h30m"), ("5MS", "5ms")]
        {
            assert_eq!(duration(text).as_deref(), Some(corrected), "{text}");
        }
        for (text, corrected) in [
            ("100rps", "100/s"),
            ("100 qps", "100/s"),
            ("5/sec", "5/s"),
            ("10/1s", "10/s"),
            ("5krps", "5k/s"),
        ] {
            assert_eq!(rate(text).as_deref(), Some(corrected), "{text}");
        }
        for (text, corrected) in [("1,000", "1000"), ("1e3", "1000"), ("1_000_000", "1000000")] {
            assert_eq!(whole_number(text).as_deref(), Some(corrected), "{text}");
        }
        for (text, corrected) in [("64k", "64KiB"), ("10 mb", "10MB"), ("5bytes", "5B")] {
            assert_eq!(size(text).as_deref(), Some(corrected), "{text}");
        }
    }

    #[test]
    fn text_without_a_likely_meaning_is_not_corrected() {
        for text in ["", "soon", "-5", "1e9s", "10x", "1e308", "NaN", "5 parsecs", "1,5", "ten"] {
            let all = [duration(text), rate(text), whole_number(text), size(text)];
            assert_eq!(all, [None, None, None, None], "{text}");
        }
    }
}
