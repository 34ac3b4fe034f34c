//! Parser for the output of ab (ApacheBench).

use outcome::ErrorClass::{ConnectFailed, Status, ToolError};

use crate::Tool;
use crate::figures::{Figures, ParseError, Times};
use crate::text::{after, count, missing, ns, ns_of_rate, number, number_in, required_count, too_many};
use crate::words::ErrorWord;

pub(crate) const AB: Tool = Tool {
    name: "ab",
    programs: &["ab"],
    counts_transactions: false,
    times: "of requests with their connection, in whole milliseconds",
    install: "apt-get install apache2-utils",
    words: &[&REJECTED, &CONNECT, &RECEIVE, &LENGTH, &EXCEPTIONS, &WRITE],
    read,
};

const REJECTED: ErrorWord =
    ErrorWord::error("Non-2xx responses", Status, "a status that is not 2xx; these are complete requests");
const CONNECT: ErrorWord =
    ErrorWord::error("Failed requests: Connect", ConnectFailed, "no connection, and so no complete request");
const RECEIVE: ErrorWord = ErrorWord::error(
    "Failed requests: Receive",
    ToolError,
    "an error of reading the reply, which `-r` survives; these are complete requests",
);
const LENGTH: ErrorWord = ErrorWord::as_note(
    "Failed requests: Length",
    "a reply of another length than the first one, as dynamic pages have; ab does not tell a truncated reply from it",
);
const EXCEPTIONS: ErrorWord = ErrorWord::error(
    "Failed requests: Exceptions",
    ToolError,
    "an error of the socket while waiting; one while connecting is also a receive error, and counts once",
);
const WRITE: ErrorWord = ErrorWord::error(
    "Write errors",
    ToolError,
    "an error of sending the request; these are complete requests",
);

const MS: f64 = 1e6;

fn read(text: &str) -> Result<Figures, ParseError> {
    let requests = required_count(text, "Complete requests:")?;
    let failed = Failed::read(text)?;
    let rejected = count(text, "Non-2xx responses:").unwrap_or(0);
    let written = count(text, "Write errors:").unwrap_or(0);
    let per_s = number(text, "Requests per second:");
    let seconds = number(text, "Time taken for tests:").ok_or_else(|| missing("Time taken for tests:"))?;
    let mut figures = Figures {
        version: after(text, "This is ApacheBench, Version")
            .and_then(|rest| Some(rest.split(' ').next()?.to_owned())),
        measured_ns: ns_of_rate(requests, per_s)
            .or_else(|| ns(seconds, 1e9))
            .ok_or_else(|| missing("Requests per second:"))?,
        received_bytes: count(text, "Total transferred:"),
        times: times(text),
        ..Figures::default()
    };
    let without_reply = failed.receive.saturating_add(written);
    figures.ok = requests
        .checked_sub(rejected)
        .ok_or_else(|| too_many(REJECTED.word, rejected, requests))?
        .checked_sub(without_reply)
        .ok_or_else(|| too_many(RECEIVE.word, without_reply, requests - rejected))?;
    figures.count(&REJECTED, rejected);
    figures.count(&CONNECT, failed.connect);
    figures.count(&RECEIVE, failed.receive);
    figures.count(&LENGTH, failed.length);
    figures.count(&EXCEPTIONS, failed.exceptions.saturating_sub(failed.receive));
    figures.count(&WRITE, written);
    figures.checked()
}

/// Failed requests, by kind.
#[derive(Default)]
struct Failed {
    connect: u64,
    receive: u64,
    length: u64,
    exceptions: u64,
}

impl Failed {
    /// Parses `Failed requests: 100`, and below it, unless the count is 0, `(Connect: 0, Receive: 0, Length: 100, Exceptions: 0)`.
    fn read(text: &str) -> Result<Self, ParseError> {
        if required_count(text, "Failed requests:")? == 0 {
            return Ok(Self::default());
        }
        let kinds = after(text, "(Connect:").ok_or_else(|| missing("(Connect:"))?;
        let counts: Option<Vec<u64>> = kinds
            .trim_end_matches(')')
            .split(',')
            .map(|kind| kind.rsplit(' ').next()?.parse().ok())
            .collect();
        match counts.as_deref() {
            Some(&[connect, receive, length, exceptions]) => {
                Ok(Self { connect, receive, length, exceptions })
            }
            _ => Err(missing("(Connect: N, Receive: N, Length: N, Exceptions: N)")),
        }
    }
}

fn times(text: &str) -> Times {
    let mut times = Times::with_resolution(1_000_000);
    if let Some(total) = after(text, "Total:") {
        let mut words = total.split_ascii_whitespace().map(|word| ns(number_in(word)?, MS));
        // min, mean, standard deviation, median, max
        (times.min_ns, times.mean_ns) = (words.next().flatten(), words.next().flatten());
        times.max_ns = words.nth(2).flatten();
    }
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let percent = words.next().and_then(|word| number_in(word.strip_suffix('%')?));
        if let (Some(percent), Some(ms), None) = (percent, words.next().and_then(number_in), words.next()) {
            times.add(percent, ns(ms, MS));
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use outcome::ErrorClass;

    use super::*;

    #[test]
    fn times_below_one_millisecond_are_unknown() {
        let figures = read(include_str!("recorded/ab.txt")).unwrap();
        assert_eq!((figures.ok, figures.version.as_deref()), (3_000, Some("2.3")));
        assert_eq!((figures.received_bytes, figures.errors.len()), (Some(465_000), 0));
        assert!((3_000.0 * 1e9 / figures.measured_ns as f64 - 10_136.85).abs() < 0.01);
        let Times { resolution_ns, min_ns, mean_ns, max_ns, percentiles } = figures.times;
        assert_eq!((resolution_ns, min_ns), (1_000_000, None));
        assert_eq!((mean_ns, max_ns), (Some(1_000_000), Some(6_000_000)));
        assert_eq!(percentiles.first(), Some(&(500_000, 1_000_000)));
        assert_eq!(percentiles.last(), Some(&(990_000, 5_000_000)), "the longest is no percentile");
    }

    #[test]
    fn replies_of_another_length_are_notes() {
        let text = include_str!("recorded/ab-half.txt");
        let figures = read(text).unwrap();
        assert_eq!((figures.ok, figures.errors.len(), figures.errors[0].count), (100, 1, 100));
        assert!(figures.notes[0].starts_with("Failed requests: Length: 100; a reply"), "{:?}", figures.notes);
        let all_ok = read(&text.replace("Non-2xx responses:      100\n", "")).unwrap();
        assert_eq!((all_ok.ok, all_ok.errors.len(), all_ok.notes.len()), (200, 0, 1));
    }

    #[test]
    fn requests_without_reply_are_counted_once_as_errors() {
        let text = include_str!("recorded/ab-half.txt");
        let kinds = "(Connect: 0, Receive: 0, Length: 100, Exceptions: 0)";
        let of =
            |kinds: &str| read(&text.replace("(Connect: 0, Receive: 0, Length: 100, Exceptions: 0)", kinds));
        assert!(text.contains(kinds));
        let figures = of("(Connect: 3, Receive: 7, Length: 7, Exceptions: 9)").unwrap();
        let counts: Vec<(ErrorClass, u64)> =
            figures.errors.iter().map(|error| (error.class, error.count)).collect();
        assert_eq!(counts, [(Status, 100), (ConnectFailed, 3), (ToolError, 7), (ToolError, 2)]);
        assert_eq!(figures.ok, 93, "connections that failed are no complete requests");
        assert!(of("(Connect: 0, Receive: 101, Length: 0, Exceptions: 0)").is_err(), "100 had no status 2xx");
        assert!(of("").is_err(), "of an unknown kind");
    }

    #[test]
    fn rejects_more_non_2xx_responses_than_requests() {
        let text = include_str!("recorded/ab-half.txt");
        let error = read(&text.replace("Non-2xx responses:      100", "Non-2xx responses: 201")).unwrap_err();
        assert_eq!(error.0, "it printed \"Non-2xx responses\" 201, more than its 200 requests");
    }

    #[test]
    fn refused_connection_is_an_error() {
        assert!(read(include_str!("recorded/ab-refused.txt")).is_err());
    }
}
