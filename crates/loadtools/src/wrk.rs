//! Parser for the output of wrk, and of wrk2, which has the same program name and prints percentiles with more decimals.

use outcome::ErrorClass::{ConnectFailed, Status, ToolError, ToolTimeout};

use crate::Tool;
use crate::figures::{Figures, ParseError, Times};
use crate::text::{after, count, missing, ns, ns_of_rate, number, number_in, too_many};
use crate::words::ErrorWord;

pub(crate) const WRK: Tool = Tool {
    name: "wrk",
    programs: &["wrk", "wrk2"],
    counts_transactions: false,
    times: "of requests that were answered, from sending to the end of the reply",
    install: "apt-get install wrk",
    words: &[&REJECTED, &CONNECT, &READ, &WRITE, &TIMEOUT],
    read,
};

const REJECTED: ErrorWord = ErrorWord::error(
    "Non-2xx or 3xx responses",
    Status,
    "a status from 400 on, whatever the words say; these are among the requests",
);
const CONNECT: ErrorWord =
    ErrorWord::error("Socket errors: connect", ConnectFailed, "no connection, and so none of the requests");
const READ: ErrorWord = ErrorWord::error(
    "Socket errors: read",
    ToolError,
    "a reset, or the end of the connection within a reply or before it; none of the requests",
);
const WRITE: ErrorWord =
    ErrorWord::error("Socket errors: write", ToolError, "an error of sending; none of the requests");
const TIMEOUT: ErrorWord = ErrorWord::error(
    "Socket errors: timeout",
    ToolTimeout,
    "a reply later than `wrk --timeout`, 2 s unless given; these are among the requests",
);

fn read(text: &str) -> Result<Figures, ParseError> {
    let (requests, seconds, bytes) = summary(text).ok_or_else(|| missing("N requests in T, N read"))?;
    let per_s = number(text, "Requests/sec:").ok_or_else(|| missing("Requests/sec:"))?;
    let measured_ns = ns_of_rate(requests, Some(per_s)).or_else(|| ns(seconds, 1e9));
    let mut figures = Figures {
        measured_ns: measured_ns.ok_or_else(|| missing("N requests in T"))?,
        received_bytes: Some(bytes),
        times: times(text),
        ..Figures::default()
    };
    let rejected = count(text, "Non-2xx or 3xx responses:").unwrap_or(0);
    let answered =
        requests.checked_sub(rejected).ok_or_else(|| too_many(REJECTED.word, rejected, requests))?;
    figures.count(&REJECTED, rejected);
    let mut late = 0;
    if let Some(errors) = after(text, "Socket errors:") {
        let of = |kind: &str| {
            let mut words = errors.split(',').map(str::trim);
            let count = words.find_map(|one| one.strip_prefix(kind)?.trim().parse().ok());
            count.ok_or_else(|| missing("Socket errors: connect N, read N, write N, timeout N"))
        };
        figures.count(&CONNECT, of("connect")?);
        figures.count(&READ, of("read")?);
        figures.count(&WRITE, of("write")?);
        let timeouts: u64 = of("timeout")?;
        if timeouts > requests {
            return Err(too_many(TIMEOUT.word, timeouts, requests));
        }
        // A late reply may also be a rejected one. Each request is counted once.
        late = timeouts.min(answered);
        figures.count(&TIMEOUT, late);
    }
    figures.ok = answered - late;
    figures.checked()
}

/// Parses `125316 requests in 2.10s, 19.12MB read`.
fn summary(text: &str) -> Option<(u64, f64, u64)> {
    text.lines().find_map(|line| {
        let (requests, rest) = line.trim().split_once(" requests in ")?;
        let (time, bytes) = rest.strip_suffix(" read")?.split_once(", ")?;
        Some((requests.parse().ok()?, seconds(time)?, size(bytes)?))
    })
}

fn times(text: &str) -> Times {
    let mut times = Times::with_resolution(10);
    let in_ns = |word: &str| ns(seconds(word)?, 1e9);
    if let Some(latency) = after(text, "Latency ").filter(|rest| !rest.starts_with("Distribution")) {
        let mut words = latency.split_ascii_whitespace();
        times.mean_ns = words.next().and_then(in_ns);
        times.max_ns = words.nth(1).and_then(in_ns);
    }
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let percent = words.next().and_then(|word| number_in(word.strip_suffix('%')?));
        if let (Some(percent), Some(time), None) = (percent, words.next(), words.next()) {
            times.add(percent, in_ns(time));
        }
    }
    times
}

/// Parses `185.39us`, `5.52ms`, `1.20s`, `2.00m`, `1.00h` into seconds.
fn seconds(text: &str) -> Option<f64> {
    let units = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3_600.0)];
    units.iter().find_map(|(unit, size)| Some(number_in(text.strip_suffix(unit)?)? * size))
}

/// Parses `19.12MB` into bytes. Units are powers of 1,024.
fn size(text: &str) -> Option<u64> {
    let units = [("KB", 10), ("MB", 20), ("GB", 30), ("TB", 40), ("PB", 50), ("B", 0)];
    let size = |unit: &str, shift: i32| Some(number_in(text.strip_suffix(unit)?)? * f64::from(shift).exp2());
    units.iter().find_map(|(unit, shift)| size(unit, *shift)).map(|bytes| bytes.round() as u64)
}

#[cfg(test)]
mod tests {
    use outcome::ErrorClass;

    use super::*;

    #[test]
    fn parses_requests_times_and_bytes() {
        let figures = read(include_str!("recorded/wrk-latency.txt")).unwrap();
        assert_eq!((figures.ok, figures.errors.len()), (125_316, 0));
        assert!((figures.ok as f64 * 1e9 / figures.measured_ns as f64 - 59_676.22).abs() < 0.01);
        assert_eq!(figures.received_bytes, Some(20_048_773));
        assert_eq!((figures.times.mean_ns, figures.times.max_ns), (Some(185_390), Some(5_520_000)));
        let percentiles = [(500_000, 113_000), (750_000, 123_000), (900_000, 144_000), (990_000, 2_780_000)];
        assert_eq!(figures.times.percentiles, percentiles);
    }

    #[test]
    fn output_without_distribution_has_no_percentiles() {
        let figures = read(include_str!("recorded/wrk.txt")).unwrap();
        assert!(figures.times.percentiles.is_empty(), "{:?}", figures.times);
        assert_eq!((figures.ok, figures.times.min_ns), (115_596, None));
    }

    #[test]
    fn rejected_requests_and_socket_errors_are_not_ok() {
        let text = include_str!("recorded/wrk-rejected.txt");
        let figures = read(text).unwrap();
        assert_eq!((figures.ok, figures.errors[0].count), (0, 54_523));
        let text = text.replace(
            "  Non-2xx or 3xx responses: 54523",
            "  Socket errors: connect 1, read 2, write 0, timeout 4",
        );
        let figures = read(&text).unwrap();
        let counts: Vec<(ErrorClass, u64)> =
            figures.errors.iter().map(|one| (one.class, one.count)).collect();
        let expected =
            [(ErrorClass::ConnectFailed, 1), (ErrorClass::ToolError, 2), (ErrorClass::ToolTimeout, 4)];
        assert_eq!((figures.ok, counts), (54_519, expected.to_vec()));
    }

    #[test]
    fn rejects_more_errors_than_requests() {
        let text = include_str!("recorded/wrk-rejected.txt");
        let error = read(&text.replace("responses: 54523", "responses: 54524")).unwrap_err();
        assert!(error.0.ends_with("54524, more than its 54523 requests"), "{error}");
        let socket = |errors: &str| read(&text.replace("Non-2xx or 3xx responses: 54523", errors));
        let error = socket("Socket errors: connect 0, read 0, write 0, timeout 54524").unwrap_err();
        assert!(error.0.contains("timeout\" 54524"), "{error}");
        let reset = socket("Socket errors: connect 0, read 60000, write 0, timeout 0").unwrap();
        assert_eq!((reset.ok, reset.errors[0].count), (54_523, 60_000), "none of the requests");
        assert!(socket("Socket errors: connect 0, read -1, write 0, timeout 0").is_err());
    }
}
