//! Reads what ab of Apache prints.

use outcome::ErrorClass;

use crate::Tool;
use crate::figures::{Figures, Times, Unread};
use crate::text::{after, count, missing, needed_count, ns, ns_of_rate, number, number_in};

pub(crate) const AB: Tool = Tool {
    name: "ab",
    programs: &["ab"],
    is_sql: false,
    times: "of requests with their connection, in whole milliseconds",
    install: "apt-get install apache2-utils",
    read,
};

const MS: f64 = 1e6;

fn read(text: &str) -> Result<Figures, Unread> {
    let requests = needed_count(text, "Complete requests:")?;
    let failed = needed_count(text, "Failed requests:")?.min(requests);
    let rejected = count(text, "Non-2xx responses:").unwrap_or(0).min(requests);
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
    // A rejected one may be among the failed, for its length: no request is counted twice.
    let failed = failed.min(requests - rejected);
    let kinds = after(text, "(Connect:").map_or_else(String::new, |kinds| format!(" (Connect: {kinds}"));
    figures.note(ErrorClass::Status, "a status that is not 2xx", rejected);
    figures.note(ErrorClass::ToolError, format!("failed requests{kinds}"), failed);
    figures.ok = requests - rejected - failed;
    figures.checked()
}

fn times(text: &str) -> Times {
    let mut times = Times::in_steps_of(1_000_000);
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
    use super::*;

    #[test]
    fn times_are_whole_milliseconds_and_those_below_one_are_unknown() {
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
    fn a_request_is_counted_once() {
        let figures = read(include_str!("recorded/ab-half.txt")).unwrap();
        let counts: Vec<u64> = figures.errors.iter().map(|error| error.count).collect();
        assert_eq!((figures.ok, counts), (0, vec![100, 100]), "at most what it says");
        let message = "failed requests (Connect: 0, Receive: 0, Length: 100, Exceptions: 0)";
        assert_eq!(figures.errors[1].message, message);
    }

    #[test]
    fn no_connection_is_no_result() {
        assert!(read(include_str!("recorded/ab-refused.txt")).is_err());
    }
}
