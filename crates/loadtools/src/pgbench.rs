//! Parser for the output of pgbench.

use outcome::ErrorClass::{Deadlock, SerializationFailure, SqlError};

use crate::Tool;
use crate::figures::{Figures, ParseError, Times};
use crate::text::{after, count, missing, ns, ns_of_rate, number, required_count, too_many, word};
use crate::words::ErrorWord;

pub(crate) const PGBENCH: Tool = Tool {
    name: "pgbench",
    programs: &["pgbench"],
    counts_transactions: true,
    times: "of transactions, with the delay of their start where pgbench has a rate",
    install: "apt-get install postgresql-contrib",
    words: &[&SERIALIZATION, &DEADLOCKS, &FAILED, &SKIPPED, &ABOVE_LIMIT, &RETRIED],
    read,
};

const SERIALIZATION: ErrorWord = ErrorWord::error(
    "number of serialization failures",
    SerializationFailure,
    "failed transactions after their last try, with `pgbench --failures-detailed`",
);
const DEADLOCKS: ErrorWord = ErrorWord::error(
    "number of deadlock failures",
    Deadlock,
    "failed transactions after their last try, with `pgbench --failures-detailed`",
);
const FAILED: ErrorWord = ErrorWord::error(
    "number of failed transactions",
    SqlError,
    "a serialization failure or a deadlock after the last try; none of those processed",
);
const SKIPPED: ErrorWord = ErrorWord::as_note(
    "number of transactions skipped",
    "too late for `pgbench --latency-limit` before its start: nothing was sent",
);
const ABOVE_LIMIT: ErrorWord = ErrorWord::as_note(
    "number of transactions above the latency limit",
    "committed later than `pgbench --latency-limit`; these were processed",
);
const RETRIED: ErrorWord = ErrorWord::as_note(
    "number of transactions retried",
    "tried again after a failure, whatever became of them",
);

fn read(text: &str) -> Result<Figures, ParseError> {
    const PROCESSED: &str = "number of transactions actually processed:";
    // With a number of transactions per client, pgbench prints `200/200`.
    let processed = word(text, PROCESSED).and_then(|word| word.split('/').next()?.parse().ok());
    let processed: u64 = processed.ok_or_else(|| missing(PROCESSED))?;
    let per_s = number(text, "tps =");
    let failed = count(text, "number of failed transactions:").unwrap_or(0);
    let mut figures = Figures {
        version: after(text, "pgbench (").and_then(|rest| Some(rest.split([' ', ')']).next()?.to_owned())),
        measured_ns: ns_of_rate(processed, per_s)
            .or_else(|| ns(number(text, "duration:")?, 1e9))
            .ok_or_else(|| missing("tps ="))?,
        ok: processed,
        times: Times {
            mean_ns: number(text, "latency average =").and_then(|ms| ns(ms, 1e6)),
            ..Times::with_resolution(1_000)
        },
        ..Figures::default()
    };
    let count = |word: &ErrorWord| count(text, &format!("{}:", word.word)).unwrap_or(0);
    let (serialization, deadlocks) = (count(&SERIALIZATION), count(&DEADLOCKS));
    let detailed = serialization.saturating_add(deadlocks);
    figures.count(&SERIALIZATION, serialization);
    figures.count(&DEADLOCKS, deadlocks);
    figures
        .count(&FAILED, failed.checked_sub(detailed).ok_or_else(|| too_many("failures", detailed, failed))?);
    figures.count(&SKIPPED, count(&SKIPPED));
    figures.count(&ABOVE_LIMIT, above_limit(text));
    figures.count(&RETRIED, count(&RETRIED));
    if text.contains("Run was aborted") {
        return Err(ParseError("its run was aborted".to_owned()));
    }
    required_count(text, "number of clients:")?;
    figures.checked()
}

/// Parses `number of transactions above the 100.0 ms latency limit: 12/3400 (0.353 %)`.
fn above_limit(text: &str) -> u64 {
    after(text, "number of transactions above the ")
        .and_then(|rest| rest.split_once(" ms latency limit:")?.1.trim().split('/').next()?.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_transactions_and_mean_latency() {
        let figures = read(include_str!("recorded/pgbench-select-only.txt")).unwrap();
        assert_eq!((figures.ok, figures.version.as_deref()), (32_267, Some("15.18")));
        assert!((32_267.0 * 1e9 / figures.measured_ns as f64 - 16_229.260_753).abs() < 0.001);
        assert_eq!((figures.times.mean_ns, figures.times.max_ns), (Some(246_000), None));
        assert_eq!(figures.received_bytes, None);
        let figures = read(include_str!("recorded/pgbench-rate.txt")).unwrap();
        assert_eq!((figures.ok, figures.times.mean_ns), (374, Some(4_618_000)));
        assert_eq!(read(include_str!("recorded/pgbench-count.txt")).unwrap().ok, 200);
    }

    #[test]
    fn failed_transactions_are_not_among_processed_ones() {
        let text = include_str!("recorded/pgbench-select-only.txt");
        let failed = text.replace("failed transactions: 0 (0.000%)", "failed transactions: 12 (0.037%)");
        let figures = read(&failed).unwrap();
        assert_eq!((figures.ok, figures.errors[0].count), (32_267, 12));
        assert_eq!(figures.errors[0].class, SqlError);
        let detailed =
            "number of serialization failures: 9 (0.028%)\nnumber of deadlock failures: 3 (0.009%)\n";
        let figures = read(&format!("{failed}{detailed}")).unwrap();
        let counts: Vec<_> = figures.errors.iter().map(|error| (error.class, error.count)).collect();
        assert_eq!(counts, [(SerializationFailure, 9), (Deadlock, 3)], "each is counted once");
        assert!(read(&format!("{text}{detailed}")).is_err(), "12 of 0 failed ones");
        let aborted = format!("{text}pgbench: error: Run was aborted; the above results are incomplete.\n");
        assert!(read(&aborted).is_err());
        assert!(read(include_str!("recorded/pgbench-refused.txt")).is_err());
    }

    #[test]
    fn skipped_late_and_retried_transactions_are_notes() {
        let more = "number of transactions skipped: 5 (0.015%)\n\
                    number of transactions above the 100.0 ms latency limit: 12/32267 (0.037%)\n\
                    number of transactions retried: 4 (0.012%)\n";
        let figures = read(&format!("{}{more}", include_str!("recorded/pgbench-select-only.txt"))).unwrap();
        let counts: Vec<&str> = figures.notes.iter().filter_map(|note| note.split(';').next()).collect();
        let expected = ["skipped: 5", "above the latency limit: 12", "retried: 4"];
        assert_eq!(counts, expected.map(|count| format!("number of transactions {count}")));
        assert_eq!((figures.ok, figures.errors.len()), (32_267, 0));
    }
}
