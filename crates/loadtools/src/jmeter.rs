//! Parser for the output of JMeter's summariser, in non-GUI mode.

use outcome::ErrorClass::ToolError;

use crate::Tool;
use crate::figures::{Figures, ParseError, Times};
use crate::text::{missing, ns, ns_of_rate, number_in, too_many};
use crate::words::ErrorWord;

pub(crate) const JMETER: Tool = Tool {
    name: "JMeter",
    programs: &["jmeter", "ApacheJMeter"],
    counts_transactions: false,
    times: "of samples, in whole milliseconds",
    install: "install Apache JMeter 5 or newer, and add its folder bin to PATH",
    words: &[&ERR],
    read,
};

const ERR: ErrorWord = ErrorWord::error(
    "Err",
    ToolError,
    "a sample without a reply, with a status from 400 on, or whose assertion failed",
);

/// Parses `summary =  21550 in 00:00:03 = 7058.6/s Avg:     0 Min:     0 Max:    36 Err:     0 (0.00%)`.
fn read(text: &str) -> Result<Figures, ParseError> {
    const LINE: &str = "summary = N in T = R/s";
    // The last total covers the whole run, if the run has ended.
    let mut totals = text.lines().filter_map(|line| line.trim().strip_prefix("summary ="));
    let line = totals.next_back().ok_or_else(|| missing(LINE))?;
    if !text.contains("... end of run") {
        return Err(missing("... end of run"));
    }
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let after = |label: &str| {
        let place = words.iter().position(|word| *word == label)?;
        words.get(place + 1).and_then(|word| number_in(word))
    };
    let samples: u64 = words.first().and_then(|word| word.parse().ok()).ok_or_else(|| missing(LINE))?;
    let per_s = words.iter().find_map(|word| number_in(word.strip_suffix("/s")?));
    let failed = after("Err:").ok_or_else(|| missing(LINE))? as u64;
    let in_ns = |label: &str| ns(after(label)?, 1e6);
    let mut figures = Figures {
        measured_ns: ns_of_rate(samples, per_s).ok_or_else(|| missing(LINE))?,
        ok: samples.checked_sub(failed).ok_or_else(|| too_many(ERR.word, failed, samples))?,
        times: Times {
            min_ns: in_ns("Min:"),
            mean_ns: in_ns("Avg:"),
            max_ns: in_ns("Max:"),
            ..Times::with_resolution(1_000_000)
        },
        ..Figures::default()
    };
    figures.count(&ERR, failed);
    figures.checked()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_the_last_total() {
        let figures = read(include_str!("recorded/jmeter-long.txt")).unwrap();
        assert_eq!((figures.ok, figures.errors.len()), (970_301, 0));
        assert!((970_301.0 * 1e9 / figures.measured_ns as f64 - 24_226.0).abs() < 0.1);
        let Times { min_ns, mean_ns, max_ns, percentiles, .. } = figures.times;
        assert_eq!((min_ns, mean_ns, max_ns), (None, None, Some(61_000_000)), "less than 1 ms is unknown");
        assert!(percentiles.is_empty());
    }

    #[test]
    fn counts_failed_samples_and_rejects_an_incomplete_run() {
        let text = include_str!("recorded/jmeter-rejected.txt");
        let figures = read(text).unwrap();
        assert_eq!((figures.ok, figures.errors[0].count), (0, 5_837));
        assert!(read(text.split("Tidying up").next().unwrap()).is_err());
    }
}
