//! One tool's turn in one round of one case, and the arithmetic between turns.

use bench_turns::time_file::Used;
use serde::Serialize;

use crate::tools::Measured;

/// One turn.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    /// The case's name.
    pub(crate) case: String,
    /// From 1.
    pub(crate) round: u32,
    /// The tool's name.
    pub(crate) tool: &'static str,
    /// What came of it.
    #[serde(flatten)]
    pub(crate) turn: Turn,
}

/// What came of a turn: figures, or the reason why there are none.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Turn {
    /// Figures.
    Done(Done),
    /// A sentence.
    Failed(String),
}

/// The figures of a turn.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Done {
    /// What the tool says; nothing where tables are loaded.
    #[serde(flatten)]
    pub(crate) measured: Option<Measured>,
    /// What the kernel says.
    #[serde(flatten)]
    pub(crate) used: Used,
}

/// A figure of a turn, for tables and ratios.
pub(crate) type Figure = fn(&Done) -> Option<f64>;

/// Transactions a second.
pub(crate) const PER_S: Figure = |done| Some(done.measured.as_ref()?.per_s);
/// CPU of the client in user space and kernel, per transaction; nothing if it is below what can be seen.
pub(crate) const CPU_US: Figure = |done| {
    let cpu_us = (done.used.cpu_user_s + done.used.cpu_sys_s) * 1e6;
    let transactions = done.measured.as_ref()?.transactions;
    (cpu_us > 0.0 && transactions > 0).then(|| cpu_us / transactions as f64)
};
/// CPU of the client in all.
pub(crate) const CPU_S: Figure = |done| Some(done.used.cpu_user_s + done.used.cpu_sys_s);
/// The peak of resident memory, in MiB.
pub(crate) const RSS_MIB: Figure = |done| Some(done.used.rss_peak_bytes as f64 / (1024.0 * 1024.0));
/// From start to end of the program.
pub(crate) const WALL_S: Figure = |done| Some(done.used.wall_s);

/// A figure of every turn of a tool that has it.
pub(crate) fn values(rows: &[Row], tool: &str, figure: Figure) -> Vec<f64> {
    rows.iter().filter(|row| row.tool == tool).filter_map(|row| of(row, figure)).collect()
}

/// A figure of one tool divided by that of another, round by round; rounds in which either has none are left out.
pub(crate) fn ratios(rows: &[Row], ours: &str, theirs: &str, figure: Figure) -> Vec<f64> {
    let our_rows = rows.iter().filter(|row| row.tool == ours);
    our_rows
        .filter_map(|our| {
            let their = rows.iter().find(|row| row.tool == theirs && row.round == our.round)?;
            Some(of(our, figure)? / of(their, figure)?).filter(|ratio| ratio.is_finite())
        })
        .collect()
}

fn of(row: &Row, figure: Figure) -> Option<f64> {
    match &row.turn {
        Turn::Done(done) => figure(done),
        Turn::Failed(_) => None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn row(tool: &'static str, round: u32, transactions: u64, cpu_s: f64) -> Row {
        let per_s = transactions as f64 / 2.0;
        let measured = Some(Measured { transactions, per_s, ..Measured::default() });
        let used = Used {
            wall_s: 2.0,
            cpu_user_s: cpu_s / 4.0,
            cpu_sys_s: cpu_s * 0.75,
            rss_peak_bytes: 8 * 1024 * 1024,
        };
        Row { case: "tpcb-simple-1".to_owned(), round, tool, turn: Turn::Done(Done { measured, used }) }
    }

    pub(crate) fn failed(tool: &'static str, round: u32) -> Row {
        let turn = Turn::Failed("it would not".to_owned());
        Row { case: "tpcb-simple-1".to_owned(), round, tool, turn }
    }

    #[test]
    fn ratios_are_taken_within_a_round() {
        let rows = [
            row("tenbin", 1, 1_000_000, 6.0),
            row("pgbench", 1, 1_000_000, 8.0),
            row("tenbin", 2, 500_000, 6.0),
            row("pgbench", 2, 1_000_000, 8.0),
            row("tenbin", 3, 1, 6.0),
            failed("pgbench", 3),
        ];
        assert_eq!(values(&rows[..3], "tenbin", CPU_US), [6.0, 12.0]);
        assert_eq!(ratios(&rows, "tenbin", "pgbench", CPU_US), [0.75, 1.5]);
        assert_eq!(ratios(&rows, "tenbin", "pgbench", PER_S), [1.0, 0.5]);
    }

    #[test]
    fn a_row_is_flat_in_json() {
        let json = serde_json::to_value(row("pgbench", 1, 10, 1.0)).unwrap();
        assert_eq!((&json["tool"], &json["done"]["transactions"]), (&"pgbench".into(), &10.into()));
        assert_eq!(serde_json::to_value(failed("pgbench", 1)).unwrap()["failed"], "it would not");
    }
}
