//! How evenly the connections were served.

use alloc::vec::Vec;

/// What one connection saw over the whole measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionTotals {
    /// Requests that ended on it with a reply.
    pub requests: u64,
    /// Sum of their response times.
    pub response_sum_ns: u64,
    /// The longest of them.
    pub response_max_ns: u64,
}

impl ConnectionTotals {
    /// Counts one reply.
    #[inline]
    pub fn note(&mut self, response_ns: u64) {
        self.requests += 1;
        self.response_sum_ns += response_ns;
        self.response_max_ns = self.response_max_ns.max(response_ns);
    }
}

/// The smallest, the median and the largest of a figure over the connections.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MinMedianMax {
    /// The smallest.
    pub min: f64,
    /// The lower median.
    pub median: f64,
    /// The largest.
    pub max: f64,
}

impl MinMedianMax {
    /// Of any figures; `None` when there are none.
    pub fn of(mut figures: Vec<f64>) -> Option<Self> {
        figures.sort_unstable_by(f64::total_cmp);
        let middle = figures.len().checked_sub(1)? / 2;
        Some(Self { min: figures[0], median: figures[middle], max: figures[figures.len() - 1] })
    }
}

/// Fairness over connections: request count, mean and worst response time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// How many connections there were.
    pub connections: u64,
    /// Requests per connection.
    pub requests: MinMedianMax,
    /// Mean response time per connection that had a reply, in nanoseconds.
    pub response_mean_ns: Option<MinMedianMax>,
    /// Worst response time per connection that had a reply, in nanoseconds.
    pub response_max_ns: Option<MinMedianMax>,
}

impl Spread {
    /// Over all connections of a run; `None` when there were none.
    pub fn over(connections: &[ConnectionTotals]) -> Option<Self> {
        let served = || connections.iter().filter(|totals| totals.requests > 0);
        Some(Self {
            connections: connections.len() as u64,
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
    fn an_unserved_connection_shows_in_the_counts_and_not_in_the_times() {
        let mut busy = ConnectionTotals::default();
        busy.note(10);
        busy.note(30);
        let mut slow = ConnectionTotals::default();
        slow.note(100);
        let spread = Spread::over(&[busy, ConnectionTotals::default(), slow]).unwrap();
        assert_eq!(spread.requests, MinMedianMax { min: 0.0, median: 1.0, max: 2.0 });
        assert_eq!(spread.response_mean_ns, Some(MinMedianMax { min: 20.0, median: 20.0, max: 100.0 }));
        assert_eq!(spread.response_max_ns, Some(MinMedianMax { min: 30.0, median: 30.0, max: 100.0 }));
        assert_eq!(Spread::over(&[]), None);
    }
}
