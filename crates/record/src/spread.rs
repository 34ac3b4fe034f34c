//! Fairness over connections: how evenly they were served.

use alloc::vec::Vec;

/// Totals of one connection over the measured time, and what happened on it in the whole load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionTotals {
    /// Requests that ended with a reply.
    pub requests: u64,
    /// Sum of the response times, in nanoseconds.
    pub response_sum_ns: u64,
    /// Longest response time, in nanoseconds.
    pub response_max_ns: u64,
    /// Whether a request was begun on it, in the warm-up or later.
    pub has_request: bool,
    /// Whether a request ended with a reply, in the warm-up or later.
    pub has_reply: bool,
}

impl ConnectionTotals {
    /// Returns whether requests were begun, and none of them got a reply in the whole load.
    pub fn is_unserved(&self) -> bool {
        self.has_request && !self.has_reply
    }

    /// Notes a reply. `response_ns` is `None` outside of the measured time.
    #[inline]
    pub fn note_reply(&mut self, response_ns: Option<u64>) {
        self.has_reply = true;
        let Some(response_ns) = response_ns else { return };
        self.requests += 1;
        self.response_sum_ns += response_ns;
        self.response_max_ns = self.response_max_ns.max(response_ns);
    }
}

/// Minimum, median, and maximum of a figure over the connections.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MinMedianMax {
    /// Minimum.
    pub min: f64,
    /// Lower median.
    pub median: f64,
    /// Maximum.
    pub max: f64,
}

impl MinMedianMax {
    /// Summarizes the figures. `None` without figures.
    pub fn of(mut figures: Vec<f64>) -> Option<Self> {
        figures.sort_unstable_by(f64::total_cmp);
        let middle = figures.len().checked_sub(1)? / 2;
        Some(Self { min: figures[0], median: figures[middle], max: figures[figures.len() - 1] })
    }
}

/// Distribution over connections of the request count, and of mean and maximum response time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Number of connections.
    pub connections: u64,
    /// Number of connections with requests that got no reply in the whole load. `None` in runs of earlier versions.
    pub unserved: Option<u64>,
    /// Requests per connection.
    pub requests: MinMedianMax,
    /// Mean response time per connection that had a reply, in nanoseconds. `None` if no connection had one.
    pub response_mean_ns: Option<MinMedianMax>,
    /// Maximum response time per connection that had a reply, in nanoseconds. `None` if no connection had one.
    pub response_max_ns: Option<MinMedianMax>,
}

impl Spread {
    /// Summarizes all connections of a run. `None` without connections.
    pub fn over(connections: &[ConnectionTotals]) -> Option<Self> {
        let served = || connections.iter().filter(|totals| totals.requests > 0);
        Some(Self {
            connections: connections.len() as u64,
            unserved: Some(connections.iter().filter(|totals| totals.is_unserved()).count() as u64),
            requests: MinMedianMax::of(connections.iter().map(|totals| totals.requests as f64).collect())?,
            response_mean_ns: MinMedianMax::of(
                served().map(|totals| totals.response_sum_ns as f64 / totals.requests as f64).collect(),
            ),
            response_max_ns: MinMedianMax::of(served().map(|totals| totals.response_max_ns as f64).collect()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unserved_connection_affects_counts_but_not_times() {
        let mut busy = ConnectionTotals::default();
        busy.note_reply(Some(10));
        busy.note_reply(Some(30));
        let mut slow = ConnectionTotals::default();
        slow.note_reply(Some(100));
        let spread = Spread::over(&[busy, ConnectionTotals::default(), slow]).unwrap();
        assert_eq!(spread.requests, MinMedianMax { min: 0.0, median: 1.0, max: 2.0 });
        assert_eq!(spread.response_mean_ns, Some(MinMedianMax { min: 20.0, median: 20.0, max: 100.0 }));
        assert_eq!(spread.response_max_ns, Some(MinMedianMax { min: 30.0, median: 30.0, max: 100.0 }));
        assert_eq!(Spread::over(&[]), None);
    }

    #[test]
    fn unserved_connections_have_requests_and_no_reply_in_the_whole_load() {
        let totals = |has_request, has_reply| ConnectionTotals {
            has_request,
            has_reply,
            ..ConnectionTotals::default()
        };
        let idle = totals(false, false);
        let served_in_the_warm_up = totals(true, true);
        let stuck = totals(true, false);
        let spread = Spread::over(&[idle, served_in_the_warm_up, stuck]).unwrap();
        assert_eq!(spread.unserved, Some(1));
    }
}
