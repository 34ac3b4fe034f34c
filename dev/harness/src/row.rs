//! Result of one tool in one round of one case, and ratios between tools.

use serde::Serialize;

use crate::time_file::Used;

/// Turn of a tool in a round of a case, with the tool's figures of type `M`.
#[derive(Clone, Debug, Serialize)]
pub struct Row<M> {
    /// Name of the case.
    pub case: String,
    /// Number of the round, from 1.
    pub round: u32,
    /// Name of the tool.
    pub tool: &'static str,
    /// Result of the turn.
    #[serde(flatten)]
    pub turn: Turn<M>,
}

/// Result of a turn: figures, or the reason why there are none.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Turn<M> {
    /// Figures of the turn.
    Done(Done<M>),
    /// Error message.
    Failed(String),
}

/// Figures of a turn.
#[derive(Clone, Debug, Serialize)]
pub struct Done<M> {
    /// Figures reported by the tool.
    #[serde(flatten)]
    pub measured: M,
    /// Resource use reported by the kernel.
    #[serde(flatten)]
    pub used: Used,
}

/// Function that reads a figure of a turn, for tables and ratios.
pub type Figure<M> = fn(&Done<M>) -> Option<f64>;

/// Returns the total CPU time of the client, user and system, in seconds.
pub fn cpu_s<M>(done: &Done<M>) -> Option<f64> {
    Some(done.used.cpu_user_s + done.used.cpu_sys_s)
}

/// Returns the CPU time divided by `count`, in microseconds. `None` if it is too small to be measured.
pub fn cpu_us_each<M>(done: &Done<M>, count: u64) -> Option<f64> {
    let cpu_us = cpu_s(done)? * 1e6;
    (cpu_us > 0.0 && count > 0).then(|| cpu_us / count as f64)
}

/// Returns the peak resident memory, in MiB.
pub fn rss_mib<M>(done: &Done<M>) -> Option<f64> {
    Some(done.used.rss_peak_bytes as f64 / (1024.0 * 1024.0))
}

/// Returns the time from start to exit of the program, in seconds. Includes connecting, which may not be part of the load.
pub fn wall_s<M>(done: &Done<M>) -> Option<f64> {
    Some(done.used.wall_s)
}

/// Returns the values of a figure in all turns of a tool that have it.
pub fn values<M>(rows: &[Row<M>], tool: &str, figure: Figure<M>) -> Vec<f64> {
    rows.iter().filter(|row| row.tool == tool).filter_map(|row| of(row, figure)).collect()
}

/// Combines a figure of two tools round by round. Omits rounds in which either is missing.
pub fn pairs<M>(
    rows: &[Row<M>],
    ours: &str,
    theirs: &str,
    figure: Figure<M>,
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

/// Returns the ratio of a figure between two tools, round by round.
pub fn ratios<M>(rows: &[Row<M>], ours: &str, theirs: &str, figure: Figure<M>) -> Vec<f64> {
    pairs(rows, ours, theirs, figure, |ours, theirs| ours / theirs)
}

fn of<M>(row: &Row<M>, figure: Figure<M>) -> Option<f64> {
    match &row.turn {
        Turn::Done(done) => figure(done),
        Turn::Failed(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, Serialize)]
    struct Said {
        requests: u64,
    }

    fn row(tool: &'static str, round: u32, requests: u64, cpu_s: f64) -> Row<Said> {
        let used =
            Used { wall_s: 2.0, cpu_user_s: cpu_s / 4.0, cpu_sys_s: cpu_s * 0.75, rss_peak_bytes: 8 << 20 };
        let turn = Turn::Done(Done { measured: Said { requests }, used });
        Row { case: "closed-1".to_owned(), round, tool, turn }
    }

    fn failed(tool: &'static str, round: u32) -> Row<Said> {
        let turn = Turn::Failed("it would not".to_owned());
        Row { case: "closed-1".to_owned(), round, tool, turn }
    }

    const CPU_US: Figure<Said> = |done| cpu_us_each(done, done.measured.requests);

    #[test]
    fn ratios_are_computed_within_a_round() {
        let rows = [
            row("tenbin", 1, 1_000_000, 6.0),
            row("wrk", 1, 1_000_000, 8.0),
            row("tenbin", 2, 500_000, 6.0),
            row("wrk", 2, 1_000_000, 8.0),
        ];
        assert_eq!(values(&rows, "tenbin", CPU_US), [6.0, 12.0]);
        assert_eq!(ratios(&rows, "tenbin", "wrk", CPU_US), [0.75, 1.5]);
        assert_eq!(pairs(&rows, "tenbin", "wrk", rss_mib, |a, b| a - b), [0.0, 0.0]);
    }

    #[test]
    fn failed_round_or_unmeasurable_cpu_has_no_ratio() {
        let rows = [
            row("tenbin", 1, 100, 1.0),
            failed("wrk", 1),
            row("tenbin", 2, 100, 0.0),
            row("wrk", 2, 100, 1.0),
            row("tenbin", 3, 100, 1.0),
        ];
        assert_eq!(ratios(&rows, "tenbin", "wrk", CPU_US), [0.0; 0]);
        assert_eq!(values(&rows, "wrk", wall_s), [2.0]);
    }

    #[test]
    fn row_is_flat_in_json() {
        let json = serde_json::to_value(row("wrk", 1, 10, 1.0)).unwrap();
        assert_eq!((&json["tool"], &json["done"]["requests"]), (&"wrk".into(), &10.into()));
        assert_eq!(serde_json::to_value(failed("wrk", 1)).unwrap()["failed"], "it would not");
    }
}
