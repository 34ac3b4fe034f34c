//! A run as it looks while it goes on.

use record::{Percentile, Phase, Tally};

/// The last second of a run, for a line on a terminal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    /// Since the load began, warm-up included.
    pub elapsed_s: f64,
    /// How long it is to take, warm-up included, if time ends it.
    pub planned_s: Option<f64>,
    /// Requests that it is to send, if a count ends it.
    pub planned_requests: Option<u64>,
    /// Whether this second was warm-up.
    pub is_warm_up: bool,
    /// Requests that have ended so far, warm-up excluded.
    pub ended: u64,
    /// Replies in the last second.
    pub per_s: f64,
    /// Median response time of the last second, where there are enough samples.
    pub p50_ns: Option<u64>,
    /// 99 % of the response times of the last second were below this, where there are enough samples.
    pub p99_ns: Option<u64>,
    /// 99 % of the requests of the last second were sent no later than this after their instant.
    pub late_p99_ns: Option<u64>,
    /// Requests of the last second that were rejected, failed or timed out.
    pub errors: u64,
    /// Requests in flight at the end of it.
    pub in_flight: u64,
}

/// Hears of a run's progress. Called between seconds from the thread that keeps the results: it must not block.
pub trait Observer {
    /// Tables are made before the load: how far that is, in words.
    fn fills(&mut self, _words: &str) {}
    /// The run begins: its load in words, and the memory that it takes at most, in bytes.
    fn begins(&mut self, words: &str, memory_bound_bytes: u64);
    /// A second is over.
    fn second(&mut self, live: &Live);
    /// The load is over, and nothing more will be shown.
    fn ends(&mut self);
    /// What was found or decided, in a line.
    fn says(&mut self, _line: &str) {}
}

impl Live {
    /// The figures of one second.
    pub(crate) fn of_second(tally: &Tally, phase: Phase) -> Self {
        let (response, late) = (tally.response.all(), tally.lateness.all());
        let counts = tally.counts;
        Self {
            is_warm_up: phase == Phase::WarmUp,
            per_s: (counts.ok + counts.rejected) as f64,
            p50_ns: response.printable_at(Percentile::P50),
            p99_ns: response.printable_at(Percentile::P99),
            late_p99_ns: late.printable_at(Percentile::P99),
            errors: counts.rejected + counts.failed + counts.timed_out,
            ..Self::default()
        }
    }
}
