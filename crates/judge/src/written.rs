//! Compares the rows that a load wrote with the outcomes of its requests, to find lost and duplicate rows.

use evidence::{EvidenceError, Run};
use record::{Counts, Phase};

use crate::words::count;

/// Subject of the readings.
pub const WRITTEN_SUBJECT: &str = "written";
/// Metric: rows of a server before the load. Its label is the number of the server.
pub const WRITTEN_BEFORE: &str = "rows_before";
/// Metric: rows of a server after the load. Its label is the number of the server.
pub const WRITTEN_AFTER: &str = "rows_after";
/// Metric: number of keys with more than one row. Its label is the number of the step.
pub const WRITTEN_DOUBLED: &str = "keys_doubled";
/// Metric of the only reading of a run whose rows could not be read after the load.
pub const WRITTEN_UNCHECKED: &str = "unchecked";

/// Rows of a load, over all servers and all phases of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Rows after minus rows before the load, by server.
    pub rows_by_server: Vec<i64>,
    /// Keys with more than one row, on one server or on several.
    pub doubled: u64,
    /// Requests that were answered ok, each of which has written a row.
    pub ok: u64,
    /// Requests without an answer, each of which may have written a row.
    pub unknown: u64,
}

/// Difference between rows and outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenCheck {
    /// Each request that ended ok has a row, and only requests without an answer have further rows.
    Holds,
    /// Min number of missing rows of requests that ended ok.
    Lost(u64),
    /// Number of rows beyond those that requests may have written.
    Surplus(u64),
    /// Number of keys with more than one row.
    Doubled(u64),
}

impl Written {
    /// Returns whether a run was to check its rows, but could not read them after the load.
    pub fn is_unchecked(run: &Run) -> bool {
        run.readings()
            .any(|reading| reading.subject == WRITTEN_SUBJECT && reading.metric == WRITTEN_UNCHECKED)
    }

    /// Reads the rows that a run wrote. `None` if its plan does not ask for the check, or it could not be made.
    ///
    /// # Errors
    ///
    /// Stored seconds that cannot be decoded.
    pub fn of_run(run: &Run) -> Result<Option<Self>, EvidenceError> {
        let (mut rows, mut doubled) = (Vec::new(), None);
        for reading in run.readings().filter(|reading| reading.subject == WRITTEN_SUBJECT) {
            let value = reading.value as i64;
            match (reading.metric, reading.label.parse::<u16>()) {
                (WRITTEN_DOUBLED, Ok(step)) => doubled = Some((value.max(0) as u64, step)),
                (WRITTEN_BEFORE, Ok(server)) => add(&mut rows, server, -value),
                (WRITTEN_AFTER, Ok(server)) => add(&mut rows, server, value),
                _ => {}
            }
        }
        let Some((doubled, step)) = doubled else { return Ok(None) };
        let mut counts = Counts::default();
        for phase in [Phase::WarmUp, Phase::Measured] {
            counts.add(&run.total(step, phase)?.counts);
        }
        let unknown = counts.failed + counts.timed_out + counts.unfinished;
        Ok(Some(Self { rows_by_server: rows, doubled, ok: counts.ok, unknown }))
    }

    /// Returns the rows over all servers.
    pub fn rows(&self) -> i64 {
        self.rows_by_server.iter().sum()
    }

    /// Compares rows and outcomes. A row of a request without an answer may mask a missing row.
    pub fn check(&self) -> WrittenCheck {
        let (rows, ok) = (self.rows(), self.ok as i64);
        if self.doubled > 0 {
            WrittenCheck::Doubled(self.doubled)
        } else if rows < ok {
            WrittenCheck::Lost(ok.abs_diff(rows))
        } else if rows > ok + self.unknown as i64 {
            WrittenCheck::Surplus(rows.abs_diff(ok + self.unknown as i64))
        } else {
            WrittenCheck::Holds
        }
    }

    /// Describes rows and outcomes; begins with LOST, SURPLUS, or DOUBLED if they do not add up.
    pub fn words(&self) -> String {
        let Self { rows_by_server, ok, unknown, .. } = self;
        let rows = self.rows();
        let shown =
            if rows < 0 { format!("-{}", count(rows.unsigned_abs())) } else { count(rows.unsigned_abs()) };
        let over = match rows_by_server.len() {
            0 | 1 => String::new(),
            servers => format!(" on {servers} servers"),
        };
        let outcomes = format!("{} requests ended ok, {} without an answer", count(*ok), count(*unknown));
        match self.check() {
            WrittenCheck::Holds if *unknown == 0 => {
                format!("{shown} written{over}, as many as requests that ended ok; no key twice")
            }
            WrittenCheck::Holds => format!("{shown} written{over}: {outcomes}; no key twice"),
            WrittenCheck::Lost(lost) => {
                format!("LOST: at least {} rows are missing: {shown} written{over}, {outcomes}", count(lost))
            }
            WrittenCheck::Surplus(surplus) => {
                format!("SURPLUS of {} rows: {shown} written{over}, {outcomes}", count(surplus))
            }
            WrittenCheck::Doubled(keys) => {
                format!(
                    "DOUBLED: {} keys are there more than once: {shown} rows written{over}, {outcomes}",
                    count(keys)
                )
            }
        }
    }
}

/// Adds to the rows of a server. A store cannot have more servers than a plan.
fn add(rows: &mut Vec<i64>, server: u16, value: i64) {
    const SERVERS_MAX: usize = 1_000;
    let server = usize::from(server);
    if server < SERVERS_MAX {
        rows.resize(rows.len().max(server + 1), 0);
        rows[server] = rows[server].saturating_add(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rows: &[i64], doubled: u64, ok: u64, unknown: u64) -> WrittenCheck {
        Written { rows_by_server: rows.to_vec(), doubled, ok, unknown }.check()
    }

    #[test]
    fn rows_are_those_of_ok_requests_and_some_of_unknown_ones() {
        assert_eq!(check(&[400, 600], 0, 1_000, 0), WrittenCheck::Holds);
        assert_eq!(check(&[400, 603], 0, 1_000, 3), WrittenCheck::Holds);
        assert_eq!(check(&[], 0, 0, 0), WrittenCheck::Holds);
    }

    #[test]
    fn missing_further_and_doubled_rows_are_found() {
        assert_eq!(check(&[400, 599], 0, 1_000, 5), WrittenCheck::Lost(1));
        assert_eq!(check(&[400, 604], 0, 1_000, 3), WrittenCheck::Surplus(1));
        assert_eq!(check(&[400, 600], 2, 1_000, 0), WrittenCheck::Doubled(2));
        assert_eq!(check(&[-1], 0, 0, 0), WrittenCheck::Lost(1), "rows were deleted");
    }

    fn line_for(rows: &[i64], doubled: u64, ok: u64, unknown: u64) -> String {
        Written { rows_by_server: rows.to_vec(), doubled, ok, unknown }.words()
    }

    #[test]
    fn rows_that_hold_and_those_that_do_not_are_named() {
        assert_eq!(
            line_for(&[400, 600], 0, 1_000, 0),
            "1,000 written on 2 servers, as many as requests that ended ok; no key twice"
        );
        assert_eq!(
            line_for(&[1_003], 0, 1_000, 5),
            "1,003 written: 1,000 requests ended ok, 5 without an answer; no key twice"
        );
        assert!(line_for(&[999], 0, 1_000, 5).starts_with("LOST: at least 1 rows"));
        assert!(line_for(&[-2], 0, 0, 0).contains("-2 written"));
        assert!(line_for(&[1_006], 0, 1_000, 5).starts_with("SURPLUS of 1 rows"));
        assert!(line_for(&[1_000], 3, 1_000, 5).starts_with("DOUBLED: 3 keys"));
    }
}
