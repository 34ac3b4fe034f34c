//! Figures of a turn for tables and ratios.

use harness::row::{self, cpu_us_each};

use crate::measured::Measured;

/// Turn of a tool, with the figures that the tool reported.
pub(crate) type Row = row::Row<Measured>;
/// Function that reads a figure of a turn.
pub(crate) type Figure = row::Figure<Measured>;

/// Requests per second.
pub(crate) const REQUESTS_PER_S: Figure = |done| Some(done.measured.requests_per_s);
/// CPU time of the client, user and system, in microseconds per successful request. `None` if it is too small to be measured.
pub(crate) const CPU_US: Figure = |done| cpu_us_each(done, done.measured.requests);
/// Median response time, in microseconds.
pub(crate) const MEDIAN_US: Figure = |done| done.measured.median_us;
/// p99 response time, in microseconds.
pub(crate) const P99_US: Figure = |done| done.measured.p99_us;
/// p99 send delay, in microseconds.
pub(crate) const LATENESS_P99_US: Figure = |done| done.measured.lateness_p99_us;

#[cfg(test)]
pub(crate) mod tests {
    use harness::row::{Done, Turn};
    use harness::time_file::Used;

    use super::*;

    pub(crate) fn row(tool: &'static str, round: u32, requests: u64, cpu_s: f64) -> Row {
        let measured = Measured { requests, requests_per_s: requests as f64 / 2.0, ..Measured::default() };
        let used = Used { wall_s: 2.0, cpu_user_s: cpu_s, cpu_sys_s: 0.0, rss_peak_bytes: 8 << 20 };
        Row { case: "closed-1".to_owned(), round, tool, turn: Turn::Done(Done { measured, used }) }
    }

    pub(crate) fn failed(tool: &'static str, round: u32) -> Row {
        Row { case: "closed-1".to_owned(), round, tool, turn: Turn::Failed("it would not".to_owned()) }
    }
}
