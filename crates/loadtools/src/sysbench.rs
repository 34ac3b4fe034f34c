//! Parser for the output of sysbench 1.0 with any test. It counts transactions of database tests, and events of other tests.

use outcome::ErrorClass::SqlError;

use crate::Tool;
use crate::figures::{Figures, ParseError, Times};
use crate::text::{after, count, missing, ns, number, number_in, required_count};
use crate::words::ErrorWord;

pub(crate) const SYSBENCH: Tool = Tool {
    name: "sysbench",
    programs: &["sysbench"],
    counts_transactions: true,
    times: "of events, which are transactions of a database test, in steps of 0.01 ms",
    install: "apt-get install sysbench",
    words: &[&IGNORED, &RECONNECTS],
    read,
};

const IGNORED: ErrorWord = ErrorWord::error(
    "ignored errors",
    SqlError,
    "a try that ended with an error of `sysbench --db-ignore-errors`, such as a deadlock; the transaction is tried again",
);
const RECONNECTS: ErrorWord = ErrorWord::as_note(
    "reconnects",
    "a connection that was opened again, as `sysbench --reconnect` asks or after it was lost",
);

fn read(text: &str) -> Result<Figures, ParseError> {
    let events = required_count(text, "total number of events:")?;
    let time = after(text, "total time:").and_then(|time| number_in(time.strip_suffix('s')?));
    let mut figures = Figures {
        version: after(text, "sysbench ").and_then(|rest| Some(rest.split(' ').next()?.to_owned())),
        measured_ns: time.and_then(|seconds| ns(seconds, 1e9)).ok_or_else(|| missing("total time:"))?,
        ok: events,
        times: times(text),
        ..Figures::default()
    };
    if text.contains("FATAL:") {
        return Err(ParseError("it failed after its start".to_owned()));
    }
    figures.count(&IGNORED, count(text, "ignored errors:").unwrap_or(0));
    figures.count(&RECONNECTS, count(text, "reconnects:").unwrap_or(0));
    figures.checked()
}

fn times(text: &str) -> Times {
    let of = |label: &str| ns(number(text, label)?, 1e6);
    let mut times = Times {
        min_ns: of("min:"),
        mean_ns: of("avg:"),
        max_ns: of("max:"),
        ..Times::with_resolution(10_000)
    };
    for line in text.lines() {
        // Example: `99th percentile:                        6.79`.
        let Some((percent, ms)) = line.trim().split_once("percentile:") else { continue };
        let percent = number_in(percent.trim().trim_end_matches(char::is_alphabetic));
        if let (Some(percent), Some(ms)) = (percent, number_in(ms.trim())) {
            times.add(percent, ns(ms, 1e6));
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_transactions_and_times() {
        let figures = read(include_str!("recorded/sysbench-read-only.txt")).unwrap();
        assert_eq!((figures.ok, figures.version.as_deref()), (4_614, Some("1.0.20")));
        assert_eq!(figures.measured_ns, 2_011_600_000);
        let Times { min_ns, mean_ns, max_ns, percentiles, .. } = figures.times;
        assert_eq!((min_ns, mean_ns, max_ns), (Some(530_000), Some(1_740_000), Some(12_810_000)));
        assert_eq!(percentiles, [(990_000, 6_790_000)]);
    }

    #[test]
    fn ignored_errors_are_counted_apart_from_transactions() {
        let text = include_str!("recorded/sysbench-read-only.txt");
        let figures =
            read(&text.replace("ignored errors:                      0", "ignored errors: 31")).unwrap();
        assert_eq!((figures.ok, figures.errors[0].count), (4_614, 31));
        let text = text.replace("reconnects:                          0", "reconnects: 2");
        let figures = read(&text).unwrap();
        assert_eq!(figures.errors.len(), 0);
        assert!(figures.notes[0].starts_with("reconnects: 2; "), "{:?}", figures.notes);
        assert!(read(include_str!("recorded/sysbench-refused.txt")).is_err());
    }
}
