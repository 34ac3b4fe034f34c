//! The figures of a turn that tables show.

use harness::row::{self, cpu_us_each};

use crate::measured::Measured;

/// One turn of one tool.
pub(crate) type Row = row::Row<Measured>;
/// A figure of a turn.
pub(crate) type Figure = row::Figure<Measured>;

/// Requests a second.
pub(crate) const REQUESTS_PER_S: Figure = |done| Some(done.measured.requests_per_s);
/// CPU of the client in user space and kernel, per answered request; nothing if it is below what can be seen.
pub(crate) const CPU_US: Figure = |done| cpu_us_each(done, done.measured.requests);
/// The median response time.
pub(crate) const MEDIAN_US: Figure = |done| done.measured.median_us;
/// The 99 % response time.
pub(crate) const P99_US: Figure = |done| done.measured.p99_us;
/// The p99 send delay.
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
