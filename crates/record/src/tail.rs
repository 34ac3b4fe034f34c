//! Tail attribution: response times of the slowest requests, and the part of them that was the generator's own lag.

use alloc::boxed::Box;

use crate::histogram::Histogram;
use crate::percentile::Percentile;

/// Number of classes per power of two.
const PARTS: usize = 8;
/// Number of classes up to [`Histogram::HIGHEST_NS`].
const BINS: usize = 40 * PARTS;

/// Requests by response time, in eight classes per power of two. Each class has the sums of response times and of the generator's
/// own lag. Also the number of requests by lag, in the same classes. Merging is exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tail {
    by_response: Box<[TailSum; BINS]>,
    by_lag: Box<[u64; BINS]>,
}

/// Sums over some requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TailSum {
    /// Number of requests that ended.
    pub count: u64,
    /// Sum of the response times, in nanoseconds.
    pub response_ns: u64,
    /// Part of `response_ns` caused by the generator's lag: it was late although a connection was free, or returned to its sockets late.
    pub lag_ns: u64,
}

impl TailSum {
    fn add(&mut self, more: &Self) {
        self.count += more.count;
        self.response_ns = self.response_ns.saturating_add(more.response_ns);
        self.lag_ns = self.lag_ns.saturating_add(more.lag_ns);
    }

    /// Returns the share of the generator's lag in the response times, from 0 to 1. `None` if there are no response times.
    pub fn lag_share(&self) -> Option<f64> {
        (self.response_ns > 0).then(|| self.lag_ns as f64 / self.response_ns as f64)
    }
}

impl Default for Tail {
    fn default() -> Self {
        Self { by_response: Box::new([TailSum::default(); BINS]), by_lag: Box::new([0; BINS]) }
    }
}

impl Tail {
    /// Counts the end of a request, with the generator's lag in its response time.
    #[inline]
    pub fn note(&mut self, response_ns: u64, lag_ns: u64) {
        let (sum, lag_ns) = (&mut self.by_response[class(response_ns)], lag_ns.min(response_ns));
        sum.add(&TailSum { count: 1, response_ns, lag_ns });
        self.by_lag[class(lag_ns)] += 1;
    }

    /// Adds the requests of another part of the run.
    pub fn merge(&mut self, more: &Self) {
        self.by_response.iter_mut().zip(more.by_response.iter()).for_each(|(sum, more)| sum.add(more));
        self.by_lag.iter_mut().zip(more.by_lag.iter()).for_each(|(count, more)| *count += more);
    }

    /// Returns the sums over all requests.
    pub fn all(&self) -> TailSum {
        self.slowest(Percentile::from_ppm(0).unwrap_or(Percentile::P50))
    }

    /// Returns the sums over the requests from this percentile of response time on, rounded down to its class. At p99, these are at least 1
    /// % of all requests, and include requests faster by at most an eighth.
    pub fn slowest(&self, from: Percentile) -> TailSum {
        let count = self.by_response.iter().map(|sum| sum.count).sum();
        let mut faster = from.rank(count).map_or(0, |rank| rank - 1);
        let mut slowest = TailSum::default();
        for sum in self.by_response.iter() {
            if sum.count <= faster {
                faster -= sum.count;
            } else {
                faster = 0;
                slowest.add(sum);
            }
        }
        slowest
    }

    /// Returns a lag that at most `beyond` requests exceed, in nanoseconds: the end of the class of the longest remaining lag. 0 if no
    /// requests remain.
    pub fn lag_exceeded_by(&self, beyond: u64) -> u64 {
        let mut longer = 0;
        let within = |(_, count): &(usize, &u64)| {
            longer += **count;
            longer > beyond
        };
        self.by_lag.iter().enumerate().rev().find(within).map_or(0, |(class, _)| class_end_ns(class))
    }
}

/// Returns the longest duration of a class, in nanoseconds.
fn class_end_ns(class: usize) -> u64 {
    if class < PARTS {
        return class as u64;
    }
    let (shift, part) = (class / PARTS - 1, class % PARTS);
    (((PARTS + part + 1) as u64) << shift) - 1
}

/// Returns the class of a duration.
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
    fn lag_that_few_requests_exceed_is_rounded_up_to_its_class() {
        for duration_ns in (0..10_000).chain([1 << 30, (1 << 39) + 12_345]) {
            let end_ns = class_end_ns(class(duration_ns));
            assert!(duration_ns <= end_ns && class(end_ns) == class(duration_ns), "{duration_ns}: {end_ns}");
            assert_eq!(class(end_ns + 1), class(duration_ns) + 1, "{duration_ns}");
        }
        let mut tail = Tail::default();
        (0..90).for_each(|_| tail.note(10_000_000, 1_000));
        (0..10).for_each(|_| tail.note(10_000_000, 2_000_000));
        assert_eq!([9, 10, 99].map(|beyond| tail.lag_exceeded_by(beyond)), [2_097_151, 1_023, 1_023]);
        assert_eq!([tail.lag_exceeded_by(100), Tail::default().lag_exceeded_by(0)], [0, 0]);
    }

    #[test]
    fn lag_is_capped_at_the_response_time() {
        let mut tail = Tail::default();
        tail.note(5, 7);
        assert_eq!(tail.all(), TailSum { count: 1, response_ns: 5, lag_ns: 5 });
    }
}
