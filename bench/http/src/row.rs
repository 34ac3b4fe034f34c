//! One tool's turn in one round of one case, and the arithmetic between turns.

use serde::Serialize;

use crate::measured::Measured;
use bench_turns::time_file::Used;

/// One turn.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    /// The case's name.
    pub(crate) case: &'static str,
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
    /// What the tool says.
    #[serde(flatten)]
    pub(crate) measured: Measured,
    /// What the kernel says.
    #[serde(flatten)]
    pub(crate) used: Used,
}

/// A figure of a turn, for tables and ratios.
pub(crate) type Figure = fn(&Done) -> Option<f64>;

/// Requests a second.
pub(crate) const REQUESTS_PER_S: Figure = |done| Some(done.measured.requests_per_s);
/// CPU of the client in user space and kernel, per answered request; nothing if it is below what can be seen.
pub(crate) const CPU_US: Figure = |done| {
    let cpu_us = (done.used.cpu_user_s + done.used.cpu_sys_s) * 1e6;
    (cpu_us > 0.0).then(|| cpu_us / done.measured.requests as f64)
};
/// The peak of resident memory, in MiB.
pub(crate) const RSS_MIB: Figure = |done| Some(done.used.rss_peak_bytes as f64 / (1024.0 * 1024.0));
/// From start to end of the program: longer than the load if connecting is not part of it.
pub(crate) const WALL_S: Figure = |done| Some(done.used.wall_s);
/// The median response time.
pub(crate) const MEDIAN_US: Figure = |done| done.measured.median_us;
/// The 99 % response time.
pub(crate) const P99_US: Figure = |done| done.measured.p99_us;
/// The 99 % lateness.
pub(crate) const LATENESS_P99_US: Figure = |done| done.measured.lateness_p99_us;

/// A figure of every turn of a tool that has it.
pub(crate) fn values(rows: &[Row], tool: &str, figure: Figure) -> Vec<f64> {
    rows.iter().filter(|row| row.tool == tool).filter_map(|row| of(row, figure)).collect()
}

/// A figure of one tool set against that of another, round by round; rounds in which either has none are left out.
pub(crate) fn pairs(
    rows: &[Row],
    ours: &str,
    theirs: &str,
    figure: Figure,
    join: fn(f64, f64) -> f64,
) -> Vec<f64> {
    let our_rows = rows.iter().filter(|row| row.tool == ours);
    our_rows
        .filter_map(|our| {
            let their = rows.iter().find(|row| row.tool == theirs && row.round == our.round)?;
            Some(join(of(our, figure)?, of(their, figure)?)).filter(|joined| joined.is_finite())
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

    pub(crate) fn row(tool: &'static str, round: u32, requests: u64, cpu_s: f64) -> Row {
        let measured = Measured { requests, requests_per_s: requests as f64 / 2.0, ..Measured::default() };
        let used = Used {
            wall_s: 2.0,
            cpu_user_s: cpu_s / 4.0,
            cpu_sys_s: cpu_s * 0.75,
            rss_peak_bytes: 8 * 1024 * 1024,
        };
        Row { case: "closed-1", round, tool, turn: Turn::Done(Done { measured, used }) }
    }

    pub(crate) fn failed(tool: &'static str, round: u32) -> Row {
        Row { case: "closed-1", round, tool, turn: Turn::Failed("it would not".to_owned()) }
    }

    #[test]
    fn ratios_are_taken_within_a_round() {
        let rows = [
            row("tenbin", 1, 1_000_000, 6.0),
            row("wrk", 1, 1_000_000, 8.0),
            row("tenbin", 2, 500_000, 6.0),
            row("wrk", 2, 1_000_000, 8.0),
        ];
        assert_eq!(values(&rows, "tenbin", CPU_US), [6.0, 12.0]);
        assert_eq!(pairs(&rows, "tenbin", "wrk", CPU_US, |a, b| a / b), [0.75, 1.5]);
        assert_eq!(pairs(&rows, "tenbin", "wrk", REQUESTS_PER_S, |a, b| a / b), [1.0, 0.5]);
        assert_eq!(pairs(&rows, "tenbin", "wrk", RSS_MIB, |a, b| a - b), [0.0, 0.0]);
    }

    #[test]
    fn a_round_that_failed_or_used_no_visible_cpu_has_no_ratio() {
        let rows = [
            row("tenbin", 1, 100, 1.0),
            failed("wrk", 1),
            row("tenbin", 2, 100, 0.0),
            row("wrk", 2, 100, 1.0),
            row("tenbin", 3, 100, 1.0),
        ];
        assert_eq!(pairs(&rows, "tenbin", "wrk", CPU_US, |a, b| a / b), [0.0; 0]);
        assert_eq!(values(&rows, "wrk", REQUESTS_PER_S), [50.0]);
    }

    #[test]
    fn a_row_is_flat_in_json() {
        let json = serde_json::to_value(row("wrk", 1, 10, 1.0)).unwrap();
        assert_eq!((&json["tool"], &json["done"]["requests"]), (&"wrk".into(), &10.into()));
        assert_eq!(serde_json::to_value(failed("wrk", 1)).unwrap()["failed"], "it would not");
    }
}
