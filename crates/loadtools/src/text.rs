//! Finds figures in printed lines.

use crate::figures::ParseError;

/// Text after a label at the start of a line, trimmed.
pub(crate) fn after<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.trim_start().strip_prefix(label)).map(str::trim)
}

/// First word after a label.
pub(crate) fn word<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    after(text, label)?.split_ascii_whitespace().next()
}

/// Integer after a label.
pub(crate) fn count(text: &str, label: &str) -> Option<u64> {
    word(text, label)?.trim_end_matches(',').parse().ok()
}

/// Integer after a label; an error if it is missing.
pub(crate) fn required_count(text: &str, label: &str) -> Result<u64, ParseError> {
    count(text, label).ok_or_else(|| missing(label))
}

/// Decimal number after a label; finite and not negative.
pub(crate) fn number(text: &str, label: &str) -> Option<f64> {
    number_in(word(text, label)?)
}

/// Parses a decimal number; finite and not negative.
pub(crate) fn number_in(word: &str) -> Option<f64> {
    word.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

/// Converts a time to nanoseconds; `None` if it was rounded to 0. `unit_ns` is the length of its unit.
pub(crate) fn ns(time: f64, unit_ns: f64) -> Option<u64> {
    let ns = (time * unit_ns).round();
    (1.0..9e18).contains(&ns).then_some(ns as u64)
}

/// Duration in nanoseconds from number and rate of requests. It is more exact than a printed time.
pub(crate) fn ns_of_rate(requests: u64, per_s: Option<f64>) -> Option<u64> {
    ns(requests as f64 / per_s.filter(|per_s| *per_s > 0.0)?, 1e9)
}

/// Error: a count exceeds the number of requests.
pub(crate) fn too_many(label: &str, count: u64, requests: u64) -> ParseError {
    ParseError(format!("it printed {:?} {count}, more than its {requests} requests", label.trim()))
}

/// Error: a line is missing.
pub(crate) fn missing(label: &str) -> ParseError {
    ParseError(format!("it printed no line {:?}", label.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_figures_after_labels() {
        let text = "noise\n  Requests/sec:  59676.22\nComplete requests:      3000\n";
        assert_eq!(number(text, "Requests/sec:"), Some(59_676.22));
        assert_eq!(count(text, "Complete requests:"), Some(3_000));
        assert_eq!(count(text, "Requests/sec:"), None, "not whole");
        assert_eq!(number_in("NaN").or(number_in("-1")).or(number_in("inf")), None);
        assert_eq!((ns(0.0, 1e6), ns(1.5, 1e6), ns(1e300, 1e9)), (None, Some(1_500_000), None));
    }
}
