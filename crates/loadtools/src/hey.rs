//! Parser for the output of hey.

use outcome::ErrorClass::{ConnectRefused, Status, ToolError, ToolTimeout};

use crate::Tool;
use crate::figures::{Figures, ParseError, Times};
use crate::text::{missing, ns, ns_of_rate, number, number_in};
use crate::words::{ErrorWord, in_message};

pub(crate) const HEY: Tool = Tool {
    name: "hey",
    programs: &["hey"],
    counts_transactions: false,
    times: "of requests that were answered, with their connection, in steps of 0.1 ms",
    install: "apt-get install hey",
    words: &[&REJECTED, &REFUSED, &TIMEOUT, &IO_TIMEOUT, &OTHER],
    read,
};

const REJECTED: ErrorWord =
    ErrorWord::error("Status code distribution", Status, "a status outside 200 to 399");
const REFUSED: ErrorWord =
    ErrorWord::error("connection refused", ConnectRefused, "nothing listens on the port");
const TIMEOUT: ErrorWord = ErrorWord::error("Timeout exceeded", ToolTimeout, "no reply within `-t`");
const IO_TIMEOUT: ErrorWord = ErrorWord::error("i/o timeout", ToolTimeout, "no connection in time");
const OTHER: ErrorWord =
    ErrorWord::error("any other error", ToolError, "a request without a whole reply; the message says why");

fn read(text: &str) -> Result<Figures, ParseError> {
    let seconds = number(text, "Total:").ok_or_else(|| missing("Total:"))?;
    let per_s = number(text, "Requests/sec:").ok_or_else(|| missing("Requests/sec:"))?;
    let mut figures = Figures { times: times(text), ..Figures::default() };
    let answered = bracketed(text, "Status code distribution:")
        .filter_map(|(status, rest)| Some((status.parse().ok()?, first_count(rest)?)));
    figures.note_statuses(answered.collect());
    for (count, message) in bracketed(text, "Error distribution:") {
        let word = in_message(&[&REFUSED, &TIMEOUT, &IO_TIMEOUT], message, &OTHER);
        figures.count_message(word, message, count.parse().map_err(|_| missing("Error distribution:"))?);
    }
    let errors: u64 = figures.errors.iter().map(|error| error.count).fold(0, u64::saturating_add);
    let requests = figures.ok.saturating_add(errors);
    if requests == 0 {
        return Err(missing("Status code distribution:"));
    }
    let measured_ns = ns_of_rate(requests, Some(per_s)).or_else(|| ns(seconds, 1e9));
    figures.measured_ns = measured_ns.ok_or_else(|| missing("Requests/sec:"))?;
    figures.checked()
}

/// The lines `[A] B` below a heading, up to the next empty one.
fn bracketed<'a>(text: &'a str, heading: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let lines = text.lines().skip_while(move |line| line.trim() != heading).skip(1);
    lines
        .take_while(|line| !line.trim().is_empty())
        .filter_map(|line| line.trim().strip_prefix('[')?.split_once(']'))
        .map(|(first, rest)| (first, rest.trim()))
}

fn first_count(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

fn times(text: &str) -> Times {
    let of = |label: &str| ns(number(text, label)?, 1e9);
    let mut times = Times {
        min_ns: of("Fastest:"),
        mean_ns: of("Average:"),
        max_ns: of("Slowest:"),
        ..Times::with_resolution(100_000)
    };
    for line in text.lines() {
        // Example: `50% in 0.0002 secs`, with one or two percent signs.
        let Some((percent, rest)) = line.trim().split_once("% in ") else { continue };
        let seconds = rest.split_ascii_whitespace().next().and_then(number_in);
        if let (Some(percent), Some(seconds)) = (number_in(percent.trim_end_matches('%')), seconds) {
            times.add(percent, ns(seconds, 1e9));
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use outcome::ErrorClass;

    use super::*;

    #[test]
    fn parses_requests_and_times() {
        let figures = read(include_str!("recorded/hey-ok.txt")).unwrap();
        assert_eq!((figures.ok, figures.statuses.as_slice()), (25_241, &[(200, 25_241)][..]));
        assert_eq!(figures.received_bytes, None, "bodies alone are reported");
        assert!((25_241.0 * 1e9 / figures.measured_ns as f64 - 25_219.165).abs() < 0.01);
        let Times { min_ns, mean_ns, max_ns, percentiles, .. } = figures.times;
        assert_eq!((min_ns, mean_ns, max_ns), (None, Some(400_000), Some(16_600_000)));
        assert_eq!(percentiles.last(), Some(&(990_000, 4_400_000)));
    }

    #[test]
    fn distinguishes_rejected_and_failed_requests() {
        let figures = read(include_str!("recorded/hey-rejected.txt")).unwrap();
        assert_eq!((figures.ok, figures.errors[0].code, figures.errors[0].count), (0, 503, 200));
        let figures = read(include_str!("recorded/hey-refused.txt")).unwrap();
        assert_eq!((figures.ok, figures.errors[0].class), (0, ErrorClass::ConnectRefused));
        assert_eq!(
            (figures.errors[0].count, &figures.times),
            (20, &Times::with_resolution(100_000)),
            "NaN is nothing"
        );
    }
}
