//! Parser for the end-of-test summary of k6.

use outcome::ErrorClass::{ConnectRefused, ToolError, ToolTimeout};

use crate::Tool;
use crate::figures::{Figures, ParseError, Times};
use crate::text::{missing, ns, ns_of_rate, number_in};
use crate::words::ErrorWord;

pub(crate) const K6: Tool = Tool {
    name: "k6",
    programs: &["k6"],
    counts_transactions: false,
    times: "of requests that were answered as expected, from sending to the end of the reply",
    install: "go install go.k6.io/k6@latest",
    words: &[&REFUSED, &TIMEOUT, &FAILED, &DROPPED, &CHECKS],
    read,
};

const REFUSED: ErrorWord = ErrorWord::error(
    "connection refused",
    ConnectRefused,
    "nothing listens on the port; part of http_req_failed",
);
const TIMEOUT: ErrorWord =
    ErrorWord::error("request timeout", ToolTimeout, "no reply within `timeout`; part of http_req_failed");
const FAILED: ErrorWord = ErrorWord::error(
    "http_req_failed",
    ToolError,
    "a status outside 200 to 399, or what `setResponseCallback` does not expect, or no reply",
);
const DROPPED: ErrorWord = ErrorWord::as_note(
    "dropped_iterations",
    "an arrival for which k6 had no free VU: nothing was sent, and the load was lower than asked for",
);
const CHECKS: ErrorWord = ErrorWord::as_note(
    "checks_failed",
    "a check of the script that failed: k6 does not say for which request, and its status alone decides",
);

/// Metric with the times of all requests. The line below it has the times of expected responses.
const DURATION: &str = "http_req_duration";
const EXPECTED: &str = "{ expected_response:true }";

fn read(text: &str) -> Result<Figures, ParseError> {
    let requests = metric(text, "http_reqs").ok_or_else(|| missing("http_reqs"))?;
    let mut words = requests.split_ascii_whitespace();
    let count: u64 = words.next().and_then(|word| word.parse().ok()).ok_or_else(|| missing("http_reqs"))?;
    let per_s = words.next().and_then(|word| number_in(word.strip_suffix("/s")?));
    let failed = match metric(text, "http_req_failed") {
        Some(failed) => failed_requests(failed, count).ok_or_else(|| missing("http_req_failed"))?,
        None => 0,
    };
    let ok = count.checked_sub(failed).ok_or_else(|| missing("http_req_failed"))?;
    let times = metric(text, EXPECTED).or_else(|| metric(text, DURATION).filter(|_| failed == 0));
    let mut figures = Figures {
        measured_ns: ns_of_rate(count, per_s).ok_or_else(|| missing("http_reqs"))?,
        ok,
        received_bytes: metric(text, "data_received").and_then(bytes),
        times: times.map(times_of).unwrap_or_default(),
        ..Figures::default()
    };
    // k6 logs one line for each request without a reply.
    let refused = text.lines().filter(|line| line.contains("connection refused")).count() as u64;
    let timed_out = text.lines().filter(|line| line.contains("request timeout")).count() as u64;
    let refused = refused.min(failed);
    let timed_out = timed_out.min(failed - refused);
    figures.count(&REFUSED, refused);
    figures.count(&TIMEOUT, timed_out);
    figures.count(&FAILED, failed - refused - timed_out);
    figures.count(&DROPPED, metric(text, DROPPED.word).and_then(first_count).unwrap_or(0));
    figures.count(&CHECKS, failed_checks(text));
    figures.checked()
}

/// Value of a metric, after its name, dots, and colon: `http_reqs......................: 2364 1181.5/s`.
fn metric<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        // Marks of thresholds may precede the name.
        let line = line.trim_start_matches(|character: char| !matches!(character, 'a'..='z' | '{'));
        Some(line.strip_prefix(name)?.trim_start_matches('.').strip_prefix(':')?.trim())
    })
}

/// Parses `49.00% 49 out of 100`, or before version 0.50 `49.00% ✓ 49 ✗ 51`.
fn failed_requests(text: &str, requests: u64) -> Option<u64> {
    let numbers: Vec<u64> = text.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [failed, other] = numbers.as_slice() else { return None };
    let is_consistent = if text.contains("out of") { *other == requests } else { failed + other == requests };
    is_consistent.then_some(*failed)
}

/// Parses `checks_failed......: 10.00% 5 out of 50`, or before version 1.0 `checks...: 90.00% ✓ 45 ✗ 5`.
fn failed_checks(text: &str) -> u64 {
    let of_version_1 = metric(text, CHECKS.word).and_then(|checks| checks.split_once('%')?.1.trim().into());
    let before = || metric(text, "checks").and_then(|checks| Some(checks.split_once('✗')?.1));
    of_version_1.or_else(before).and_then(first_count).unwrap_or(0)
}

fn first_count(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

fn bytes(text: &str) -> Option<u64> {
    let mut words = text.split_ascii_whitespace();
    let number = number_in(words.next()?)?;
    let unit = match words.next()? {
        "B" => 1.0,
        "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        _ => return None,
    };
    let bytes = (number * unit).round();
    (0.0..9e18).contains(&bytes).then_some(bytes as u64)
}

/// Parses `avg=1.2ms min=1.05ms med=1.19ms p(90)=1.3ms max=9.1ms`, with the statistics of `--summary-trend-stats`.
fn times_of(text: &str) -> Times {
    let mut times = Times::with_resolution(10);
    for word in text.split_ascii_whitespace() {
        let Some((name, time)) = word.split_once('=') else { continue };
        let time = time_ns(time);
        match name {
            "avg" => times.mean_ns = time,
            "min" => times.min_ns = time,
            "max" => times.max_ns = time,
            "med" => times.add(50.0, time),
            _ => {
                let percent = name.strip_prefix("p(").and_then(|name| number_in(name.strip_suffix(')')?));
                times.add(percent.unwrap_or(0.0), time);
            }
        }
    }
    times.percentiles.sort_unstable();
    times.percentiles.dedup_by_key(|(ppm, _)| *ppm);
    times
}

/// Parses a duration of Go: `1m2.5s`, `3.2ms`, `812.45µs`. `None` if it is malformed, or 0.
fn time_ns(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut sum_ns = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|character: char| !character.is_ascii_digit() && character != '.')?;
        let (number, tail) = rest.split_at(digits);
        let end = tail.find(|character: char| character.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(end);
        let unit_ns = match unit {
            "h" => 3.6e12,
            "m" => 6e10,
            "s" => 1e9,
            "ms" => 1e6,
            "µs" | "us" => 1e3,
            "ns" => 1.0,
            _ => return None,
        };
        sum_ns += number_in(number)? * unit_ns;
        rest = tail;
    }
    ns(sum_ns, 1.0)
}

#[cfg(test)]
mod tests {
    use outcome::ErrorClass;

    use super::*;

    #[test]
    fn parses_requests_and_times() {
        let figures = read(include_str!("recorded/k6-ok.txt")).unwrap();
        assert_eq!((figures.ok, figures.errors.len(), figures.received_bytes), (3_534, 0, Some(433_000)));
        assert!((3_534.0 * 1e9 / figures.measured_ns as f64 - 1_762.278_65).abs() < 1e-4);
        let Times { min_ns, mean_ns, max_ns, percentiles, .. } = figures.times;
        assert_eq!((min_ns, mean_ns, max_ns), (Some(1_080_000), Some(2_110_000), Some(11_770_000)));
        let expected =
            [(500_000, 1_460_000), (900_000, 4_290_000), (990_000, 7_610_000), (999_000, 10_680_000)];
        assert_eq!(percentiles, expected);
    }

    #[test]
    fn times_cover_expected_responses_only() {
        let figures = read(include_str!("recorded/k6-half.txt")).unwrap();
        assert_eq!((figures.ok, figures.errors[0].class), (9, ErrorClass::ToolError));
        assert_eq!((figures.errors[0].count, figures.times.mean_ns), (11, Some(2_320_000)));
    }

    #[test]
    fn distinguishes_refused_connections_and_timeouts() {
        let figures = read(include_str!("recorded/k6-refused.txt")).unwrap();
        assert_eq!((figures.ok, figures.errors[0].class), (0, ErrorClass::ConnectRefused));
        assert_eq!((figures.errors[0].count, figures.times), (20, Times::default()), "no answer, no time");
        let figures = read(include_str!("recorded/k6-timeout.txt")).unwrap();
        assert_eq!((figures.errors[0].class, figures.errors[0].count), (ErrorClass::ToolTimeout, 4));
    }

    #[test]
    fn dropped_iterations_and_failed_checks_are_notes() {
        let text = include_str!("recorded/k6-ok.txt");
        let more = "checks_failed......: 10.00% 5 out of 50\ndropped_iterations...: 7 3.5/s\n";
        let figures = read(&format!("{text}{more}")).unwrap();
        assert_eq!((figures.ok, figures.errors.len(), figures.notes.len()), (3_534, 0, 2));
        assert!(figures.notes[0].starts_with("dropped_iterations: 7; "), "{:?}", figures.notes);
        assert!(figures.notes[1].starts_with("checks_failed: 5; "), "{:?}", figures.notes);
        assert_eq!(failed_checks("     checks.....: 90.00% ✓ 45 ✗ 5"), 5, "before 1.0");
        assert_eq!(failed_checks(text), 0);
    }

    #[test]
    fn parses_go_durations() {
        let read: Vec<_> = ["1m2.5s", "3.2ms", "812.45µs", "812.45us", "90ns"].map(time_ns).into();
        let expected = [62_500_000_000, 3_200_000, 812_450, 812_450, 90].map(Some);
        assert_eq!(read, expected);
        assert_eq!(["0s", "", "3", "3x", "-1s"].map(time_ns), [None; 5]);
    }

    #[test]
    fn rejects_inconsistent_counts_of_failed_requests() {
        assert_eq!(failed_requests("49.00% 49 out of 100", 100), Some(49));
        assert_eq!(failed_requests("49.00% ✓ 49 ✗ 51", 100), Some(49));
        assert_eq!(failed_requests("49.00% 49 out of 90", 100), None);
    }
}
