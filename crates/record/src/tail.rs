//! Tail attribution: response times of the slowest requests, and the part of them that was the generator's own lag.

use alloc::boxed::Box;

use crate::histogram::Histogram;
use crate::percentile::Percentile;

/// Number of classes per power of two.
const PARTS: usize = 8;
/// Number of classes up to [`Histogram::HIGHEST_NS`].
const BINS: usize = 40 * PARTS;

/// Requests by response time, in eight classes per power of two. Each class has the sums of response times and of the generator's
/// own lag. Merging is exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tail(Box<[TailSum; BINS]>);

/// Sums over some requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TailSum {
    /// Number of requests that ended.
    pub count: u64,
    /// Sum of their response times.
    pub response_ns: u64,
    /// Part of these response times that was the generator's own lag: it was late although a connection was free, or returned to
    /// its sockets late.
    pub lag_ns: u64,
}

impl TailSum {
    fn add(&mut self, more: &Self) {
        self.count += more.count;
        self.response_ns = self.response_ns.saturating_add(more.response_ns);
        self.lag_ns = self.lag_ns.saturating_add(more.lag_ns);
    }

    /// Share of the generator's lag in the response times, 0 to 1. `None` if there are none.
    pub fn lag_share(&self) -> Option<f64> {
        (self.response_ns > 0).then(|| self.lag_ns as f64 / self.response_ns as f64)
    }
}

impl Default for Tail {
    fn default() -> Self {
        Self(Box::new([TailSum::default(); BINS]))
    }
}

impl Tail {
    /// Counts the end of a request, with the generator's lag in its response time.
    #[inline]
    pub fn note(&mut self, response_ns: u64, lag_ns: u64) {
        let sum = &mut self.0[class(response_ns)];
        sum.add(&TailSum { count: 1, response_ns, lag_ns: lag_ns.min(response_ns) });
    }

    /// Adds the requests of another part of the run.
    pub fn merge(&mut self, more: &Self) {
        self.0.iter_mut().zip(more.0.iter()).for_each(|(sum, more)| sum.add(more));
    }

    /// Sums over all requests.
    pub fn all(&self) -> TailSum {
        self.slowest(Percentile::from_ppm(0).unwrap_or(Percentile::P50))
    }

    /// Sums over the requests from this percentile of response time on, rounded down to its class. At p99 these are at least 1 % of
    /// all requests, and include requests faster by at most an eighth.
    pub fn slowest(&self, from: Percentile) -> TailSum {
        let count = self.0.iter().map(|sum| sum.count).sum();
        let mut faster = from.rank(count).map_or(0, |rank| rank - 1);
        let mut slowest = TailSum::default();
        for sum in self.0.iter() {
            if sum.count <= faster {
                faster -= sum.count;
            } else {
                faster = 0;
                slowest.add(sum);
            }
        }
        slowest
    }
}

/// Class of a duration.
#[inline]
fn class(duration_ns: u64) -> usize {
    let duration_ns = duration_ns.min(Histogram::HIGHEST_NS);
    if duration_ns < PARTS as u64 {
        return duration_ns as usize;
    }
    let top = duration_ns.ilog2() as usize;
    (top - 2) * PARTS + ((duration_ns >> (top - 3)) as usize & (PARTS - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_contiguous_and_at_most_an_eighth_wide() {
        let mut last = 0;
        let mut from_ns = 0;
        for duration_ns in 0..100_000 {
            let class = class(duration_ns);
            assert!(class == last || class == last + 1, "{duration_ns}");
            if class > last {
                (last, from_ns) = (class, duration_ns);
            }
            assert!((duration_ns - from_ns) * 8 <= from_ns, "{duration_ns} with {from_ns}");
        }
        assert_eq!(class(u64::MAX), BINS - 1);
    }

    #[test]
    fn slowest_requests_are_separated_from_the_rest() {
        let mut tail = Tail::default();
        (0..990).for_each(|_| tail.note(1_000_000, 1_000));
        (0..10).for_each(|_| tail.note(300_000_000, 290_000_000));
        let slowest = tail.slowest(Percentile::from_ppm(990_001).unwrap());
        assert_eq!(slowest, TailSum { count: 10, response_ns: 3_000_000_000, lag_ns: 2_900_000_000 });
        assert!(slowest.lag_share().is_some_and(|share| share > 0.96));
        // The request at this rank is one of the fast requests, which are all in one class.
        assert_eq!(tail.slowest(Percentile::P99).count, 1_000);
        assert_eq!(tail.all().count, 1_000);
        assert_eq!(Tail::default().all(), TailSum::default());
        assert_eq!(TailSum::default().lag_share(), None);
        let mut twice = tail.clone();
        twice.merge(&tail);
        assert_eq!((twice.all().count, twice.all().lag_ns), (2_000, 2 * tail.all().lag_ns));
    }

    #[test]
    fn lag_is_capped_at_the_response_time() {
        let mut tail = Tail::default();
        tail.note(5, 7);
        assert_eq!(tail.all(), TailSum { count: 1, response_ns: 5, lag_ns: 5 });
    }
}
