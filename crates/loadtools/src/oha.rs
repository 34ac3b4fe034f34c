//! Parser for the output of oha with `--output-format json`.

use outcome::ErrorClass::{ConnectRefused, Status, ToolError, ToolTimeout};
use serde_json::{Map, Value};

use crate::Tool;
use crate::figures::{Figures, ParseError, Times};
use crate::text::{missing, ns};
use crate::words::{Account, ErrorWord, in_message};

pub(crate) const OHA: Tool = Tool {
    name: "oha",
    programs: &["oha"],
    counts_transactions: false,
    times: "of requests that were answered, with their connection",
    install: "cargo install --locked oha",
    words: &[&REJECTED, &REFUSED, &TIMEOUT, &CUT_OFF, &OTHER],
    read,
};

const REJECTED: ErrorWord = ErrorWord::error("statusCodeDistribution", Status, "a status outside 200 to 399");
const REFUSED: ErrorWord =
    ErrorWord::error("Connection refused", ConnectRefused, "nothing listens on the port");
const TIMEOUT: ErrorWord = ErrorWord::error("timeout", ToolTimeout, "no reply within `-t`");
const OTHER: ErrorWord =
    ErrorWord::error("any other error", ToolError, "a request without a whole reply; the message says why");

const CUT_OFF: ErrorWord = ErrorWord {
    word: "aborted due to deadline",
    account: Account::Unfinished,
    meaning: "a request that the end of the run cut off",
};

fn read(text: &str) -> Result<Figures, ParseError> {
    let (from, to) = text.find("{\n").zip(text.rfind('}')).ok_or_else(|| {
        ParseError("it printed no JSON; add --no-tui --output-format json to its command".to_owned())
    })?;
    let report: Value = text
        .get(from..=to)
        .and_then(|text| serde_json::from_str(text).ok())
        .ok_or_else(|| ParseError("it printed JSON that cannot be read".to_owned()))?;
    let summary = report.get("summary").ok_or_else(|| missing("summary"))?;
    let seconds = |at: &Value, key: &str| ns(at.get(key)?.as_f64()?, 1e9);
    let map = |key: &str| report.get(key).and_then(Value::as_object).ok_or_else(|| missing(key));
    let mut figures = Figures {
        measured_ns: seconds(summary, "total").ok_or_else(|| missing("total"))?,
        times: Times {
            min_ns: seconds(summary, "fastest"),
            mean_ns: seconds(summary, "average"),
            max_ns: seconds(summary, "slowest"),
            ..Times::with_resolution(1)
        },
        ..Figures::default()
    };
    let statuses = counts(map("statusCodeDistribution")?)?;
    let parsed = statuses.iter().map(|(status, count)| Some((status.parse().ok()?, *count)));
    figures.note_statuses(parsed.collect::<Option<_>>().ok_or_else(|| missing("statusCodeDistribution"))?);
    for (message, count) in counts(map("errorDistribution")?)? {
        let word = in_message(&[&CUT_OFF, &REFUSED, &TIMEOUT], message, &OTHER);
        figures.count_message(word, message, count);
    }
    for (name, at) in map("latencyPercentiles")? {
        let percent = name.strip_prefix('p').and_then(|percent| percent.parse().ok());
        figures.times.add(percent.unwrap_or(0.0), at.as_f64().and_then(|at| ns(at, 1e9)));
    }
    figures.checked()
}

fn counts(map: &Map<String, Value>) -> Result<Vec<(&str, u64)>, ParseError> {
    let counts = map.iter().map(|(name, count)| Some((name.as_str(), count.as_u64()?)));
    counts.collect::<Option<_>>().ok_or_else(|| ParseError("it printed counts that are none".to_owned()))
}

#[cfg(test)]
mod tests {
    use outcome::ErrorClass;

    use super::*;

    #[test]
    fn parses_requests_and_times() {
        let figures = read(include_str!("recorded/oha-ok.txt")).unwrap();
        assert_eq!((figures.ok, figures.unfinished, figures.errors.len()), (10_146, 4, 0));
        assert_eq!((figures.measured_ns, figures.times.min_ns), (1_001_806_889, Some(108_772)));
        assert_eq!(figures.received_bytes, None, "bodies alone are reported");
        let p99_9 = figures.times.percentiles.iter().find(|(ppm, _)| *ppm == 999_000);
        assert_eq!(p99_9, Some(&(999_000, 8_371_487)));
    }

    #[test]
    fn distinguishes_rejected_and_failed_requests() {
        let figures = read(include_str!("recorded/oha-half.txt")).unwrap();
        assert_eq!((figures.ok, figures.errors[0].code, figures.errors[0].count), (51, 503, 49));
        let figures = read(include_str!("recorded/oha-refused.txt")).unwrap();
        assert_eq!((figures.ok, figures.errors[0].class), (0, ErrorClass::ConnectRefused));
        assert_eq!((figures.errors[0].count, figures.times.mean_ns), (20, None));
    }

    #[test]
    fn text_output_is_an_error_with_help() {
        let error = read("Summary:\n  Success rate:\t100.00%\n").unwrap_err();
        assert!(error.0.contains("--output-format json"), "{error}");
    }
}
