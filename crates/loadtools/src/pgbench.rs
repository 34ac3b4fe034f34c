//! Reads what pgbench of PostgreSQL prints.

use outcome::ErrorClass;

use crate::Tool;
use crate::figures::{Figures, Times, Unread};
use crate::text::{after, count, missing, needed_count, ns, ns_of_rate, number, word};

pub(crate) const PGBENCH: Tool = Tool {
    name: "pgbench",
    programs: &["pgbench"],
    is_sql: true,
    times: "of transactions, with the delay of their start where pgbench has a rate",
    install: "apt-get install postgresql-contrib",
    read,
};

fn read(text: &str) -> Result<Figures, Unread> {
    const PROCESSED: &str = "number of transactions actually processed:";
    // `200/200` of a number of transactions for each client
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
            ..Times::in_steps_of(1_000)
        },
        ..Figures::default()
    };
    figures.note(ErrorClass::SqlError, "failed transactions: serialization or deadlock", failed);
    if text.contains("Run was aborted") {
        return Err(Unread("its run was aborted".to_owned()));
    }
    needed_count(text, "number of clients:")?;
    figures.checked()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_and_their_mean_are_read() {
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
    fn failed_transactions_were_not_processed() {
        let text = include_str!("recorded/pgbench-select-only.txt");
        let failed = text.replace("failed transactions: 0 (0.000%)", "failed transactions: 12 (0.037%)");
        let figures = read(&failed).unwrap();
        assert_eq!((figures.ok, figures.errors[0].count), (32_267, 12));
        let aborted = format!("{text}pgbench: error: Run was aborted; the above results are incomplete.\n");
        assert!(read(&aborted).is_err());
        assert!(read(include_str!("recorded/pgbench-refused.txt")).is_err());
    }
}
